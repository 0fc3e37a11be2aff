/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Inside the trace builder: any number of arguments as those that a record has space for.
 */
#ifndef MODEL_ARG_FOLD_H
#define MODEL_ARG_FOLD_H

#include "fxt/fxt.h"

#define ARG_MORE_BYTES	8000U

struct arg_fold {
	const struct fxt_arg *args;	/* the caller's, or @own */
	unsigned int dropped;		/* those for which there was no space */
	unsigned int cut;		/* names and values that lost their ends */
	struct fxt_arg own[FXT_ARGS_MAX];
	char more[ARG_MORE_BYTES];	/* those beyond, as {"NAME":VALUE,...} */
};

/* Sets all but what is not needed; how many @args there are. Borrows what they point to. */
unsigned int arg_fold(struct arg_fold *f, const struct fxt_arg *args, unsigned int n);

#endif
