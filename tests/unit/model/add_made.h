/* SPDX-License-Identifier: GPL-2.0 */
/*
 * For the tests of builder_add(): events made by hand. Failures end the test.
 */
#ifndef ADD_MADE_H
#define ADD_MADE_H

#include "build_made.h"

struct model_id id_number(int64_t n);
struct model_id id_word(const char *text);
uint32_t find_track(struct build *t, enum model_track_kind kind, struct model_id process, struct model_id thread);
uint32_t find_thread(struct build *t, int64_t pid, int64_t tid);
/* @ev of that name; of category "cat" if it has none. */
void add_event(struct build *t, struct model_event ev, const char *name);
void add_kind(struct build *t, enum model_kind kind, uint32_t track, uint64_t ts, const char *name);
/* MODEL_SLICE */
void add_slice(struct build *t, uint32_t track, uint64_t from, uint64_t to, const char *name);
void add_id(struct build *t, enum model_kind kind, uint32_t track, uint64_t ts, uint64_t id, const char *name);

#endif
