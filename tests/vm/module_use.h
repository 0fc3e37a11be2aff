/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the module's tests are made of: TAP, and the module's calls.
 */
#ifndef MODULE_USE_H
#define MODULE_USE_H

#include <stdbool.h>
#include <stdint.h>

#include "kmod/kfxt.h"

/* ---- results; one test each ------------------------------------------------------- */

__attribute__((format(printf, 2, 3)))
void ok(bool good, const char *format, ...);
void equals(long long got, long long wanted, const char *what);
/* @ret of a call that is to fail with @error. */
void fails(long ret, int error, const char *what);

/* The plan; returns the exit status. */
int finish(void);
/* "Bail out!", with errno. */
__attribute__((noreturn))
void give_up(const char *what);

double now_s(void);

/* ---- the module; -1 and errno on failure, unless it gives up ------------------------ */

int load(const char *module_path);
int unload(void);
int open_device(void);
int must_open(void);

/* Globs are literals; those after the first follow a \0. */
#define start(fd, globs) start_bytes(fd, globs, sizeof(globs))
int start_bytes(int fd, const void *text, uint32_t bytes);

/* Of all CPUs; gives up. */
struct kfxt_counts sum_counts(int fd);

/* getppid(2). */
void call(int times);

#endif
