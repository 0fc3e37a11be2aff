// SPDX-License-Identifier: GPL-2.0
/*
 * Tables of what changed between two traces.
 */
#include "stacks_diff_print.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/columns.h"
#include "base/log.h"
#include "stacks_print.h"

static const char *const sides[STACKS_SIDES] = { "before", "after" };

static const struct stack_value *compared(const struct stacks_diff *d, const struct stacks_diff_row *row)
{
	return d->cfg.total ? row->total : row->self;
}

/* Functions that are compared: of the last ones there may be nothing. */
static size_t rows_cnt(const struct stacks_diff *d)
{
	const struct stack_value *v;
	size_t cnt = d->rows_cnt;

	for (; cnt; cnt--) {
		v = compared(d, &d->rows[cnt - 1]);
		if (v[STACKS_BEFORE].samples || v[STACKS_AFTER].samples)
			break;
	}
	return cnt;
}

static void print_side(const struct stacks_diff *d, const struct stacks_diff_print *p, unsigned int side)
{
	printf("%-7s ", sides[side]);
	log_text_print(stdout, p->paths[side], strlen(p->paths[side]));
	printf(": %" PRIu64 " %s samples", d->all[side].samples, profile_source_name(d->cfg.source));
	if (d->weights[side])
		printf(", %.3f ms", (double)d->all[side].weight_ns / 1e6);
	putchar('\n');
}

static void print_row(const struct stacks_diff *d, const struct stacks_diff_row *row, size_t width)
{
	const struct stack_value *v = compared(d, row);
	char name[STACKS_NAME_BYTES], sigma[16] = "-";
	int columns;

	stacks_name_text(pf_pool_str(&d->text, row->name), row->kind, name);
	if (d->cfg.source == PROFILE_CPU)
		snprintf(sigma, sizeof(sigma), "%.2f", stacks_diff_sigma(d, v));
	columns = printf("%7.2f%% %7.2f%% %+8.2f %7s  ", stacks_diff_share(d, v, STACKS_BEFORE),
			 stacks_diff_share(d, v, STACKS_AFTER), stacks_diff_delta(d, v), sigma);
	if (width)
		columns_cut(name, width > (size_t)columns ? width - (size_t)columns : 1);
	printf("%s\n", name);
}

static void print_rest(const struct stacks_diff *d, const struct stacks_diff_row *first, size_t cnt)
{
	printf("%zu more function%s that changed by at most %.2f (-n, --json)\n", cnt, cnt == 1 ? "" : "s",
	       fabs(stacks_diff_delta(d, compared(d, first))));
}

void stacks_diff_print_text(const struct stacks_diff *d, const struct stacks_diff_print *p)
{
	const size_t cnt = rows_cnt(d);
	size_t i;

	print_side(d, p, STACKS_BEFORE);
	print_side(d, p, STACKS_AFTER);
	printf("shares are of %s %s, delta and sigma in points\n\n", d->cfg.total ? "total" : "self",
	       d->weights[STACKS_BEFORE] && d->weights[STACKS_AFTER] ? "time" : "samples");
	printf("%8s %8s %8s %7s  function\n", "before", "after", "delta", "sigma");
	for (i = 0; i < cnt && i < p->top; i++)
		print_row(d, &d->rows[i], p->width);
	if (i < cnt)
		print_rest(d, &d->rows[i], cnt - i);
}

/* ---- JSON -------------------------------------------------------------------- */

static void print_ns_json(struct json *j, const struct stacks_diff *d, struct stack_value v, unsigned int side)
{
	json_key_u64(j, "samples", v.samples);
	json_key(j, "ns");
	if (d->weights[side])
		json_u64(j, v.weight_ns);
	else
		json_null(j);
}

static void print_values_json(struct json *j, const struct stacks_diff *d, const char *what,
			      const struct stack_value values[STACKS_SIDES])
{
	unsigned int side;

	json_key(j, what);
	json_object(j);
	for (side = 0; side < STACKS_SIDES; side++) {
		json_key(j, sides[side]);
		json_object(j);
		print_ns_json(j, d, values[side], side);
		json_key_fixed(j, "percent", stacks_diff_share(d, values, side), 4);
		json_end(j);
	}
	json_key_fixed(j, "delta", stacks_diff_delta(d, values), 4);
	json_key(j, "sigma");
	if (d->cfg.source == PROFILE_CPU)
		json_fixed(j, stacks_diff_sigma(d, values), 4);
	else
		json_null(j);
	json_end(j);
}

static void print_row_json(struct json *j, const struct stacks_diff *d, const struct stacks_diff_row *row)
{
	const struct fxt_str name = pf_pool_str(&d->text, row->name);

	json_line(j, "");
	json_object(j);
	json_key(j, "function");
	if (name.len)
		json_string(j, name.data, name.len);
	else
		json_null(j);
	json_key_text(j, "kind", stacks_kind_name(row->kind));
	print_values_json(j, d, "self", row->self);
	print_values_json(j, d, "total", row->total);
	json_end(j);
}

void stacks_diff_print_json(struct json *j, const struct stacks_diff *d, const struct stacks_diff_print *p)
{
	unsigned int side;
	size_t i;

	json_key_text(j, "source", profile_source_name(d->cfg.source));
	json_key_text(j, "sorted_by", d->cfg.total ? "total" : "self");
	for (side = 0; side < STACKS_SIDES; side++) {
		json_key(j, sides[side]);
		json_object(j);
		json_key_text(j, "file", p->paths[side]);
		print_ns_json(j, d, d->all[side], side);
		json_end(j);
	}
	json_key(j, "functions");
	json_array(j);
	for (i = 0; i < d->rows_cnt && i < p->top; i++)
		print_row_json(j, d, &d->rows[i]);
	json_end(j);
}
