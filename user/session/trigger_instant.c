// SPDX-License-Identifier: GPL-2.0
/* See trigger_instant.h. */
#include "trigger_instant.h"

#include <string.h>

#include "fxt/fxt.h"
#include "ledger.h"

int trigger_instant_write(struct fxt_writer *w, const struct trigger_fired *t)
{
	const struct fxt_arg args[] = {
		fxt_arg_str("trigger", fxt_str_inline(t->word, strlen(t->word))),
		fxt_arg_u64("value", t->value),
		fxt_arg_u64("threshold", t->threshold),
		fxt_arg_u64("from_ns", t->from_ns),
		fxt_arg_u64("to_ns", t->to_ns),
		fxt_arg_koid("thread", t->thread),
		fxt_arg_bool("ongoing", t->is_ongoing),
		fxt_arg_bool("partial", t->is_partial),
		fxt_arg_str("text", fxt_str_inline(t->text, strlen(t->text))),
		fxt_arg_i32("cpu", t->cpu),
	};
	const unsigned int cnt = sizeof(args) / sizeof(args[0]) - (t->cpu < 0);	/* of no particular CPU: without it */
	const struct fxt_event event = {
		.type = FXT_INSTANT, .ts = t->to_ns, .thread = { .process = t->process, .thread = t->thread },
		.category = fxt_str("kfxt"), .name = fxt_str("trigger"),
	};
	int err = t->thread ? fxt_write_event(w, &event, args, cnt) : 0;

	return err ?: ledger_write_event(w, "trigger", t->to_ns, args, cnt);
}
