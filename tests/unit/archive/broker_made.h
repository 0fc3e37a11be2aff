/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Brokers and files of theirs, for tests.
 */
#ifndef TESTS_BROKER_MADE_H
#define TESTS_BROKER_MADE_H

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "../child.h"
#include "archive/broker.h"

#define BROKER_WHEN	1795442707	/* 2026-11-23 14:05:07 UTC */
#define BROKER_NAME	"p-20261123T140507Z-runq-5ms"	/* of a file for @broker_request, without .fxt */
#define NS_PER_MS	1000000ULL

/* Two records: magic, and one of two words. */
extern const uint64_t broker_trace[3];
extern const struct broker_request broker_request;

/* In the current directory, unless @cfg has a pattern. */
struct broker *broker_make(struct broker_cfg cfg);
/* A new file for broker_request. */
void broker_make_file(struct broker *b, struct broker_file *file);
/* A whole file of @bytes under its name, which becomes @path unless that is NULL. */
void broker_put(struct broker *b, const struct broker_request *req, size_t bytes, bool hook, char *path);
/* What follows a publication has been done once the next request is answered. */
void broker_settle(struct broker *b);
/* The next notice of @event, at most 10 s from now; others are passed over. */
void broker_wait_for(struct broker *b, enum broker_event event, struct broker_notice *notice);
/* The size of a file; -1: there is none. */
off_t broker_size_of(const char *name);
/* The broker of the process @recorder. */
pid_t broker_find(pid_t recorder);
/* A line of /proc/PID/status, as a number to the base @base. */
uint64_t broker_status(pid_t pid, const char *name, int base);

#endif
