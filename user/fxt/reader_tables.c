/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What records register for those that follow: providers, and of each its
 * strings, threads and tick rate.
 */
#include "reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TICKS_DEFAULT	1000000000ULL	/* "Timestamps": 1 tick is 1 nanosecond */
#define STRINGS_MIN	256U

static struct fxt_provider *new_provider(uint32_t id)
{
	struct fxt_provider *p = calloc(1, sizeof(*p));

	if (p) {
		p->id = id;
		p->ticks_per_second = TICKS_DEFAULT;
	}
	return p;
}

static void free_strings(struct fxt_provider *p)
{
	unsigned int i;

	for (i = 0; i < p->strings_cnt; i++)
		free(p->strings[i].data);
	free(p->strings);
	p->strings = NULL;
	p->strings_cnt = 0;
}

static void free_provider(struct fxt_provider *p)
{
	if (p)
		free_strings(p);
	free(p);
}

/* A provider announced anew starts from nothing. */
static void reset(struct fxt_provider *p, uint32_t id)
{
	free_strings(p);
	memset(p, 0, sizeof(*p));
	p->id = id;
	p->ticks_per_second = TICKS_DEFAULT;
}

int fxt_tables_open(struct fxt_reader *r)
{
	r->unnamed = new_provider(0);
	r->spare = new_provider(0);
	r->current = r->unnamed;
	return r->unnamed && r->spare ? 0 : -ENOMEM;
}

void fxt_tables_close(struct fxt_reader *r)
{
	unsigned int i;

	for (i = 0; i < r->providers_cnt; i++)
		free_provider(r->providers[i]);
	free_provider(r->spare);
	free_provider(r->unnamed);
}

static struct fxt_provider *find_provider(const struct fxt_reader *r, uint32_t id)
{
	unsigned int i;

	for (i = 0; i < r->providers_cnt; i++)
		if (r->providers[i]->id == id)
			return r->providers[i];
	return id ? NULL : r->unnamed;
}

bool fxt_tables_known(const struct fxt_reader *r, uint32_t provider)
{
	return find_provider(r, provider);
}

/* Makes a new provider current. Beyond the limit it is the spare, which remembers only itself. */
static int add_provider(struct fxt_reader *r, uint32_t id, const char **reason)
{
	struct fxt_provider *p;

	if (r->providers_cnt == FXT_PROVIDERS_MAX) {
		*reason = "more than 64 providers";
		reset(r->spare, id);
		r->current = r->spare;
		return 0;
	}
	p = new_provider(id);
	if (!p)
		return -ENOMEM;
	r->providers[r->providers_cnt++] = p;
	r->current = p;
	return 0;
}

/* "Provider info metadata" */
static int apply_info(struct fxt_reader *r, const struct fxt_record *rec, const char **reason)
{
	struct fxt_provider *p = find_provider(r, rec->provider.id);
	int err;

	if (p) {
		reset(p, rec->provider.id);
		r->current = p;
	} else {
		err = add_provider(r, rec->provider.id, reason);
		if (err)
			return err;
	}
	p = r->current;
	p->name_len = rec->provider.name.len;
	memcpy(p->name, rec->provider.name.data, p->name_len);
	return 0;
}

/* "Provider section metadata" */
static int apply_section(struct fxt_reader *r, struct fxt_record *rec, const char **reason)
{
	struct fxt_provider *p = find_provider(r, rec->provider.id);

	if (p) {
		r->current = p;
		rec->provider.name = fxt_str_n(p->name, p->name_len);
		return 0;
	}
	*reason = "section of a provider that was not announced";
	return add_provider(r, rec->provider.id, reason);
}

static int grow_strings(struct fxt_provider *p, unsigned int index)
{
	unsigned int cnt = p->strings_cnt ? p->strings_cnt : STRINGS_MIN;
	struct fxt_string_slot *slots;

	while (cnt <= index)
		cnt *= 2;
	slots = realloc(p->strings, cnt * sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	memset(slots + p->strings_cnt, 0, (cnt - p->strings_cnt) * sizeof(*slots));
	p->strings = slots;
	p->strings_cnt = cnt;
	return 0;
}

/* "String record": index 0 is ignored, others replace what was there. */
static int apply_string(struct fxt_provider *p, unsigned int index, const struct fxt_str *s)
{
	char *copy;
	int err;

	if (!index)
		return 0;
	if (index >= p->strings_cnt) {
		err = grow_strings(p, index);
		if (err)
			return err;
	}
	copy = malloc(s->len + 1);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, s->data, s->len);
	free(p->strings[index].data);
	p->strings[index].data = copy;
	p->strings[index].len = s->len;
	return 0;
}

/* "Thread record": index 0 is ignored. */
static void apply_thread(struct fxt_provider *p, unsigned int index, const struct fxt_thread *t)
{
	if (!index)
		return;
	p->threads[index] = *t;
	p->threads[index].inlined = false;
	p->threads_known[index] = true;
}

int fxt_tables_apply(struct fxt_reader *r, struct fxt_record *rec, const char **reason)
{
	const struct fxt_provider *p;

	switch (rec->kind) {
	case FXT_KIND_PROVIDER_INFO:
		return apply_info(r, rec, reason);
	case FXT_KIND_PROVIDER_SECTION:
		return apply_section(r, rec, reason);
	case FXT_KIND_PROVIDER_EVENT:
		p = find_provider(r, rec->provider.id);
		if (p)
			rec->provider.name = fxt_str_n(p->name, p->name_len);
		return 0;
	case FXT_KIND_INITIALIZATION:
		r->current->ticks_per_second = rec->ticks_per_second;
		return 0;
	case FXT_KIND_STRING:
		return apply_string(r->current, rec->string.index, &rec->string.value);
	case FXT_KIND_THREAD:
		apply_thread(r->current, rec->thread.index, &rec->thread.value);
		return 0;
	default:
		return 0;
	}
}
