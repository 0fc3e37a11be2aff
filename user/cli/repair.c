// SPDX-License-Identifier: GPL-2.0
/*
 * kfxt verify --repair: the files, and the messages about them.
 */
#include "repair.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/repair.h"
#include "io/sink.h"
#include "io/temp_file.h"
#include "exit.h"
#include "io/input.h"
#include "base/log.h"

struct source {
	struct input *in;
	bool cut;
};

/* What was compressed while it was written ends early in its own way; what came so far is good. */
static long read_source(void *ctx, void *buf, size_t len)
{
	struct source *s = ctx;
	long n = s->cut ? 0 : input_read(s->in, buf, len);

	if (n != -ENODATA && n != -EBADMSG)
		return n;
	s->cut = true;
	log_warn("verify: %s: %s", input_name(s->in), input_error((int)n));
	return 0;
}

/* Whether there is anything at @out that must not be replaced; the message is printed. */
static bool is_in_the_way(const char *in, const char *out)
{
	struct stat to, from;
	const bool has_from = !(strcmp(in, "-") ? stat(in, &from) : fstat(STDIN_FILENO, &from));

	if (!strcmp(out, "-")) {
		log_error("verify: -o -: --repair writes regular files only");
		return true;
	}
	if (stat(out, &to))
		return false;
	if (has_from && from.st_dev == to.st_dev && from.st_ino == to.st_ino) {
		log_error("verify: %s: is the trace to be repaired (give another name)", out);
		return true;
	}
	if (!S_ISREG(to.st_mode))
		log_error("verify: %s: is not a regular file", out);
	return !S_ISREG(to.st_mode);
}

static const char *plural_s(uint64_t cnt)
{
	return cnt == 1 ? "" : "s";
}

static void show_damage(uint64_t offset, uint64_t len, const char *reason)
{
	if (len)
		log_warn("dropped %" PRIu64 " byte%s at offset %" PRIu64 ": %s", len, plural_s(len), offset, reason);
	else
		log_warn("%s: added", reason);
}

static void show(const char *out, const struct repair_result *res)
{
	const uint64_t bytes = res->kept_bytes + res->dropped_bytes;
	unsigned int i;

	if (repair_was_whole(res)) {
		log_info("%s: nothing to repair, copied", out);
		return;
	}
	for (i = 0; i < REPAIR_SHOWN_MAX && i < res->damages; i++)
		show_damage(res->shown[i].offset, res->shown[i].len, res->shown[i].reason);
	if (res->damages > REPAIR_SHOWN_MAX)
		log_warn("dropped more at %" PRIu64 " other places", res->damages - REPAIR_SHOWN_MAX);
	if (res->cut && !res->ended)
		log_warn("the end is missing: every CPU was ended already");
	else if (res->cut)
		log_warn("the end is missing: %u CPU%s ended at the last switch of each", res->ended,
			 res->ended == 1 ? " was" : "s were");
	if (res->gaps)
		log_warn("%" PRIu64 " gap%s drawn where switches may be missing", res->gaps,
			 res->gaps == 1 ? " was" : "s were");
	log_info("%s: repaired: %" PRIu64 " record%s kept, %" PRIu64 " of %" PRIu64 " bytes dropped", out,
		 res->records, plural_s(res->records), res->dropped_bytes, bytes);
}

/* Gives @temp, which is complete, its name. */
static int publish(FILE *file, const char *temp, const char *out, const char **hint)
{
	/* The name must not be on the disk before the bytes are. */
	if (fflush(file) || fsync(fileno(file)))
		return -errno;
	return sink_replace(temp, out, hint);
}

/* @temp is the path of @file. An exit code; the message is printed. */
static int repair_into(struct source *src, FILE *file, const char *temp, const char *out)
{
	struct repair_result res;
	const char *hint = NULL;
	int err = repair_copy(read_source, src, &src->cut, file, &res);

	if (err == -ENODATA) {
		log_error("verify: %s: not a Fuchsia trace: there is no record in it", input_name(src->in));
	} else if (err == -EPROTO) {
		log_error("verify: %s: not a Fuchsia trace: no magic number at the start and no %d records in a row (nothing was written)",
			  input_name(src->in), REPAIR_RUN_MIN);
	} else if (err && !res.output_failed) {
		log_error("verify: %s: %s", input_name(src->in), input_error(err));
	} else {
		err = err ?: publish(file, temp, out, &hint);
		if (err)
			log_error("verify: %s: cannot write: %s%s%s%s", out, strerror(-err), hint ? " (" : "", hint ?: "",
				  hint ? ")" : "");
	}
	if (err)
		return EXIT_FAILED;
	show(out, &res);
	return EXIT_OK;
}

static int repair_input(struct source *src, const char *out)
{
	char *temp;
	FILE *file;
	int code = EXIT_FAILED, fd;

	if (asprintf(&temp, "%s.XXXXXX", out) < 0) {
		log_error("verify: out of memory");
		return code;
	}
	/* In the same directory and mode 0600. */
	fd = temp_file_make(temp);
	errno = fd < 0 ? -fd : 0;
	file = fd < 0 ? NULL : fdopen(fd, "w");
	if (file)
		code = repair_into(src, file, temp, out);
	else
		log_error("verify: %s: cannot write: %s", out, strerror(errno));
	if (fd >= 0 && code)
		unlink(temp);
	if (file)
		fclose(file);
	else if (fd >= 0)
		close(fd);
	temp_file_end();
	free(temp);
	return code;
}

int repair_file(const char *in, const char *out)
{
	struct source src = { 0 };
	int err, code;

	if (is_in_the_way(in, out))
		return EXIT_USAGE;
	err = input_open(&src.in, in);
	if (err) {
		log_error("verify: %s: %s", in, input_error(err));
		return err == -ENOTTY ? EXIT_USAGE : EXIT_FAILED;
	}
	code = repair_input(&src, out);
	input_close(src.in);
	return code;
}
