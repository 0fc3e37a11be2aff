// SPDX-License-Identifier: GPL-2.0
/*
 * Samples of stacks, which FXT has as Perfetto packets.
 */
#include "play.h"

#include <errno.h>

#include "profile/profile.h"

int build_sample(struct builder *b, const struct thread *t, uint64_t ts_ns, const struct model_stack *s)
{
	struct profile_sample sample;
	int err = b->profile ? 0 : profile_writer_open(&b->profile, b->w, &(struct profile_config){ 0 });

	if (err)
		return err;
	sample = (struct profile_sample){
		.ts = play_ts(ts_ns), .process = t->process, .thread = t->koid, .cpu = s->cpu, .source = s->source,
		.source_name = s->source_name, .user_mode = s->user_mode, .weight = s->weight, .frames = s->frames,
		.frames_cnt = s->frames_cnt,
	};
	err = profile_writer_add(b->profile, &sample);
	return err ? err : OUT_SAMPLE;
}

int play_stack(struct builder *b, const struct model_event *ev, struct source_track *st)
{
	struct thread *t = track_thread(b, st);

	return t ? build_sample(b, t, ev->ts_ns, &ev->stack) : -ENOMEM;
}
