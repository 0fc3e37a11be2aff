/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Inside the window. Threads: the drain's, which calls it, one that compresses blocks, and one for each dump at a time.
 */
#ifndef WINDOW_WINDOW_P_H
#define WINDOW_WINDOW_P_H

#include <pthread.h>

#include "io/packed.h"
#include "window.h"

/* Records from the end of a round to that of another one. */
struct block {
	struct block *next;		/* the one after it, once it has ended */
	struct piece_cut begin;		/* the cut where it begins, with @bounds of its own */
	uint64_t *bounds;
	uint64_t from_ns, to_ns;	/* when the rounds had ended; @from_ns is 0 if it was none */
	/* The drain's until it has ended; then of those who have the lock or, until @is_packed, of the thread that compresses. */
	unsigned char *raw;		/* NULL: it is compressed */
	size_t raw_len, raw_cap;
	struct packed packed;
	bool is_packed;			/* or could not be */
	unsigned int refs;		/* of the list, and of dumps */
	bool given_up;
};

/* What fxt writers write to. */
struct bytes {
	unsigned char *data;
	size_t len, cap;
};

enum dump_state {
	DUMP_NONE,
	DUMP_READY,			/* to be written, or being written */
	DUMP_ENDED,			/* to be reported */
};

/*
 * A dump on its way; its thread has it from DUMP_READY to DUMP_ENDED, but for what is said to be of those who have the
 * lock.
 */
struct dump {
	struct window *window;
	pthread_t thread;
	enum dump_state state;
	int given_up;			/* -errno, to be reported. With the lock, and seen without it. */
	bool reported;			/* of those who have the lock: it was, and the thread goes on */
	uint64_t moved_ns;		/* CLOCK_MONOTONIC, atomic: when the thread got on last */
	int fd;
	int (*check)(int fd);
	uint64_t number, realtime_offset_ns;
	struct bytes head, tail;	/* the head is empty if the first block has its own */
	struct piece_counts *counts;	/* of the file, for its ledger */
	struct block **blocks;		/* of those who have the lock; NULL: it is done with */
	size_t blocks_cnt, skipped;	/* of these the first ones are not to be in the file */
	size_t at;			/* the one that the thread uses without the lock; SIZE_MAX: none */
	struct window_dumped result;
};

struct window {
	struct window_cfg cfg;
	struct compress_cfg packing;	/* of blocks */
	uint64_t block_bytes, block_ns, waiting_max;

	/* of the drain */
	struct piece_state *live, *front;	/* has all records; has those that were given up */
	bool has_records, has_given_up;
	struct block *filling;
	uint64_t now_ns;
	struct unpacker *unpacker;
	bool front_in_block;		/* has a part of the oldest one */
	int err;

	pthread_t pack_thread;
	unsigned int threads;		/* that were started, the one above first */
	int fd;				/* eventfd */

	pthread_mutex_t lock;		/* of what follows */
	pthread_cond_t changed;
	unsigned int inits;		/* threads that called thread.begin() */
	int init_err;
	bool ending;
	struct block *oldest, *newest;	/* that have ended */
	struct block *to_pack;		/* the first one that is not compressed */
	size_t blocks;
	uint64_t held_bytes, raw_bytes;	/* of those and of the one being filled, without the state of pieces */
	uint64_t waiting_bytes;		/* raw, to be compressed */
	uint64_t given_up_bytes;
	uint64_t added_bytes, packed_from_bytes, packed_bytes;	/* as of struct window_totals */
	struct dump dumps[WINDOW_DUMPS];
};

/* ---- blocks.c: of the drain, but for the last two ------------------------------------------ */

/* One that begins at @cut. 0 or -ENOMEM. */
int window_block_begin(struct window *w, const struct piece_cut *cut);
/* Memory that it takes; capacity that has not been written to takes none. With the lock. */
uint64_t window_block_bytes(const struct block *b);
/* Ends the one being filled, if it has any records, and begins the next one. 0 or -ENOMEM. */
int window_block_end(struct window *w, const struct piece_cut *cut);
/* Waits until the oldest one is compressed, takes it off the list, and feeds @front with it. 0 or -errno. */
int window_give_up(struct window *w);
/* Calls @take with the records of a block that is compressed, or that could not be, a part at a time. 0 or -errno. */
int window_block_each(const struct block *b, struct unpacker *u, int (*take)(void *ctx, const void *records, size_t len),
		      void *ctx);
/* With the lock. */
void window_block_put(struct window *w, struct block *b);

/* ---- pack.c, dump.c, write.c ---------------------------------------------------------------- */

/* The thread that compresses, and those that write. */
void *window_pack_thread(void *w);
void *window_dump_thread(void *dump);
/* Calls thread.begin(), and says so. False: the thread is to end. Before it ends it calls thread.end(). */
bool window_thread_begin(struct window *w, const char *name);

/* As struct fxt_write_fn; @ctx is a struct bytes. */
int window_bytes_write(void *ctx, const void *data, size_t len);
/* The head of a file that begins with @b, from @s; @to is emptied. 0 or -errno. */
int window_write_head(const struct window *w, const struct dump *d, const struct piece_state *s, const struct block *b,
		      struct bytes *to);
/* Adds the ledger of @counts to the tail. 0 or -errno. */
int window_write_ledger(const struct piece_counts *counts, struct bytes *to);
/* Frees what it has; it is DUMP_NONE then. With the lock. */
void window_dump_free(struct dump *d);
/* Gives up one that is DUMP_READY. With the lock. */
void window_dump_give_up(struct dump *d, int err);
/* Whether its thread has not got on for too long. */
bool window_dump_stalls(const struct dump *d);
/* The thread gets on. */
void window_dump_move(struct dump *d);
/* Writes it. 0 or -errno. */
int window_dump_write(struct dump *d);

#endif
