// SPDX-License-Identifier: GPL-2.0
/*
 * Formats and compression by the name of a file.
 */
#include "output_format.h"

#include <stdlib.h>
#include <string.h>

/* Cuts off the suffix of @method. */
static bool cut_suffix(char *name, enum compress_method method)
{
	const char *suffix = compress_suffix(method);
	size_t len = strlen(name), end = strlen(suffix);

	if (len <= end || strcmp(name + len - end, suffix) != 0)
		return false;
	name[len - end] = 0;
	return true;
}

const struct writer_ops *output_format(const char *path, enum compress_method *method)
{
	const struct writer_ops *writer;
	enum compress_method m = COMPRESS_NONE + 1;
	char *name = strdup(path);

	if (!name)
		return NULL;
	while (m < COMPRESS_METHOD_CNT && !cut_suffix(name, m))
		m++;
	writer = formats_writer(name);
	*method = m < COMPRESS_METHOD_CNT && !writer->writes_fxt ? m : COMPRESS_NONE;
	free(name);
	return writer;
}
