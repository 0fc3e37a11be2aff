/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a recording cost and what it left out for that, in its summary and as JSON.
 */
#ifndef CLI_RECORD_COST_H
#define CLI_RECORD_COST_H

struct budget;
struct json;

/* To stderr; nothing if @b is NULL. */
void record_cost_print(const struct budget *b);
/* Members "cost" and "budget" of the object that is open, null if they are not known. */
void record_cost_print_json(struct json *j, const struct budget *b);

#endif
