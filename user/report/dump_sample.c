// SPDX-License-Identifier: GPL-2.0
/*
 * Stack samples, which are packets in BLOB records: a line each.
 */
#include "dump.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/json.h"
#include "base/log.h"
#include "profile/profile.h"

static const char *const kinds[PROFILE_FRAME_KIND_CNT] = {
	[PROFILE_NATIVE] = "native", [PROFILE_KERNEL] = "kernel", [PROFILE_INTERPRETED] = "interpreted", [PROFILE_JIT] = "jit",
};

static void print_text(struct fxt_str s)
{
	log_text_print(stdout, s.data, s.len);
}

/* "read", or where it is in its file if it has no name. */
static void print_frame(const struct profile_frame *f)
{
	if (f->name.len) {
		print_text(f->name);
		return;
	}
	print_text(f->mapping.len ? f->mapping : fxt_str("?"));
	printf("+0x%" PRIx64, f->rel_pc);
}

void dump_print_sample_text(const struct profile_sample *s, uint64_t offset)
{
	unsigned int i;

	printf("%10" PRIu64 " %8" PRIu64 ".%09" PRIu64 "  %-16s source=\"", offset, s->ts / 1000000000, s->ts % 1000000000,
	       DUMP_SAMPLE);
	print_text(s->source_name);
	printf("\" process=%" PRIu64 " thread=%" PRIu64, s->process, s->thread);
	if (s->cpu >= 0)
		printf(" cpu=%d", s->cpu);
	printf(" mode=%s weight=%" PRIu64 " stack=[", s->user_mode ? "user" : "kernel", s->weight);
	for (i = 0; i < s->frames_cnt; i++) {
		fputs(i ? "; " : "", stdout);
		print_frame(&s->frames[i]);
	}
	puts("]");
}

static void key_string(struct json *j, const char *key, struct fxt_str s)
{
	if (!s.len)
		return;
	json_key(j, key);
	json_string(j, s.data, s.len);
}

static void put_frame(struct json *j, const struct profile_frame *f)
{
	json_object(j);
	json_key(j, "name");
	json_string(j, f->name.data, f->name.len);
	key_string(j, "mapping", f->mapping);
	key_string(j, "build_id", f->build_id);
	if (f->rel_pc) {
		json_key(j, "rel_pc");
		json_pointer(j, f->rel_pc);
	}
	key_string(j, "source_file", f->source_file);
	if (f->line)
		json_key_u64(j, "line", f->line);
	if (kinds[f->kind])
		json_key_text(j, "kind", kinds[f->kind]);
	json_end(j);
}

void dump_print_sample_json(const struct profile_sample *s, uint64_t offset)
{
	struct json j;
	unsigned int i;

	json_init(&j, stdout, false);
	json_object(&j);
	json_key_u64(&j, "offset", offset);
	json_key_u64(&j, "ts_ns", s->ts);
	json_key_text(&j, "kind", DUMP_SAMPLE);
	key_string(&j, "source", s->source_name);
	json_key_u64(&j, "process", s->process);
	json_key_u64(&j, "thread", s->thread);
	if (s->cpu >= 0)
		json_key_u64(&j, "cpu", (uint64_t)s->cpu);
	json_key_text(&j, "mode", s->user_mode ? "user" : "kernel");
	json_key_u64(&j, "weight_ns", s->weight);
	json_key(&j, "frames");
	json_array(&j);
	for (i = 0; i < s->frames_cnt; i++)
		put_frame(&j, &s->frames[i]);
	json_end(&j);
	json_end(&j);
}
