// SPDX-License-Identifier: GPL-2.0
/*
 * Two clocks in a file: that of the events and that of the ftrace text beside them. Recorders write
 * what time it was by both.
 */
#include "reader_p.h"
#include "value.h"

#define SCOPE	2	/* of names of moments, which no frame has */

static void keep(struct named_moment *moments, unsigned int *cnt, uint64_t id, int64_t ns)
{
	if (*cnt < MOMENTS_MAX)
		moments[(*cnt)++] = (struct named_moment){ id, ns };
}

/* It was in force at some time since it was asked for: halfway, if that is known. */
void reader_note_sync(struct chrome_reader *r, int64_t ts)
{
	struct chrome_value args = chrome_value_of(&r->event, chrome_field(&r->event, CHROME_ARGS)), id, issued;
	int64_t issued_ns;

	if (!chrome_member_find(&args, "sync_id", &id) || id.type != CHROME_STRING)
		return;
	if (chrome_member_find(&args, "issue_ts", &issued) && !chrome_time_ns(issued.data, issued.len, &issued_ns) &&
	    issued_ns >= 0 && issued_ns <= ts)
		ts = issued_ns + (ts - issued_ns) / 2;
	keep(r->syncs.events, &r->syncs.events_cnt, reader_frame_key(SCOPE, id.data, id.len), ts);
}

void chrome_reader_add_sync(struct chrome_reader *r, const struct chrome_sync *sync)
{
	struct clock_syncs *s = &r->syncs;

	if (sync->id)
		keep(s->text, &s->text_cnt, reader_frame_key(SCOPE, sync->id, sync->id_len), sync->text_ns);
	else if (!s->has_offset)
		s->has_offset = !__builtin_sub_overflow(sync->text_ns, sync->events_ns, &s->offset_ns);
}

bool reader_clock_offset(const struct chrome_reader *r, int64_t *ns)
{
	const struct clock_syncs *s = &r->syncs;
	unsigned int i, j;

	for (i = 0; i < s->events_cnt; i++)
		for (j = 0; j < s->text_cnt; j++)
			if (s->events[i].id == s->text[j].id && !__builtin_sub_overflow(s->text[j].ns, s->events[i].ns, ns))
				return true;
	*ns = s->offset_ns;
	return s->has_offset;
}
