// SPDX-License-Identifier: GPL-2.0
#include "record_begin.h"

#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/log.h"

#define FILES_TABLE	16384	/* which take 128 KiB of the kernel's memory */

void record_grow_file_table(void)
{
	const int fd = open("/", O_PATH | O_CLOEXEC);
	struct rlimit files, all;

	if (fd < 0)
		return;
	if (!getrlimit(RLIMIT_NOFILE, &files)) {
		all = (struct rlimit){ files.rlim_max, files.rlim_max };
		setrlimit(RLIMIT_NOFILE, &all);
		close(fcntl(fd, F_DUPFD_CLOEXEC, (all.rlim_cur < FILES_TABLE ? (int)all.rlim_cur : FILES_TABLE) - 1));
		setrlimit(RLIMIT_NOFILE, &files);
	}
	close(fd);
}

void record_say_stuck(const char *where)
{
	if (strstr(where, "rcu"))
		log_warn("no event yet: the kernel waits for an RCU grace period, as it does after another tracer has ended; if a "
			 "CPU is kept busy by a real-time thread, kfxt check says which");
	else
		log_warn("no event yet: the kernel lets the recorder wait%s%s", *where ? " in " : "", where);
}
