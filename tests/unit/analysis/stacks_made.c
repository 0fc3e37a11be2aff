// SPDX-License-Identifier: GPL-2.0
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include "stacks_made.h"

#include <string.h>

static struct profile_frame frame_of(const char *text, size_t len)
{
	struct profile_frame f = { .name = fxt_str_n(text, len), .mapping = fxt_str("/bin/app"), .kind = PROFILE_NATIVE };

	if (len > 4 && !memcmp(text + len - 4, "_[k]", 4)) {
		f.name = fxt_str_n(text, len - 4);
		f.mapping = fxt_str("[kernel]");
		f.kind = PROFILE_KERNEL;
	} else if (len > 8 && !memcmp(text, "woken by", 8)) {
		f.mapping = fxt_str("waker");
		f.kind = 0;
	}
	return f;
}

void put_sample(struct stacks *s, enum profile_source source, uint64_t ts, uint64_t thread, uint64_t weight,
		const char *frames)
{
	struct profile_frame made[PROFILE_FRAMES_MAX + 8];
	struct profile_sample sample = {
		.ts = ts, .process = thread < 10 ? 0 : 10, .thread = thread, .pid = thread < 10 ? 0 : 10,
		.tid = (uint32_t)thread, .cpu = -1, .source = source, .weight = weight, .frames = made,
	};
	size_t len;

	for (; *frames; frames += len + (frames[len] == ';')) {
		len = strcspn(frames, ";");
		made[sample.frames_cnt++] = frame_of(frames, len);
	}
	assert_int_equal(stacks_add(s, &sample), 0);
}

void put_stack_names(struct stacks *s)
{
	static const struct {
		enum stacks_named what;
		uint64_t koid;
		const char *name;
	} names[] = {
		{ STACKS_PROCESS, 10, "app" }, { STACKS_PROCESS, 0, "kernel" }, { STACKS_THREAD, 11, "main" },
		{ STACKS_THREAD, 12, "worker" }, { STACKS_THREAD, 13, "logger" }, { STACKS_THREAD, 5, "kworker" },
		{ STACKS_THREAD, 11, "worker" }, { STACKS_CGROUP, 10, "/first" }, { STACKS_CGROUP, 10, "/app.slice" },
		{ STACKS_CONTAINER, 10, "0123" }, { STACKS_UNIT, 10, "app.service" },
	};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_int_equal(stacks_name(s, names[i].what, names[i].koid, fxt_str(names[i].name)), 0);
}
