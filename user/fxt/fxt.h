/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libfxt: write and read the Fuchsia trace format (FXT).
 *
 * No dependency but the C library. Nothing here prints, exits or keeps global
 * state; a writer or a reader belongs to one thread at a time.
 *
 * Functions return 0 or a negative errno. Times are ticks: nanoseconds unless
 * an initialization record says otherwise. Ids of processes and threads are
 * koids; on Linux the pid and the tid.
 */
#ifndef FXT_H
#define FXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- what records are made of ------------------------------------------ */

/*
 * A string, not NUL-terminated, borrowed for the call it is passed to.
 * @inlined: false: registered in the string table once and referred to by its
 * index, the right choice for what repeats (names, categories); true: its bytes
 * are in the record, the right choice for what does not.
 *
 * Writer: bytes that are not UTF-8 are replaced by U+FFFD, then whatever is
 * beyond FXT_STRING_BYTES_MAX is cut between two characters; both are counted
 * in fxt_writer_stats. Reader: always resolved, @inlined is as it was in the file;
 * the bytes are those of the file, which need not be UTF-8.
 */
struct fxt_str {
	const char *data;
	size_t len;
	bool inlined;
};

struct fxt_str fxt_str(const char *text);			/* NUL-terminated; NULL is "" */
struct fxt_str fxt_str_n(const char *data, size_t len);
struct fxt_str fxt_str_inline(const char *data, size_t len);

/* A thread. Registered in the thread table unless @inlined. */
struct fxt_thread {
	uint64_t process;
	uint64_t thread;
	bool inlined;
};

/* Reader: an argument of a type above FXT_ARG_BLOB has its words after the name in .blob. */
struct fxt_arg {
	enum fxt_arg_type type;
	struct fxt_str name;
	union {
		int32_t i32;		/* FXT_ARG_INT32 */
		uint32_t u32;		/* FXT_ARG_UINT32 */
		int64_t i64;		/* FXT_ARG_INT64 */
		uint64_t u64;		/* FXT_ARG_UINT64, _POINTER, _KOID */
		double f64;		/* FXT_ARG_DOUBLE */
		bool b;			/* FXT_ARG_BOOL */
		struct fxt_str str;	/* FXT_ARG_STRING */
		struct {
			const void *data;
			size_t len;
		} blob;			/* FXT_ARG_BLOB */
	};
};

/*
 * An argument of each type, made for the call it is passed to: @name, text and
 * bytes are borrowed until then. Names go into the string table.
 */
struct fxt_arg fxt_arg_null(const char *name);
struct fxt_arg fxt_arg_i32(const char *name, int32_t v);
struct fxt_arg fxt_arg_u32(const char *name, uint32_t v);
struct fxt_arg fxt_arg_i64(const char *name, int64_t v);
struct fxt_arg fxt_arg_u64(const char *name, uint64_t v);
struct fxt_arg fxt_arg_f64(const char *name, double v);
struct fxt_arg fxt_arg_str(const char *name, struct fxt_str v);
struct fxt_arg fxt_arg_ptr(const char *name, uint64_t v);
struct fxt_arg fxt_arg_koid(const char *name, uint64_t v);
struct fxt_arg fxt_arg_bool(const char *name, bool v);
struct fxt_arg fxt_arg_blob(const char *name, const void *data, size_t len);

/* "Event record"; @id is the counter, async or flow id, or the end time. */
struct fxt_event {
	enum fxt_event_type type;
	uint64_t ts;
	struct fxt_thread thread;
	struct fxt_str category, name;
	uint64_t id;
};

/* "Context Switch Record"; the weights are arguments. */
struct fxt_switch {
	uint64_t ts;
	uint16_t cpu;
	enum fxt_thread_state state;	/* of the outgoing thread */
	uint64_t out, in;
};

/* "Thread Wakeup Record" */
struct fxt_wakeup {
	uint64_t ts;
	uint16_t cpu;
	uint64_t thread;
};

/* "Legacy Context Switch Record" */
struct fxt_legacy_switch {
	uint64_t ts;
	uint8_t cpu;
	enum fxt_thread_state state;	/* of the outgoing thread, never running */
	struct fxt_thread out, in;
	uint8_t out_priority, in_priority;
};

/* "Userspace object record", "Kernel object record" */
struct fxt_object {
	uint64_t id;			/* pointer or koid */
	struct fxt_str name;
	uint8_t kind;			/* kernel object: FXT_KOBJ_* */
	struct fxt_thread process;	/* userspace object: only .process counts */
};

/*
 * "Module Record", "Mmap Record", "Backtrace Record". Of the first two only the
 * process of @thread counts; the thread id they write is always 0.
 */
struct fxt_module {
	uint64_t ts;
	struct fxt_thread thread;
	uint16_t id;
	struct fxt_str name;		/* at most 255 bytes */
	const void *build_id;
	uint8_t build_id_len;
};

struct fxt_mmap {
	uint64_t ts;
	struct fxt_thread thread;
	uint16_t module;
	uint8_t flags;			/* 3 bits */
	uint64_t start, range, vaddr;
};

struct fxt_backtrace {
	uint64_t ts;
	struct fxt_thread thread;
	const uint64_t *frames;
	uint8_t frames_cnt;
};

/* "Large BLOB record"; without metadata @ts, @thread and arguments do not count. */
struct fxt_large_blob {
	enum fxt_large_format format;
	struct fxt_str category, name;
	uint64_t ts;
	struct fxt_thread thread;
	const void *data;
	uint64_t len;
};

/* ---- writer ------------------------------------------------------------- */

struct fxt_writer;

/*
 * Where bytes go: whole records only, never a part of one, except that a large
 * BLOB may come in several calls. Must take all of it. Returns 0 or -errno;
 * after an error the writer keeps returning it and writes no more.
 */
typedef int (*fxt_write_fn)(void *ctx, const void *data, size_t len);

struct fxt_writer_stats {
	uint64_t records, bytes;	/* string and thread records among them */
	uint64_t by_type[16];		/* by enum fxt_type, of what was handed on */
	uint64_t strings_cut;		/* over-long, cut; each time one is given */
	uint64_t strings_repaired;	/* were not UTF-8; each time one is given */
	uint64_t strings_replaced;	/* table full, an older entry was replaced */
	uint64_t threads_replaced;
};

/* Makes a writer that buffers some 64 KiB. *@out is untouched on failure (-ENOMEM). */
int fxt_writer_open(struct fxt_writer **out, fxt_write_fn write, void *ctx);
/* Hands on what is buffered. */
int fxt_writer_flush(struct fxt_writer *w);
/* Flushes and frees; returns the first error there was. NULL is fine. */
int fxt_writer_close(struct fxt_writer *w);
void fxt_writer_stats(const struct fxt_writer *w, struct fxt_writer_stats *stats);

/*
 * Every call below writes one record (and, before it, the string and thread
 * records it needs) or nothing:
 *   -EINVAL	more than FXT_ARGS_MAX arguments, an index or a value that does
 *		not fit its field, an unknown type
 *   -EMSGSIZE	the record would not fit its size field
 *   -ENOMEM	no memory for a string to be registered
 *   -errno	the sink's error
 * Tables full (32767 strings of 16 MiB in all, 255 threads): the entry that was
 * registered longest ago and that the record itself does not use is replaced.
 * With fewer than 32 strings (2 threads) that are not fixed, what is not
 * registered is in the record itself.
 */
int fxt_write_magic(struct fxt_writer *w);
/*
 * Readers keep tables for each provider: both calls begin with empty ones
 * (a section of the provider that is current does not), and are followed by
 * the records of all fixed indexes. The name is cut to 255 bytes.
 */
int fxt_write_provider_info(struct fxt_writer *w, uint32_t id, struct fxt_str name);
int fxt_write_provider_section(struct fxt_writer *w, uint32_t id);
int fxt_write_provider_event(struct fxt_writer *w, uint32_t id, uint8_t event);
int fxt_write_initialization(struct fxt_writer *w, uint64_t ticks_per_second);

/*
 * Registers under a fixed index that stays what it is for the life of the
 * writer, for records made elsewhere (BPF programs). Fixed indexes must be
 * registered before any other string or thread, each once, else -EINVAL.
 * @index is 1 to 32767, 1 to 255.
 */
int fxt_write_string(struct fxt_writer *w, uint16_t index, struct fxt_str s);
int fxt_write_thread(struct fxt_writer *w, uint8_t index, struct fxt_thread t);

int fxt_write_event(struct fxt_writer *w, const struct fxt_event *e,
		    const struct fxt_arg *args, unsigned int nargs);
int fxt_write_switch(struct fxt_writer *w, const struct fxt_switch *s,
		     const struct fxt_arg *args, unsigned int nargs);
int fxt_write_wakeup(struct fxt_writer *w, const struct fxt_wakeup *s,
		     const struct fxt_arg *args, unsigned int nargs);
int fxt_write_legacy_switch(struct fxt_writer *w, const struct fxt_legacy_switch *s);
int fxt_write_userspace_object(struct fxt_writer *w, const struct fxt_object *o,
			       const struct fxt_arg *args, unsigned int nargs);
int fxt_write_kernel_object(struct fxt_writer *w, const struct fxt_object *o,
			    const struct fxt_arg *args, unsigned int nargs);
int fxt_write_log(struct fxt_writer *w, uint64_t ts, struct fxt_thread t, struct fxt_str text);
/* A BLOB of any length becomes as many records of the same name as it needs. */
int fxt_write_blob(struct fxt_writer *w, enum fxt_blob_type type, struct fxt_str name,
		   const void *data, size_t len);
int fxt_write_module(struct fxt_writer *w, const struct fxt_module *m);
int fxt_write_mmap(struct fxt_writer *w, const struct fxt_mmap *m);
int fxt_write_backtrace(struct fxt_writer *w, const struct fxt_backtrace *b);
/*
 * Not read by Perfetto beyond 4095 words; prefer fxt_write_blob there. The data
 * is not copied; what precedes it must fit in 4095 words.
 */
int fxt_write_large_blob(struct fxt_writer *w, const struct fxt_large_blob *b,
			 const struct fxt_arg *args, unsigned int nargs);
/*
 * Passes on whole records made elsewhere, in order with the writer's own;
 * -EINVAL if their sizes do not add up to @len. They may use fixed indexes and
 * must not register strings or threads or change the provider.
 */
int fxt_write_raw(struct fxt_writer *w, const void *records, size_t len);

/* ---- reader ------------------------------------------------------------- */

struct fxt_reader;

/* Where bytes come from: the number read, 0 at the end, or -errno. */
typedef long (*fxt_read_fn)(void *ctx, void *buf, size_t len);

/* What fxt_reader_next() found; subtypes are values of their own. */
enum fxt_kind {
	FXT_KIND_MAGIC,
	FXT_KIND_PROVIDER_INFO,		/* .provider */
	FXT_KIND_PROVIDER_SECTION,	/* .provider */
	FXT_KIND_PROVIDER_EVENT,	/* .provider */
	FXT_KIND_INITIALIZATION,	/* .ticks_per_second */
	FXT_KIND_STRING,		/* .string */
	FXT_KIND_THREAD,		/* .thread */
	FXT_KIND_EVENT,			/* .event, args */
	FXT_KIND_BLOB,			/* .blob */
	FXT_KIND_USERSPACE_OBJECT,	/* .object, args */
	FXT_KIND_KERNEL_OBJECT,		/* .object, args */
	FXT_KIND_LEGACY_SWITCH,		/* .legacy_switch */
	FXT_KIND_SWITCH,		/* .context_switch, args */
	FXT_KIND_WAKEUP,		/* .wakeup, args */
	FXT_KIND_LOG,			/* .log */
	FXT_KIND_MODULE,		/* .module */
	FXT_KIND_MMAP,			/* .mmap */
	FXT_KIND_BACKTRACE,		/* .backtrace */
	FXT_KIND_LARGE_BLOB,		/* .large_blob, args */
	FXT_KIND_UNKNOWN,		/* a type the specification does not have; skipped */
	FXT_KIND_DAMAGED,		/* .damage: these bytes are not a record */
	FXT_KIND_CNT
};

/*
 * One record. Everything it points to lives until the next fxt_reader_next().
 * @ts: of records that have a time, else 0; ticks of the current provider.
 */
struct fxt_record {
	enum fxt_kind kind;
	uint64_t offset;		/* of its first byte in the input */
	uint64_t len;			/* in bytes */
	uint64_t content_len;		/* of these, those up to the last field that is known of its kind */
	uint32_t provider_id;		/* the one it belongs to; 0 before the first */
	bool has_ts;
	uint64_t ts;
	struct fxt_arg args[FXT_ARGS_MAX];
	unsigned int nargs;
	/* A string or thread index that was not registered: resolved to "" or 0/0. */
	unsigned int unresolved;
	union {
		struct {
			uint32_t id;
			uint8_t event;
			struct fxt_str name;
		} provider;
		uint64_t ticks_per_second;
		struct {
			uint16_t index;
			struct fxt_str value;
		} string;
		struct {
			uint8_t index;
			struct fxt_thread value;
		} thread;
		struct fxt_event event;
		struct {
			enum fxt_blob_type type;
			struct fxt_str name;
			const void *data;
			size_t len;
		} blob;
		struct fxt_object object;
		struct fxt_legacy_switch legacy_switch;
		struct fxt_switch context_switch;
		struct fxt_wakeup wakeup;
		struct {
			struct fxt_thread thread;
			struct fxt_str text;
		} log;
		struct fxt_module module;
		struct fxt_mmap mmap;
		struct fxt_backtrace backtrace;
		/*
		 * .data is the whole payload if the record has at most 4095
		 * words. Else it is NULL: call fxt_reader_payload() for the
		 * payload, or go on to skip it.
		 */
		struct fxt_large_blob large_blob;
		struct {
			const char *reason;	/* static text */
		} damage;
	};
};

struct fxt_reader_stats {
	uint64_t records;		/* but FXT_KIND_DAMAGED */
	uint64_t bytes;			/* gone through */
	uint64_t by_kind[FXT_KIND_CNT];
	uint64_t unresolved;		/* records with an unregistered index */
	uint64_t skipped_bytes;		/* inside damage */
};

/*
 * Makes a reader; memory is bounded: a buffer of some 600 KiB, of which little
 * more than 64 KiB is touched unless the head of a large BLOB asks for it, and
 * the tables of each provider (at most 64 providers; the announcement of one
 * beyond is damage, and its tables are dropped when the provider changes).
 */
int fxt_reader_open(struct fxt_reader **out, fxt_read_fn read, void *ctx);
/*
 * Reads the next record: 1 and *@rec, 0 at the end, -ENOMEM or the source's
 * -errno, after which it may be called again and loses nothing.
 *
 * Damage does not end the reading: bytes that cannot be a record come as one
 * FXT_KIND_DAMAGED that reaches to the next plausible record (or the end).
 * Records and damage follow each other without a gap. Damage of length 0 is at
 * the beginning, where the magic number is missing, or at the end, where a
 * large record handed out before turned out to be cut short. A section of a
 * provider that was not announced is damage as well, yet the records in it are
 * read, with new tables.
 * A record of unknown type is taken for one if others follow it, or the end.
 *
 * Only the members of *@rec that belong to its kind, and as many arguments as
 * it has, are set.
 */
int fxt_reader_next(struct fxt_reader *r, struct fxt_record *rec);
/*
 * More payload of the current large BLOB, in order from its first byte: bytes
 * copied, 0 when there is no more, -ENODATA if the input ended inside it, or
 * the source's -errno.
 */
long fxt_reader_payload(struct fxt_reader *r, void *buf, size_t len);
/*
 * More of the current record as it is in the input, header and all, in order from its
 * first byte: returns as above. Of damage there is nothing. Not together with the payload.
 */
long fxt_reader_raw(struct fxt_reader *r, void *buf, size_t len);
/* Ticks per second now in force (1e9 before an initialization record), to turn ticks into time. */
uint64_t fxt_reader_ticks_per_second(const struct fxt_reader *r);
void fxt_reader_stats(const struct fxt_reader *r, struct fxt_reader_stats *stats);
void fxt_reader_close(struct fxt_reader *r);

const char *fxt_kind_name(enum fxt_kind kind);			/* "context_switch" */
const char *fxt_event_type_name(enum fxt_event_type type);	/* "duration_begin" */
const char *fxt_thread_state_name(enum fxt_thread_state state);	/* "blocked" */
/* The argument of that name, or NULL. */
const struct fxt_arg *fxt_record_arg(const struct fxt_record *rec, const char *name);

#ifdef __cplusplus
}
#endif

#endif
