/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes a file with one of every record: fxt_all_records FILE */
#include <errno.h>
#include <stdio.h>

#include "fxt_sample.h"

static int to_file(void *ctx, const void *data, size_t len)
{
	return fwrite(data, 1, len, ctx) == len ? 0 : -EIO;
}

int main(int argc, char **argv)
{
	struct fxt_writer *w;
	FILE *file;
	int err, close_err;

	if (argc != 2) {
		fprintf(stderr, "usage: fxt_all_records FILE\n");
		return 2;
	}
	file = fopen(argv[1], "wb");
	if (!file || fxt_writer_open(&w, to_file, file)) {
		perror(argv[1]);
		return 1;
	}
	err = fxt_sample_write(w, true);
	close_err = fxt_writer_close(w);
	if (fclose(file))
		close_err = -EIO;
	if (err || close_err)
		fprintf(stderr, "%s: error %d\n", argv[1], err ? err : close_err);
	return err || close_err;
}
