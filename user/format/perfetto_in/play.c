// SPDX-License-Identifier: GPL-2.0
/*
 * The second pass: records in order of time become events of the model.
 */
#include "model/core.h"
#include "model/threads.h"
#include "reader_p.h"

/* What follows a record. */
struct pieces {
	const uint64_t *at, *end;
};

static bool next_piece(struct pieces *p, struct pf_piece *piece, const char **text)
{
	size_t words;

	if (p->end - p->at < (ptrdiff_t)(sizeof(*piece) / 8))
		return false;
	memcpy(piece, p->at, sizeof(*piece));
	p->at += sizeof(*piece) / 8;
	*text = (const char *)p->at;
	if (piece->kind == PF_PIECE_TEXT || piece->kind == PF_PIECE_NAME || piece->kind == PF_PIECE_LOG) {
		words = pf_padded(piece->value) / 8;
		if ((size_t)(p->end - p->at) < words)
			return false;
		p->at += words;
	}
	return true;
}

static struct pieces pieces_of(const struct pf_reader *r, size_t len)
{
	return (struct pieces){ r->at + sizeof(struct pf_record) / 8, r->at + len / 8 };
}

/* ---- arguments ------------------------------------------------------------- */

static struct fxt_arg value_of(const struct pf_reader *r, const struct pf_piece *piece, const char *text)
{
	switch (piece->kind) {
	case PF_PIECE_BOOL:
		return fxt_arg_bool("", piece->value);
	case PF_PIECE_UINT:
		return fxt_arg_u64("", piece->value);
	case PF_PIECE_INT:
		return fxt_arg_i64("", (int64_t)piece->value);
	case PF_PIECE_DOUBLE:
		return fxt_arg_f64("", pf_double(piece->value));
	case PF_PIECE_POINTER:
		return fxt_arg_ptr("", piece->value);
	case PF_PIECE_STRING:
		return fxt_arg_str("", pf_pool_str(&r->pool, (uint32_t)piece->value));
	default:
		return fxt_arg_str("", fxt_str_inline(text, piece->value));
	}
}

static struct fxt_arg counter_value(const struct pf_track_row *row, uint64_t bits, bool is_real)
{
	int64_t v, number = (int64_t)bits;

	if (is_real)
		return fxt_arg_f64("value", pf_double(bits) * (double)row->multiplier);
	if (__builtin_mul_overflow(number, row->multiplier, &v))
		return fxt_arg_f64("value", (double)number * (double)row->multiplier);
	return fxt_arg_i64("value", v);
}

static void put_value(struct pf_reader *r, const struct pf_piece *piece, const char *text, int depth)
{
	struct fxt_str name = pf_pool_str(&r->pool, piece->name);
	bool is_member = piece->is_member || !depth;

	if (is_member)
		arg_list_member(r->args, name.data, name.len);
	arg_list_put(r->args, value_of(r, piece, text));
	if (is_member)
		arg_list_leave(r->args);
}

/* One of a process is that of no other. */
static uint64_t id_of(const struct pf_reader *r, const struct pf_piece *piece)
{
	return piece->name & PF_ID_LOCAL ? piece->value ^ (r->local_pid + 1) * 0x9e3779b97f4a7c15ULL : piece->value;
}

/* Of an extra counter that is the time or the instructions of the event's thread an argument, too. */
static void put_thread_counter(struct pf_reader *r, const struct pf_piece *piece)
{
	static const char *const names[] = {
		[PF_COUNTS_THREAD_TIME] = "thread_time_ns", [PF_COUNTS_INSTRUCTIONS] = "thread_instruction_count",
	};
	const struct pf_track_row *row;

	if (piece->kind != PF_PIECE_COUNTER && piece->kind != PF_PIECE_COUNTER_DOUBLE)
		return;
	row = pf_track_row(r, piece->name);
	if (row->counter_type != PF_COUNTS_THREAD_TIME && row->counter_type != PF_COUNTS_INSTRUCTIONS)
		return;
	arg_list_member(r->args, names[row->counter_type], strlen(names[row->counter_type]));
	arg_list_put(r->args, counter_value(row, piece->value, piece->kind == PF_PIECE_COUNTER_DOUBLE));
	arg_list_leave(r->args);
}

/* The arguments, name and log line of an event; *@others: there is something else. */
static void read_some_pieces(struct pf_reader *r, struct pieces p, struct model_event *ev, struct fxt_str *log,
			     bool *others)
{
	struct pf_piece piece;
	struct fxt_str name;
	const char *text;
	int depth = 0;

	arg_list_clear(r->args);
	while (next_piece(&p, &piece, &text)) {
		if (piece.kind == PF_PIECE_MEMBER) {
			name = pf_pool_str(&r->pool, piece.name);
			arg_list_member(r->args, name.data, name.len);
			depth++;
		} else if (piece.kind == PF_PIECE_ELEMENT) {
			arg_list_element(r->args, (unsigned int)piece.value);
			depth++;
		} else if (piece.kind == PF_PIECE_LEAVE) {
			arg_list_leave(r->args);
			depth--;
		} else if (piece.kind <= PF_PIECE_TEXT) {
			put_value(r, &piece, text, depth);
		} else if (piece.kind == PF_PIECE_NAME) {
			ev->name = fxt_str_inline(text, piece.value);
		} else if (piece.kind == PF_PIECE_LOG) {
			*log = fxt_str_n(text, piece.value);
		} else {
			*others = true;
			put_thread_counter(r, &piece);
			ev->id = piece.kind == PF_PIECE_ASYNC ? id_of(r, &piece) : ev->id;
		}
	}
	ev->args = arg_list_get(r->args, &ev->args_cnt);
}

static inline void read_pieces(struct pf_reader *r, struct pieces p, struct model_event *ev, struct fxt_str *log,
			       bool *others)
{
	*others = false;
	*log = (struct fxt_str){ 0 };
	if (p.at != p.end)
		read_some_pieces(r, p, ev, log, others);
}

/* ---- counters -------------------------------------------------------------- */

/* One sample: PF_USED, a fate, or -errno. */
static int play_sample(struct pf_reader *r, uint32_t track, uint64_t ts_ns, uint64_t bits, bool is_real)
{
	struct pf_track_row *row = pf_track_row(r, track);
	int fate = row->is_described && row->is_counter ? pf_track_resolve(r, track) : PF_NO_COUNTER;
	struct model_event ev = { .kind = MODEL_COUNTER, .ts_ns = ts_ns, .args_cnt = 1 };
	struct fxt_arg arg;

	if (fate != PF_USED)
		return fate;
	row = pf_track_row(r, track);
	arg = counter_value(row, bits, is_real);
	if (row->counter) {
		fate = pf_counter_play(r, row, ts_ns, arg);
		return fate ? fate : PF_USED;
	}
	ev.track = row->track;
	ev.name = pf_pool_str(&r->pool, row->shown);
	ev.args = &arg;
	fate = pf_add(r, &ev);
	return fate ? fate : PF_USED;
}

/* The place that is reported is that of the track's first event. */
static void drop(struct pf_reader *r, const struct pf_record *head, enum pf_fate fate)
{
	const struct pf_track_row *row = pf_track_row(r, head->track);

	pf_unuse(r, fate, row->packet, row->offset);
}

static int play_counter(struct pf_reader *r, const struct pf_record *head, uint64_t ts_ns)
{
	int fate = play_sample(r, head->track, ts_ns, head->bits, head->cpu == PF_HAS_REAL);

	if (fate > PF_USED)
		drop(r, head, fate);
	return fate < 0 ? fate : 0;
}

/* Counters that come with an event are before it. */
static int play_extras(struct pf_reader *r, struct pieces p, uint64_t ts_ns)
{
	struct pf_piece piece;
	const char *text;
	int fate = PF_USED;

	while (fate >= 0 && next_piece(&p, &piece, &text)) {
		if (piece.kind != PF_PIECE_COUNTER && piece.kind != PF_PIECE_COUNTER_DOUBLE)
			continue;
		fate = play_sample(r, piece.name, ts_ns, piece.value, piece.kind == PF_PIECE_COUNTER_DOUBLE);
		if (fate > PF_USED)
			pf_drop_extra(r, pf_track_row(r, piece.name)->packet, pf_track_row(r, piece.name)->offset);
	}
	return fate < 0 ? fate : 0;
}

/* ---- flows ----------------------------------------------------------------- */

static int add_flow(struct pf_reader *r, const struct model_event *at, enum model_kind kind, uint64_t id)
{
	struct model_event ev = *at;

	ev.kind = kind;
	ev.args = NULL;
	ev.args_cnt = 0;
	ev.id = id;
	if (!ev.name.len)
		ev.name = fxt_str("flow");
	return pf_add(r, &ev);
}

static int play_flows(struct pf_reader *r, struct pieces p, const struct model_event *at)
{
	static const uint8_t kinds[] = {
		[PF_PIECE_FLOW] = MODEL_FLOW, [PF_PIECE_FLOW_BEGIN] = MODEL_FLOW_BEGIN,
		[PF_PIECE_FLOW_STEP] = MODEL_FLOW_STEP, [PF_PIECE_FLOW_END] = MODEL_FLOW_END,
	};
	struct pf_piece piece;
	const char *text;
	int err = 0;

	while (!err && next_piece(&p, &piece, &text))
		if (piece.kind >= PF_PIECE_FLOW && piece.kind <= PF_PIECE_FLOW_END)
			err = add_flow(r, at, (enum model_kind)kinds[piece.kind], id_of(r, &piece));
	return err;
}

/* Flow ends that waited for a slice of this track; of all, if @track is 0. */
static int release_flows(struct pf_reader *r, uint32_t track, uint64_t ts_ns)
{
	unsigned int i, kept = 0;
	int err = 0;

	for (i = 0; i < r->held_cnt; i++) {
		const struct pf_held_flow h = r->held[i];
		struct model_event at = {
			.track = h.track, .ts_ns = track ? ts_ns : h.ts_ns, .name = pf_pool_str(&r->pool, h.name),
			.category = pf_pool_str(&r->pool, h.category),
		};

		if (err || (track && h.track != track))
			r->held[kept++] = h;
		else
			err = add_flow(r, &at, MODEL_FLOW_END, h.id);
	}
	r->held_cnt = kept;
	return err;
}

int pf_play_rest(struct pf_reader *r)
{
	int err = pf_counter_release(r);

	return err ? err : release_flows(r, 0, 0);
}

/* f binds to the next slice, unless it says that it binds to the one around it. */
static int play_legacy_flow(struct pf_reader *r, const struct pf_record *head, struct pieces p,
			    const struct model_event *ev)
{
	const struct pieces all = p;
	struct pf_piece piece;
	const char *text;

	while (next_piece(&p, &piece, &text)) {
		if (piece.kind != PF_PIECE_FLOW_END || !(piece.name & PF_ID_TO_NEXT) || r->held_cnt == PF_FLOWS_HELD)
			continue;
		r->held[r->held_cnt++] = (struct pf_held_flow){
			ev->track, head->name, head->category, id_of(r, &piece), ev->ts_ns,
		};
		return 0;
	}
	return play_flows(r, all, ev);
}

/* ---- slices, instants ------------------------------------------------------ */

/* A state lasts until the next one of its track; one without a name only ends it: where there is none it is counted. */
static int play_state(struct pf_reader *r, struct pf_track_row *row, struct model_event *ev)
{
	int err = 0;

	if (row->is_open || !ev->name.len)
		err = pf_add(r, &(struct model_event){ .kind = MODEL_SLICE_END, .track = ev->track, .ts_ns = ev->ts_ns });
	row->is_open = ev->name.len;
	ev->kind = MODEL_SLICE_BEGIN;
	return err || !row->is_open ? err : pf_add(r, ev);
}

/* Slices of a process are async ones, which are known by their track. */
static void make_async(const struct pf_track_row *row, struct model_event *ev)
{
	ev->kind = ev->kind == MODEL_SLICE_BEGIN ? MODEL_ASYNC_BEGIN : MODEL_ASYNC_END;
	ev->id = (row->uuid + 1) * 0x9e3779b97f4a7c15ULL;
}

static int play_metadata(struct pf_reader *r, const struct pf_record *head, struct model_event *ev)
{
	bool is_process = ev->name.len == 12 && !memcmp(ev->name.data, "process_name", 12);
	struct model_track spec = { .kind = MODEL_TRACK_PROCESS };
	unsigned int i;
	int64_t pid;
	int err = 0;

	for (i = 0; i < ev->args_cnt && ev->args[i].type != FXT_ARG_STRING; i++)
		;
	if (i == ev->args_cnt || (!is_process && (ev->name.len != 11 || memcmp(ev->name.data, "thread_name", 11))))
		return 0;
	if (is_process && !pf_track_process(r, head->track, &pid))
		return 0;
	ev->kind = MODEL_NAME;
	ev->name = ev->args[i].str;
	if (is_process) {
		spec.process.number = pid;
		err = builder_track(r->builder, &spec, &ev->track);
	}
	return err ? err : pf_add(r, ev);
}

/* The kind of event, by its type. */
static enum model_kind kind_of(const struct pf_record *head)
{
	switch (head->type) {
	case PF_TYPE_BEGIN:
		return MODEL_SLICE_BEGIN;
	case PF_TYPE_END:
		return MODEL_SLICE_END;
	case 'X':
		return MODEL_SLICE;
	case 'b': case 'S':
		return MODEL_ASYNC_BEGIN;
	case 'e': case 'F':
		return MODEL_ASYNC_END;
	case 'n': case 'T': case 'p':
		return MODEL_ASYNC_INSTANT;
	default:
		return MODEL_INSTANT;
	}
}

/* With the name of its track, which async slices of a process do not show. */
static void add_track_name(struct pf_reader *r, const struct pf_track_row *row, struct model_event *ev)
{
	if (!row->name || row->has_process || row->has_thread || r->is_recorded)
		return;
	if (!ev->args_cnt)
		arg_list_clear(r->args);
	arg_list_member(r->args, "track", 5);
	arg_list_put(r->args, fxt_arg_str("", pf_pool_str(&r->pool, row->name)));
	arg_list_leave(r->args);
	ev->args = arg_list_get(r->args, &ev->args_cnt);
}

static int add_plain(struct pf_reader *r, const struct pf_record *head, struct pf_track_row *row,
		     struct model_event *ev)
{
	ev->kind = kind_of(head);
	if (ev->kind == MODEL_SLICE)
		ev->duration_ns = (uint64_t)head->number;
	if (row && row->scope == PF_SCOPE_PROCESS && (ev->kind == MODEL_SLICE_BEGIN || ev->kind == MODEL_SLICE_END))
		make_async(row, ev);
	if (ev->kind == MODEL_ASYNC_BEGIN && row)
		add_track_name(r, row, ev);
	return pf_add(r, ev);
}

/* Arrows to an end are to the slice that it ends, so they come first. */
static int play_slice(struct pf_reader *r, const struct pf_record *head, struct pieces p, struct model_event *ev,
		      bool flows)
{
	struct pf_track_row *row = head->track ? pf_track_row(r, head->track) : NULL;
	bool is_end = head->type == PF_TYPE_END;
	struct model_event at;
	int err = 0;

	if (flows)
		at = *ev;
	if (flows && is_end)
		err = play_flows(r, p, &at);
	if (!err)
		err = head->type == PF_TYPE_STATE && row ? play_state(r, row, ev) : add_plain(r, head, row, ev);
	if (!err && r->held_cnt && (head->type == PF_TYPE_BEGIN || head->type == 'X'))
		err = release_flows(r, ev->track, ev->ts_ns);
	return err || is_end || !flows ? err : play_flows(r, p, &at);
}

/* That of its process, if it is of one, for what is not of a thread: PF_USED or -errno. */
static int find_process(struct pf_reader *r, const struct pf_record *head, uint32_t *track)
{
	struct model_track spec = { .kind = MODEL_TRACK_PROCESS };
	bool is_of_process = pf_is_async(head->type) || head->type == PF_TYPE_PROCESS_INSTANT;
	int64_t pid;
	int err = 0;

	if (!is_of_process && head->cpu != PF_HAS_LOCAL_ID)
		return PF_USED;
	if (!pf_track_process(r, head->track, &pid))
		is_of_process = false;
	r->local_pid = (uint64_t)pid;
	spec.process.number = pid;
	if (is_of_process)
		err = builder_track(r->builder, &spec, track);
	return err ? err : PF_USED;
}

static int find_track(struct pf_reader *r, const struct pf_record *head, uint32_t *track)
{
	int fate;

	if (!head->track) {
		fate = builder_track(r->builder, &(struct model_track){ .kind = MODEL_TRACK_GLOBAL }, track);
		return fate ? fate : PF_USED;
	}
	fate = pf_track_resolve(r, head->track);
	*track = pf_track_row(r, head->track)->track;
	/* Only letters are of a process, which few events have. */
	return fate != PF_USED || head->type < 'A' ? fate : find_process(r, head, track);
}

static int play_event(struct pf_reader *r, const struct pf_record *head, uint64_t ts_ns, size_t len)
{
	struct pieces p = pieces_of(r, len);
	struct model_event ev;
	struct fxt_str log;
	bool others;
	int err;

	if (head->type == PF_TYPE_COUNTER) {
		err = play_extras(r, p, ts_ns);
		return err ? err : play_counter(r, head, ts_ns);
	}
	/* What only some kinds have is as large, and set with the kind. */
	memset(&ev, 0, offsetof(struct model_event, duration_ns));
	ev.ts_ns = ts_ns;
	ev.name = pf_pool_str(&r->pool, head->name);
	ev.category = pf_pool_str(&r->pool, head->category);
	err = find_track(r, head, &ev.track);
	if (err != PF_USED) {
		if (err > 0)
			drop(r, head, err);
		return err < 0 ? err : 0;
	}
	read_pieces(r, p, &ev, &log, &others);
	err = others ? play_extras(r, p, ts_ns) : 0;
	if (!err && log.data)
		err = pf_add(r, &(struct model_event){ .kind = MODEL_LOG, .track = ev.track, .ts_ns = ts_ns, .text = log });
	if (err)
		return err;
	if (head->type == 'M')
		return play_metadata(r, head, &ev);
	if (head->type >= 'A' && strchr("stf", head->type))
		return play_legacy_flow(r, head, p, &ev);
	return play_slice(r, head, p, &ev, others);
}

/* ---- others ---------------------------------------------------------------- */

/* Of a thread whose process is not said, it is the one that is known of its id. */
static int32_t process_of(const struct pf_reader *r, const struct pf_record *head)
{
	const struct thread *t = head->pid || head->tid <= 0 ? NULL : thread_find(r->builder, head->tid);

	if (head->pid || !t)
		return head->pid ? head->pid : head->tid;
	return t->tgid > 0 ? t->tgid : head->tid;
}

/* A log line or an instant, of a thread or of the trace. */
static int play_thread_event(struct pf_reader *r, const struct pf_record *head, uint64_t ts_ns, size_t len)
{
	struct model_track spec = {
		.kind = MODEL_TRACK_GLOBAL, .process.number = process_of(r, head), .thread.number = head->tid,
	};
	struct model_event ev = {
		.kind = MODEL_INSTANT, .ts_ns = ts_ns, .name = pf_pool_str(&r->pool, head->name),
		.category = pf_pool_str(&r->pool, head->category),
	};
	struct fxt_str text;
	bool others;
	int err;

	if (head->tid > 0)
		spec.kind = MODEL_TRACK_THREAD;
	else if (head->pid > 0)
		spec.kind = MODEL_TRACK_PROCESS;
	err = builder_track(r->builder, &spec, &ev.track);
	if (err)
		return err;
	read_pieces(r, pieces_of(r, len), &ev, &text, &others);
	if (head->kind == PF_RECORD_LOG) {
		ev.kind = r->is_recorded ? MODEL_LOG_LINE : MODEL_LOG;
		ev.text = text;
	}
	return pf_add(r, &ev);
}

static int play_counters(struct pf_reader *r, const struct pf_record *head, uint64_t ts_ns, size_t len)
{
	struct model_track spec = { .kind = MODEL_TRACK_GLOBAL, .process.number = head->pid };
	struct model_event ev = { .kind = MODEL_COUNTER, .ts_ns = ts_ns, .id = head->id, .args_cnt = 1 };
	struct pieces p = pieces_of(r, len);
	struct pf_piece piece;
	struct fxt_arg arg;
	const char *text;
	int err;

	if (head->pid > 0)
		spec.kind = MODEL_TRACK_PROCESS;
	err = builder_track(r->builder, &spec, &ev.track);
	ev.args = &arg;
	while (!err && next_piece(&p, &piece, &text)) {
		arg = piece.kind == PF_PIECE_COUNTER ? fxt_arg_i64("value", (int64_t)piece.value) :
						      fxt_arg_f64("value", pf_double(piece.value));
		ev.name = pf_pool_str(&r->pool, piece.name);
		err = pf_add(r, &ev);
	}
	return err;
}

int pf_play(struct pf_reader *r, uint64_t ts_ns, size_t len)
{
	struct pf_tree_entry entry;
	struct pf_record head;

	memcpy(&head, r->at, sizeof(head));
	r->is_recorded = head.kind & PF_RECORD_FROM_FXT;
	head.kind = (uint8_t)pf_kind(head.kind);
	switch (head.kind) {
	case PF_RECORD_EVENT:
		return play_event(r, &head, ts_ns, len);
	case PF_RECORD_INSTANT:
	case PF_RECORD_LOG:
		return play_thread_event(r, &head, ts_ns, len);
	case PF_RECORD_COUNTER:
		return play_counters(r, &head, ts_ns, len);
	case PF_RECORD_STACK:
		return pf_play_stack(r, ts_ns);
	case PF_RECORD_PROCESS:
		memcpy(&entry, r->at, sizeof(entry));
		return pf_play_tree(r, &entry);
	case PF_RECORD_TASK:
		return pf_play_task(r, &head, ts_ns);
	default:
		return pf_play_ftrace(r, &head, ts_ns, len);
	}
}
