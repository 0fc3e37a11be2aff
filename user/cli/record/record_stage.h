/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How a recording becomes another format than FXT, on its way to the output.
 */
#ifndef CLI_RECORD_STAGE_H
#define CLI_RECORD_STAGE_H

#include "format/formats.h"
#include "io/stage.h"

/* What makes the format that @writer writes of records: NULL if that is FXT, or if only kfxt convert can. */
const struct stage_ops *record_stage(const struct writer_ops *writer);

#endif
