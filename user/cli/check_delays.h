/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What kfxt check says of how long the kernel lets wait.
 */
#ifndef CLI_CHECK_DELAYS_H
#define CLI_CHECK_DELAYS_H

#include <stdbool.h>

struct check_delays;
struct json;

/* Measures; it takes up to some seconds where something waits. NULL: it could not, a message is printed. */
struct check_delays *check_delays_open(void);
/* Whether one of them has not ended. */
bool check_delays_stuck(const struct check_delays *d);
void check_delays_print(const struct check_delays *d);
/* The member "delays" of the object that is open. @d may be NULL. */
void check_delays_print_json(const struct check_delays *d, struct json *j);
void check_delays_close(struct check_delays *d);

/*
 * What fixes the fair scheduler of kernel @release, whose error keeps the workers of a busy CPU waiting; NULL: as far
 * as is known it has no such error.
 */
const char *check_delays_remedy(const char *release);

#endif
