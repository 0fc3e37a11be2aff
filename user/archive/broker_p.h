/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the recorder and the broker send to one another: packets over a socket of type SOCK_SEQPACKET. The broker
 * trusts nothing in a request, since the recorder reads data of other programs.
 */
#ifndef ARCHIVE_BROKER_P_H
#define ARCHIVE_BROKER_P_H

#include "broker.h"

enum broker_verb {
	BROKER_OPEN,
	BROKER_PUBLISH,
	BROKER_DISCARD,
	BROKER_SPACE,
	BROKER_END,
};

struct broker_ask {
	uint32_t verb;			/* enum broker_verb */
	uint32_t id;			/* of the request, not 0; that of BROKER_OPEN is the file's from then on */
	uint32_t file;
	uint8_t keep;
	uint8_t how;			/* BROKER_PUBLISH: enum broker_publish */
	uint8_t known;			/* of cfg.purposes, from 1 on; 0: none of them */
	int64_t when;
	uint64_t needs_bytes;
	char purpose[NAME_PART_MAX + 1];
};

struct broker_answer {
	uint32_t id;			/* of the request; 0: a notice */
	int32_t err;			/* 0 or -errno */
	uint32_t verb;			/* of the request */
	enum broker_event event;	/* of a notice */
	uint32_t files;
	uint64_t bytes;
	struct broker_counts counts;
	char name[NAME_MAX + 1];
	char why[BROKER_WHY_BYTES];
};

#define BROKER_FIRST_ID	1U	/* the broker itself begins with this answer, when it is ready */

/* Of the new process: never returns. @dir is an open directory, @path its path from the root. */
struct broker_process {
	int socket, dir;
	const char *path;
	const struct name_pattern *names;
	const struct broker_cfg *cfg;
};
void broker_serve(const struct broker_process *p) __attribute__((noreturn));

#endif
