/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Trace Event JSON to FXT in memory: read, build, verify what came out, and check what must hold
 * for any input.
 */
#ifndef CHROME_PIPE_H
#define CHROME_PIPE_H

#include "format/chrome/reader.h"
#include "format/ftrace/convert_pipe.h"

struct chrome_pipe {
	struct convert_pipe out;	/* without a reader: err, built, fxt, problems */
	struct chrome_counts counts;
	const char *broken;		/* the first thing that does not hold, or NULL */
	bool is_same;			/* the FXT is that of @before */
};

/*
 * Converts @data, read in pieces of @chunk bytes. @before may be NULL, or another run: FXT of the
 * same bytes is not verified again.
 */
void chrome_pipe_run(struct chrome_pipe *p, const char *data, size_t len, size_t chunk,
		     const struct chrome_pipe *before);
void chrome_pipe_free(struct chrome_pipe *p);

#endif
