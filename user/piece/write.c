// SPDX-License-Identifier: GPL-2.0
/*
 * The first records of a file and its last ones.
 */
#include <string.h>

#include "cut_p.h"

/* ---- switches ------------------------------------------------------------------------------- */

/* One side of a switch. */
struct side {
	uint64_t koid;
	int32_t prio;
};

static const struct side idle = { 0, FXT_WEIGHT_IDLE };

static int write_switch(struct fxt_writer *w, const struct fxt_switch *s, int32_t out_prio, int32_t in_prio,
			enum text mark, enum text linux_state)
{
	const struct fxt_arg args[] = {
		fxt_arg_i32("outgoing_weight", out_prio),
		fxt_arg_i32("incoming_weight", in_prio),
		fxt_arg_str("mark", fxt_str(piece_text_name(mark))),
		fxt_arg_str("linux_state", fxt_str(piece_text_name(linux_state))),
	};

	return fxt_write_switch(w, s, args, linux_state == TEXT_OTHER ? 3 : 4);
}

static int write_mark(struct fxt_writer *w, unsigned int cpu, uint64_t ts, struct side out, struct side in,
		      enum text mark)
{
	const struct fxt_switch s = {
		.ts = ts, .cpu = (uint16_t)cpu, .state = FXT_STATE_RUNNING, .out = out.koid, .in = in.koid,
	};

	return write_switch(w, &s, out.prio, in.prio, mark, TEXT_OTHER);
}

static struct side running(const struct piece_state *s, const struct cpu *c)
{
	const uint64_t koid = piece_running(s, c);

	return koid ? (struct side){ koid, c->prio } : idle;
}

/* ---- tables and names ------------------------------------------------------------------------- */

static int write_tables(const struct piece_state *s, struct fxt_writer *w)
{
	unsigned int i;
	int err = fxt_write_magic(w);

	if (!err && s->has_provider)
		err = fxt_write_provider_info(w, s->provider, fxt_str(s->provider_name));
	if (!err && s->ticks_per_second)
		err = fxt_write_initialization(w, s->ticks_per_second);
	for (i = 1; !err && i < s->strings_end; i++)
		if (s->strings[i].data)
			err = fxt_write_string(w, (uint16_t)i, s->strings[i]);
	for (i = 1; !err && i <= FXT_THREAD_INDEX_MAX; i++)
		if (s->refs_known[i])
			err = fxt_write_thread(w, (uint8_t)i, s->refs[i]);
	return err;
}

/*
 * With its process's name lost as well, and not found when /proc was read, it has exited, though its last switch may have
 * been lost too.
 */
static bool is_gone(const struct piece_state *s, const struct kept *thread)
{
	const struct fxt_arg *process = kept_arg(thread, "process");
	uint32_t i;

	if (s->unread_names || !process || process->type != FXT_ARG_KOID)
		return false;
	i = map_get(&s->process_map, process->u64);
	return i == MAP_NONE || !s->processes[i].object;
}

static int write_objects(const struct piece_state *s, struct fxt_writer *w)
{
	const struct kept *k;
	size_t i;
	int err = 0;

	for (i = 0; !err && i < s->processes_cnt; i++) {
		k = s->processes[i].object;
		if (k)
			err = fxt_write_kernel_object(w, &k->object, k->args, k->nargs);
	}
	for (i = 0; !err && i < s->threads_cnt; i++) {
		k = s->threads[i].object;
		if (k && !is_gone(s, k))
			err = fxt_write_kernel_object(w, &k->object, k->args, k->nargs);
	}
	return err;
}

/* ---- the head --------------------------------------------------------------------------------- */

/* The event `start` of the recording, with this file's time and number and, if it is known, the wall clock then. */
static int write_start(const struct piece_state *s, struct fxt_writer *w, const struct piece_cut *cut, uint64_t from_ns)
{
	struct fxt_arg args[FXT_ARGS_MAX];
	struct fxt_event event;
	unsigned int i;

	if (!s->start)
		return 0;
	event = s->start->event;
	for (i = 0; i < s->start->nargs && i < FXT_ARGS_MAX - 2; i++) {
		args[i] = s->start->args[i];
		if (&s->start->args[i] == kept_arg(s->start, "realtime_ns") && args[i].type == FXT_ARG_UINT64)
			args[i].u64 = cut->realtime_offset_ns ? from_ns + cut->realtime_offset_ns :
								args[i].u64 + from_ns - event.ts;
	}
	args[i++] = fxt_arg_u64("piece", cut->number);
	if (s->unread_names)
		args[i++] = fxt_arg_u64("lost_names", s->unread_names);
	event.ts = from_ns;
	return fxt_write_event(w, &event, args, i);
}

static int write_states(struct fxt_writer *w, const struct cut *c)
{
	const struct idle_mark *m;
	int err = 0;

	for (m = c->marks; !err && m < c->marks + c->marks_cnt; m++) {
		const struct fxt_switch s = {
			.ts = m->ts, .cpu = m->cpu, .state = (enum fxt_thread_state)m->fxt_state, .out = m->koid,
		};

		err = write_switch(w, &s, m->prio, FXT_WEIGHT_IDLE, TEXT_STATE, (enum text)m->linux_state);
	}
	return err;
}

/* The cut is between the slice of a gap and its last mark: the gap needs both here, too. Nothing is counted twice. */
static int write_gap_slice(struct fxt_writer *w, unsigned int cpu, const struct cpu *c)
{
	const struct fxt_arg args[] = {
		fxt_arg_u32("cpu", cpu), fxt_arg_u64("switches", 0), fxt_arg_u64("wakeups", 0),
		fxt_arg_u64("unreported", 0),
	};
	const struct fxt_event event = {
		.type = FXT_DURATION_COMPLETE, .ts = c->last_ns, .id = c->gap_to_ns, .thread = c->gap_track,
		.category = fxt_str("kfxt"), .name = fxt_str("lost events, counted before"),
	};

	return fxt_write_event(w, &event, args, 4);
}

static int write_cpu_start(const struct piece_state *s, struct fxt_writer *w, const struct piece_cut *cut,
			   unsigned int cpu)
{
	const struct cpu *c = &s->cpus[cpu];
	const uint64_t ts = piece_cpu_cut_ns(s, cut, cpu);
	int err;

	if (!c->begun)
		return 0;
	err = write_mark(w, cpu, ts, idle, c->hidden || c->gap || c->ended ? idle : running(s, c), TEXT_START);
	if (!err && c->hidden)
		err = write_mark(w, cpu, ts, idle, idle, TEXT_FILTER);
	if (!err && c->ended)
		err = write_mark(w, cpu, ts, idle, idle, TEXT_STOP);
	if (!err && c->gap)
		err = write_mark(w, cpu, ts, idle, idle, TEXT_GAP);
	if (!err && c->gap == GAP_DRAWN)
		err = write_gap_slice(w, cpu, c);
	return err;
}

static int write_carried(struct fxt_writer *w, const struct carried_wake *c)
{
	const struct fxt_wakeup wakeup = { .ts = c->wake.ts, .cpu = c->wake.cpu, .thread = c->koid };
	const struct fxt_arg args[] = {
		fxt_arg_i32("weight", c->wake.prio),
		fxt_arg_koid("waker", c->wake.waker),
		fxt_arg_bool("carried", true),
		fxt_arg_str("mark", fxt_str(piece_text_name((enum text)c->wake.mark))),
	};

	return fxt_write_wakeup(w, &wakeup, args, c->wake.mark == TEXT_OTHER ? 3 : 4);
}

int piece_state_write_head(const struct piece_state *s, struct fxt_writer *w, const struct piece_cut *cut)
{
	struct cut c;
	unsigned int cpu;
	size_t i;
	int err = piece_cut_init(&c, s, cut);

	if (err)
		return err;
	err = write_tables(s, w);
	err = err ? err : write_objects(s, w);
	err = err ? err : piece_interned_write(s, w);
	err = err ? err : write_start(s, w, cut, c.from_ns);
	err = err ? err : write_states(w, &c);
	for (cpu = 0; !err && cpu < s->cpus_end; cpu++)
		err = write_cpu_start(s, w, cut, cpu);
	for (i = 0; !err && i < c.wakes_cnt; i++)
		err = write_carried(w, &c.wakes[i]);
	err = err ? err : piece_slices_write(s, w, cut->slices_ns, c.first_ns, true);
	piece_cut_fini(&c);
	return err;
}

/* ---- the tail --------------------------------------------------------------------------------- */

/* A CPU whose records have not begun has its beginning here as well, for readers to know that nothing is missing. */
static int write_cpu_stop(const struct piece_state *s, struct fxt_writer *w, const struct piece_cut *cut,
			  unsigned int cpu, uint64_t to_ns)
{
	const struct cpu *c = &s->cpus[cpu];
	uint64_t ts = c->begun ? piece_cpu_cut_ns(s, cut, cpu) : to_ns;
	int err = 0;

	if (!piece_cpu_known(s, cpu) || c->ended)
		return 0;
	if (!c->begun)
		err = write_mark(w, cpu, ts, idle, idle, TEXT_START);
	if (c->gap == GAP_DRAWN) {
		ts = c->gap_to_ns;
		err = write_mark(w, cpu, ts, idle, idle, TEXT_GAP);
	}
	return err ? err : write_mark(w, cpu, ts, c->hidden || c->gap ? idle : running(s, c), idle, TEXT_STOP);
}

static int write_stop(const struct piece_state *s, struct fxt_writer *w, const struct piece_cut *cut, uint64_t to_ns)
{
	const char *online = cut->online ? cut->online : "";
	const struct fxt_arg arg = fxt_arg_str("online", fxt_str_inline(online, strlen(online)));
	struct fxt_event event;

	if (!s->start || s->stop_ns)
		return 0;
	event = s->start->event;
	event.name = fxt_str("stop");
	event.ts = to_ns;
	return fxt_write_event(w, &event, &arg, cut->online ? 1 : 0);
}

int piece_state_write_tail(const struct piece_state *s, struct fxt_writer *w, const struct piece_cut *cut)
{
	struct cut c;
	unsigned int cpu;
	int err;

	piece_cut_session(&c, s, cut);
	err = piece_slices_write(s, w, cut->slices_ns, c.first_ns, false);
	for (cpu = 0; !err && cpu < s->cpus_end; cpu++)
		err = write_cpu_stop(s, w, cut, cpu, c.to_ns);
	return err ? err : write_stop(s, w, cut, c.to_ns);
}
