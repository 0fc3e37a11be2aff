/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A process that makes the tracefs instance and removes it. Some of these writes wait in the kernel for
 * a grace period or for a worker of each CPU, for as long as other tasks keep these from running, and
 * whoever waits there cannot be killed: the recorder begins and ends without it.
 */
#ifndef SOURCE_MARKER_HELPER_H
#define SOURCE_MARKER_HELPER_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/source.h"
#include "marker_page.h"

struct marker_helper;

/* Of the buffer of a CPU. */
struct marker_files {
	int pipe, stats;	/* trace_pipe_raw, which does not block, and stats; -1: not there yet */
};

enum helper_state {
	HELPER_WORKS,		/* copies have not begun yet */
	HELPER_READY,		/* they have */
	HELPER_FAILED,		/* they never will */
	HELPER_ENDED,		/* no more of them */
};

/*
 * Begins to make @dir, an instance of the tracefs that is mounted at @tracefs, of which @option turns copies on. All are
 * copied. 0 or -errno: there is no process.
 */
int marker_helper_open(struct marker_helper **out, const char *tracefs, const char *dir, const char *option);
/* Asks for copies into @bytes of memory of each of these CPUs. 0 or -errno. */
int marker_helper_begin(struct marker_helper *h, const uint32_t *cpus, unsigned int cpus_cnt, uint64_t bytes);
/* Asks for the end of copies, waits for that for at most @wait_ms and says whether it came. */
bool marker_helper_end(struct marker_helper *h, unsigned int wait_ms);
/* Readable when marker_helper_look() has something to say, and always once the process has ended. */
int marker_helper_fd(const struct marker_helper *h);
/* How far it is, after at most @wait_ms of waiting for another state than HELPER_WORKS. */
enum helper_state marker_helper_look(struct marker_helper *h, unsigned int wait_ms);
/* Once it is at HELPER_READY: what the pages are like, and the files of the @i'th CPU that was asked for; they stay its own. */
const struct marker_format *marker_helper_format(const struct marker_helper *h);
struct marker_files marker_helper_files(const struct marker_helper *h, unsigned int i);
/* CLOCK_BOOTTIME since which there are copies; 0: there are none yet. */
uint64_t marker_helper_since(const struct marker_helper *h);
/* What it waits for or what failed, as part of a sentence: "the kernel waits for a worker of CPU 1". */
const char *marker_helper_why(const struct marker_helper *h, char buf[SOURCE_WHY_BYTES]);
/*
 * Closes its files, has the instance removed, and waits for that for at
 * most @wait_ms. false: the process goes on until the kernel lets it remove it. NULL is fine.
 */
bool marker_helper_close(struct marker_helper *h, unsigned int wait_ms);

#endif
