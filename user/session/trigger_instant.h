/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What has fired, in the trace.
 */
#ifndef SESSION_TRIGGER_INSTANT_H
#define SESSION_TRIGGER_INSTANT_H

#include "trigger/trigger.h"

struct fxt_writer;

/* An instant on the thread that it is about, and one on the recorder's own, where all of them are together. 0 or the writer's error. */
int trigger_instant_write(struct fxt_writer *w, const struct trigger_fired *t);

#endif
