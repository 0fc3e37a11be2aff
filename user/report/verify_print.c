// SPDX-License-Identifier: GPL-2.0
/*
 * What kfxt verify found, as text and as JSON.
 */
#include "verify_print.h"

#include <inttypes.h>
#include <stdio.h>

#include "analysis/summary.h"
#include "base/json.h"
#include "schema.h"

static unsigned int offsets_cnt(const struct verify_finding *f)
{
	return f->count < VERIFY_OFFSETS_MAX ? (unsigned int)f->count : VERIFY_OFFSETS_MAX;
}

static void print_records(const struct verify *v)
{
	unsigned int kind;

	printf("records:\n");
	for (kind = 0; kind < FXT_KIND_CNT; kind++)
		if (v->stats.by_kind[kind])
			printf("  %-20s %12" PRIu64 "\n", fxt_kind_name((enum fxt_kind)kind),
			       v->stats.by_kind[kind]);
}

static void print_finding(const struct verify *v, enum verify_problem problem)
{
	const struct verify_finding *f = &v->findings[problem];
	unsigned int i;

	if (!f->count)
		return;
	printf("problem: %s: %" PRIu64 "\n  %s\n  at offset", verify_problem_name(problem), f->count,
	       verify_problem_text(problem));
	for (i = 0; i < offsets_cnt(f); i++)
		printf("%s %" PRIu64, i ? "," : "", f->offsets[i]);
	printf("%s\n", f->count > VERIFY_OFFSETS_MAX ? ", ..." : "");
	if (*f->first)
		printf("  the first: %s\n", f->first);
}

static void print_verdict(const struct verify *v)
{
	uint64_t cnt = verify_count(v);

	if (cnt)
		printf("%" PRIu64 " problem%s\n", cnt, cnt == 1 ? "" : "s");
	else
		printf("clean\n");
}

static void print_repaired(const struct timeline_session *s)
{
	if (!s->repaired)
		return;
	printf("note: the trace was repaired: %" PRIu64 " bytes that were damaged are not in it", s->dropped_bytes);
	if (s->damages)
		printf(", the first were at offset %" PRIu64, s->first_damage);
	printf("\n");
}

void verify_print_text(const struct verify *v)
{
	struct summary s;
	unsigned int i;

	summary_init(&s, v->tl, &v->stats);
	summary_print_text(&s);
	print_records(v);
	if (summary_has_gaps(&s))
		printf("note: events were lost while recording; the gaps are in the trace\n");
	print_repaired(&v->tl->session);
	for (i = 0; i < VERIFY_PROBLEM_CNT; i++)
		print_finding(v, (enum verify_problem)i);
	print_verdict(v);
}

static void print_json_finding(struct json *j, const struct verify *v, enum verify_problem problem)
{
	const struct verify_finding *f = &v->findings[problem];
	unsigned int i;

	json_object(j);
	json_key_text(j, "kind", verify_problem_name(problem));
	json_key_u64(j, "count", f->count);
	json_key(j, "offsets");
	json_array(j);
	for (i = 0; i < offsets_cnt(f); i++)
		json_u64(j, f->offsets[i]);
	json_end(j);
	json_key_text(j, "text", verify_problem_text(problem));
	json_key_text(j, "first", f->first);
	json_end(j);
}

void verify_print_json(const struct verify *v)
{
	struct summary s;
	struct json j;
	unsigned int i;

	summary_init(&s, v->tl, &v->stats);
	json_init(&j, stdout, false);
	json_schema_object(&j);
	summary_print_json(&s, &j);
	json_key(&j, "records");
	json_object(&j);
	for (i = 0; i < FXT_KIND_CNT; i++)
		json_key_u64(&j, fxt_kind_name((enum fxt_kind)i), v->stats.by_kind[i]);
	json_end(&j);
	json_key(&j, "problems");
	json_array(&j);
	for (i = 0; i < VERIFY_PROBLEM_CNT; i++)
		if (v->findings[i].count)
			print_json_finding(&j, v, (enum verify_problem)i);
	json_end(&j);
	json_key_bool(&j, "repaired", v->tl->session.repaired);
	json_key_bool(&j, "clean", !verify_count(v));
	json_end(&j);
}
