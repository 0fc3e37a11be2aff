/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The version of the names in our JSON output: it changes when a name or its meaning does.
 */
#ifndef REPORT_SCHEMA_H
#define REPORT_SCHEMA_H

#include "base/json.h"

#define JSON_SCHEMA	2

/* Opens the outermost object, whose first member is "schema". */
static inline void json_schema_object(struct json *j)
{
	json_object(j);
	json_key_u64(j, "schema", JSON_SCHEMA);
}

#endif
