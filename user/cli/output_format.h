/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the name of an output says.
 */
#ifndef CLI_OUTPUT_FORMAT_H
#define CLI_OUTPUT_FORMAT_H

#include "format/formats.h"
#include "io/compress.h"

/*
 * The writer of files that are called like @path: "t.json", or "t.json.gz", of which *@method is how it
 * is compressed. FXT is compressed by options only. NULL: no memory.
 */
const struct writer_ops *output_format(const char *path, enum compress_method *method);

#endif
