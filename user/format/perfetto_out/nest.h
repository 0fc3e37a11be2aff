/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The arguments of an event. Names may be paths, "a.b[0]": FXT has no others for what is nested, packets have
 * dictionaries and arrays.
 */
#ifndef FORMAT_PERFETTO_OUT_NEST_H
#define FORMAT_PERFETTO_OUT_NEST_H

#include "args.h"

/* Appends arguments as annotations of a TrackEvent, those in an argument "more" one by one. */
void out_args_put(struct out_strings *s, struct pb_buf *b, const struct fxt_arg *args, unsigned int cnt);

#endif
