/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Inside the set of sources.
 */
#ifndef CAPTURE_SOURCES_P_H
#define CAPTURE_SOURCES_P_H

#include "bpf/abi/raw.h"
#include "source.h"
#include "sources.h"

struct aside;

struct sources {
	const struct source_ops *const *table;	/* RAW_KIND_CNT of them, by kind */
	bool has[RAW_KIND_CNT];		/* selected */
	bool bare[RAW_KIND_CNT];	/* without programs */
	bool named[RAW_KIND_CNT];	/* by a word of the user */
	bool needed[RAW_KIND_CNT];	/* by a trigger */
	bool detached[RAW_KIND_CNT];	/* while the recording goes on */
	bool ended[RAW_KIND_CNT];	/* of these, its programs have */
	struct source_ctx ctx;
	void *state[RAW_KIND_CNT];	/* of those that have one */
	uint64_t decoded[RAW_KIND_CNT];	/* deferred records */
	struct aside *aside;		/* sources_aside.c; NULL: not yet */
	size_t aside_at[RAW_KIND_CNT];	/* what each one shares is there; 0: it shares nothing */
	size_t aside_bytes;
	bool is_late[RAW_KIND_CNT];
	bool is_counted_late;		/* or not at all */
	const char *aside_lost;		/* why they do not record any more; NULL: they do */
	char aside_waits[SOURCE_WHY_BYTES];
};

/* Opens what is selected. Errors are those of sources_choose(). */
int sources_open_selected(struct sources *s, const char *root, char *why, size_t why_size);
void sources_close_selected(struct sources *s);

/* sources_aside.c: whether the kind is late, and the news of all. */
bool sources_aside_late(const struct sources *s, unsigned int kind, struct source_late *late);
void sources_aside_take(struct sources *s);
void sources_aside_close(struct sources *s);

#endif
