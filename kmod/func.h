/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Function entry: which functions are traced. One caller at a time.
 */
#ifndef KFXT_FUNC_H
#define KFXT_FUNC_H

#include <linux/types.h>

/*
 * Traces the functions that @globs name, in place of those traced so far; see
 * KFXT_IOC_FUNC_START. @globs is @bytes long, ends with a NUL and is written to.
 * Fails without any change to what is traced; -EINTR if a signal came.
 */
int kfxt_func_start(char *globs, size_t bytes);

/* Traces nothing any more; when it returns no call is being reported. */
void kfxt_func_stop(void);

#endif
