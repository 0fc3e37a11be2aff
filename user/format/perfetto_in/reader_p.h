/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Inside of the reader of Perfetto traces: what its files have for one another.
 */
#ifndef FORMAT_PERFETTO_IN_READER_P_H
#define FORMAT_PERFETTO_IN_READER_P_H

#include "state_p.h"

/* packet.c */

/* Takes a packet of the file or of a compressed one. 0 or -errno. */
int pf_take_packet(struct pf_reader *r, struct pf_cursor message, uint64_t offset, bool is_inner);
/* Counts a packet, and keeps where it was if it was dropped. */
void pf_count_fate(struct pf_reader *r, enum pf_fate fate, uint64_t number, uint64_t offset);
/* One of the first places with something that is not in the output; @reason is static. */
void pf_note(struct pf_reader *r, uint64_t number, uint64_t offset, const char *reason);
/* An event of a bundle is dropped. */
void pf_drop_part(struct pf_reader *r, uint64_t number, uint64_t offset, const char *reason);
/* A value of an extra counter is dropped. */
void pf_drop_extra(struct pf_reader *r, uint64_t number, uint64_t offset);
/* It turned out later that the packet is not used after all. */
void pf_unuse(struct pf_reader *r, enum pf_fate fate, uint64_t number, uint64_t offset);
void pf_tally(struct pf_tally *t, uint32_t number);

/* emit.c */

/* A record begins: @size bytes at @head, a multiple of 8. */
int pf_record_begin(struct pf_reader *r, const void *head, size_t size);
/* More of it; 0 or -ENOMEM. */
int pf_record_put(struct pf_reader *r, enum pf_piece_kind kind, uint32_t name, uint64_t value);
/* At most @max bytes of a text, not within a character; counted if there are more. */
size_t pf_cut_len(struct pf_reader *r, const void *data, size_t len, size_t max);
/* A string in the record itself, cut if it is too long. */
int pf_record_put_text(struct pf_reader *r, enum pf_piece_kind kind, uint32_t name, const void *data, size_t len);
/* Sets the packet's time; once for each, as deltas add up. */
void pf_packet_time(struct pf_reader *r, struct pf_packet_info *p);
/* The record's place in time: a fate or -errno. */
int pf_emit(struct pf_reader *r, uint64_t clock_key, uint64_t value, enum pf_rank rank);
/* The same of an event of a bundle: if it is dropped in the end, that costs the event and not the packet. */
int pf_emit_part(struct pf_reader *r, uint64_t clock_key, uint64_t value, enum pf_rank rank);
int pf_emit_ns(struct pf_reader *r, uint64_t ns, enum pf_rank rank);
/* By the packet's own time and clock; what has no time: PF_NO_TIME. */
int pf_emit_packet(struct pf_reader *r, const struct pf_packet_info *p, enum pf_rank rank);
/* Records that waited, at the end of the file. 0 or -errno. */
int pf_release(struct pf_reader *r);
/* The number of a string that comes again; PF_NO_STRING if there is no space for it, which is counted. */
uint32_t pf_string(struct pf_reader *r, const void *data, size_t len);
uint32_t pf_string_of(struct pf_reader *r, const struct pf_field *f);
uint32_t pf_word(struct pf_reader *r, const char *text);
/* A counter whose name is r->text; nothing if there is no space for its name. 0 or -ENOMEM. */
int pf_put_counter(struct pf_reader *r, enum pf_piece_kind kind, uint64_t value);
/* Text put together in r->text. */
void pf_text_clear(struct pf_reader *r);
void pf_text_add(struct pf_reader *r, const void *data, size_t len);
__attribute__((format(printf, 2, 3))) void pf_text_print(struct pf_reader *r, const char *format, ...);

/* track.c: index + 1, 0: no memory, or too many tracks; what that means for a packet. */
uint32_t pf_track_by_uuid(struct pf_reader *r, uint64_t uuid);
uint32_t pf_track_by_thread(struct pf_reader *r, int64_t pid, int64_t tid);
int pf_track_error(const struct pf_reader *r);
/* The builder's track of a row, in the second pass: PF_USED, a fate that says why not, or -errno. */
int pf_track_resolve(struct pf_reader *r, uint32_t track);
/* The process that a track belongs to: false if there is none. */
bool pf_track_process(const struct pf_reader *r, uint32_t track, int64_t *pid);
struct fxt_str pf_track_name(const struct pf_reader *r, const struct pf_track_row *row);
/* Names of all tracks, when the second pass begins. 0 or -errno. */
int pf_tracks_name(struct pf_reader *r);
pf_message_fn pf_track_descriptor, pf_thread_descriptor, pf_process_descriptor;
void pf_tracks_fini(struct pf_reader *r);

/* chrome_name.c: NULL: there is none of that type. */
const char *pf_chrome_process(uint64_t type);
const char *pf_chrome_thread(uint64_t type);

/* described.c */
void pf_descriptions_fini(struct pf_reader *r);

/* complete.c: keeps the record at hand, the begin of a slice of the track @uuid. */
void pf_hold_begin(struct pf_reader *r, const struct pf_packet_info *p, uint64_t uuid);
/* Whether @p, an end on the track @uuid, is of the slice that is kept, which is then one record: a fate, 0 or -errno. */
int pf_end_held(struct pf_reader *r, const struct pf_packet_info *p, uint64_t uuid);
/* What is kept is a begin like others. 0 or -errno. */
int pf_release_begin(struct pf_reader *r);

/* counter.c: the description of a counter's value in @message, for @row: 0, -EBADMSG or -ENOMEM. */
int pf_counter_describe(struct pf_reader *r, struct pf_track_row *row, struct pf_cursor message);
/* One value, which is a counter with those before it if it is of the same record: 0 or -errno. */
int pf_counter_play(struct pf_reader *r, const struct pf_track_row *row, uint64_t ts_ns, struct fxt_arg value);
/* Writes the one that is held. */
int pf_counter_release(struct pf_reader *r);

/* args.c: what an event carries; 0, -EBADMSG or -ENOMEM. */
int pf_put_annotation(struct pf_reader *r, const struct pf_sequence *q, struct pf_cursor message);
int pf_put_location(struct pf_reader *r, const struct pf_sequence *q, struct pf_cursor message, const char *prefix);
int pf_put_callstack(struct pf_reader *r, const struct pf_sequence *q, uint64_t iid, bool *is_known);
int pf_put_inline_callstack(struct pf_reader *r, struct pf_cursor message);

/* samples.c: a record of the second pass. 0 or -errno. */
int pf_play_stack(struct pf_reader *r, uint64_t ts_ns);

/* perf_counters.c: which counters samples of the sequence have, by its defaults. */
void pf_perf_defaults(struct pf_reader *r, struct pf_sequence *q, struct pf_cursor defaults);
/* What the PerfSample @m has counted: a fate or -errno. */
int pf_perf_counts(struct pf_reader *r, struct pf_packet_info *p, struct pf_cursor m, int32_t cpu);

/* event.c, legacy.c, ftrace.c, names.c, other.c, samples.c, generic.c, profile.c, losses.c, meters.c: the data of packets */
pf_message_fn pf_track_event, pf_ftrace_bundle, pf_process_tree, pf_process_stats, pf_sys_stats, pf_android_log,
	pf_journald, pf_perf_sample, pf_stack_sample, pf_system_info, pf_clock_snapshot, pf_task_state,
	pf_task_rename, pf_task_tree, pf_generic_frequency, pf_streaming_profile, pf_heap_profile, pf_battery,
	pf_trace_begins, pf_power_rails, pf_gpu_counters, pf_gpu_memory, pf_ftrace_stats, pf_trace_stats, pf_trace_attributes;

/* losses.c: @failed lines of the journal were not read so far: a fate or -errno. */
int pf_lost_lines(struct pf_reader *r, const struct pf_packet_info *p, uint64_t failed);

/* generic.c: names that lists give, when the second pass begins; a state or a new name. 0 or -errno. */
int pf_tasks_name(struct pf_reader *r);
int pf_play_task(struct pf_reader *r, const struct pf_record *head, uint64_t ts_ns);
void pf_tasks_fini(struct pf_reader *r);

/* syscall_name.c: @machine is uname(2)'s; the name of a system call there, NULL: not known. */
void pf_syscalls_machine(struct pf_reader *r, const struct pf_field *machine);
const char *pf_syscall_name(struct pf_reader *r, uint64_t number);
void pf_syscalls_fini(struct pf_reader *r);

/* names.c: a life of that id begins or ends: 0 or -ENOMEM. */
int pf_note_life(struct pf_reader *r, int32_t tid, uint64_t ns);
/* What a tree says, in the second pass. 0 or -errno. */
int pf_play_tree(struct pf_reader *r, const struct pf_tree_entry *e);
/* The id of a thread, or process, of @writer, which knows it as @id: the same, unless a tree says another. */
int64_t pf_tree_id(const struct pf_reader *r, int32_t writer, int64_t id);
/* Whether a tree names that process. */
bool pf_tree_names(const struct pf_reader *r, int64_t pid);
/* play.c: a record of the second pass; what waits at its end. 0 or -errno. */
int pf_play(struct pf_reader *r, uint64_t ts_ns, size_t len);
int pf_play_rest(struct pf_reader *r);
/* ftrace.c: losses of CPUs that have no events after them, at the end of the file. 0 or -errno. */
int pf_draw_losses(struct pf_reader *r);
/* play_ftrace.c: all states are known; those of a kernel from 4.14 on have no bits above that of preemption. */
void pf_choose_states(struct pf_reader *r);
int pf_play_ftrace(struct pf_reader *r, const struct pf_record *head, uint64_t ts_ns, size_t len);

/* Types of events on a track of their process, which have an id. */
static inline bool pf_is_async(uint8_t type)
{
	return type >= 'A' && strchr("bneSTpF", type);
}

static inline int pf_add(struct pf_reader *r, const struct model_event *ev)
{
	r->counts.handed_on++;
	return builder_add(r->builder, ev);
}

static inline struct pf_track_row *pf_track_row(const struct pf_reader *r, uint32_t track)
{
	return &r->tracks.all[track - 1];
}

/* Until when a track has slices; @track is 0 of an event that has none. */
static inline void pf_note_slice(struct pf_reader *r, uint32_t track, uint8_t type, uint64_t ns)
{
	struct pf_track_row *row;

	if ((type > PF_TYPE_END && type != 'X') || !track)
		return;
	row = pf_track_row(r, track);
	row->last_ns = ns > row->last_ns ? ns : row->last_ns;
}

#endif
