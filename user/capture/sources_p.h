/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Inside the set of sources.
 */
#ifndef CAPTURE_SOURCES_P_H
#define CAPTURE_SOURCES_P_H

#include "bpf/abi/raw.h"
#include "source.h"
#include "sources.h"

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
};

/* Opens what is selected. Errors are those of sources_choose(). */
int sources_open_selected(struct sources *s, const char *root, char *why, size_t why_size);
void sources_close_selected(struct sources *s);

#endif
