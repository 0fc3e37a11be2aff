// SPDX-License-Identifier: GPL-2.0
#include "broker_made.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "base/clock.h"

const uint64_t broker_trace[3] = { 0x0016547846040010, 0x21, 0 };
const struct broker_request broker_request = { .purpose = "runq>5ms", .when = BROKER_WHEN };

struct broker *broker_make(struct broker_cfg cfg)
{
	struct broker *b = NULL;
	char why[BROKER_WHY_BYTES] = "";

	cfg.pattern = cfg.pattern ?: "p-%Y%m%dT%H%M%SZ-%t.fxt";
	if (broker_open(&b, &cfg, why, sizeof(why)))
		fail_msg("%s", why);
	return b;
}

void broker_make_file(struct broker *b, struct broker_file *file)
{
	const int err = broker_file_open(b, &broker_request, file);

	if (err)
		fail_msg("%d: %s", err, broker_why(b));
}

void broker_put(struct broker *b, const struct broker_request *req, size_t bytes, bool hook, char *path)
{
	struct broker_file file;

	assert_int_equal(broker_file_open(b, req, &file), 0);
	assert_int_equal(ftruncate(file.fd, bytes), 0);
	close(file.fd);
	assert_int_equal(broker_file_publish(b, &file, hook), 0);
	if (path)
		strcpy(path, file.path);
}

void broker_settle(struct broker *b)
{
	struct broker_file file;

	broker_make_file(b, &file);
	close(file.fd);
	assert_int_equal(broker_file_discard(b, &file), 0);
}

void broker_wait_for(struct broker *b, enum broker_event event, struct broker_notice *notice)
{
	const uint64_t end_ns = clock_ns(CLOCK_MONOTONIC) + 30000 * NS_PER_MS;
	struct pollfd pfd = { .fd = broker_fd(b), .events = POLLIN };

	while (clock_ns(CLOCK_MONOTONIC) < end_ns) {
		if (!broker_next_notice(b, notice))
			poll(&pfd, 1, 100);
		else if (notice->event == event)
			return;
	}
	fail_msg("no notice %d", event);
}

off_t broker_size_of(const char *name)
{
	struct stat st;

	return lstat(name, &st) ? -1 : st.st_size;
}

pid_t broker_find(pid_t recorder)
{
	const struct dirent *entry;
	DIR *dir = opendir("/proc");
	char path[300], comm[32];
	int pid = 0, ppid;
	bool found = false;

	assert_non_null(dir);
	while (!found && (entry = readdir(dir))) {
		FILE *f;

		snprintf(path, sizeof(path), "/proc/%s/stat", entry->d_name);
		f = atoi(entry->d_name) ? fopen(path, "re") : NULL;
		found = f && fscanf(f, "%d (%31[^)]) %*c %d", &pid, comm, &ppid) == 3 && ppid == recorder &&
			!strcmp(comm, "kfxt-files");
		if (f)
			fclose(f);
	}
	closedir(dir);
	assert_true(found);
	return pid;
}

uint64_t broker_status(pid_t pid, const char *name, int base)
{
	char path[64], line[256];
	uint64_t value = UINT64_MAX;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "re");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		if (!strncmp(line, name, strlen(name)) && line[strlen(name)] == ':')
			value = strtoull(line + strlen(name) + 1, NULL, base);
	fclose(f);
	assert_true(value != UINT64_MAX);
	return value;
}
