// SPDX-License-Identifier: GPL-2.0
/*
 * The two ways in which printing results can fail.
 */
#include "output.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <string.h>

#include "exit.h"
#include "base/log.h"

#define BUFFER_BYTES	(64 * 1024)

void output_begin(void)
{
	static char buffer[BUFFER_BYTES];	/* glibc takes a size only with a buffer */

	/* A closed pipe then shows as EPIPE instead of ending us by a signal, and a limit as EFBIG. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
}

bool output_failed(void)
{
	return ferror(stdout);
}

int output_end(const char *command, int code)
{
	bool failed = ferror(stdout);
	int err;

	/* After a failure the bytes are still there and the flush fails as before. */
	errno = 0;
	if (!fflush(stdout) && !failed)
		return code;
	err = errno;
	/* Reported once, however often this is called. */
	__fpurge(stdout);
	clearerr(stdout);
	if (err == EPIPE)
		return code;
	log_error("%s: stdout: cannot write: %s", command, strerror(err ? err : EIO));
	return EXIT_FAILED;
}
