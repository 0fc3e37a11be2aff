/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The flight recorder: what is recorded is kept in memory, and a trigger or a request makes a file of it.
 *
 * Functions return 0 or -errno.
 */
#ifndef SESSION_FLIGHT_H
#define SESSION_FLIGHT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

struct flight;
struct piece_cut;
struct pollfd;
struct recorder;
struct recorder_request;
struct recorder_totals;

/* Starts the threads that compress and write; before privileges_confine(). */
int flight_open(struct flight **out, struct recorder *r);
/* Whole records, in the order of the file; they are copied. */
int flight_writev(struct flight *f, const struct iovec *iov, int cnt);
/* After a round of the drain that began at @looked_ns: evaluates triggers, begins and ends files. */
int flight_round(struct flight *f, uint64_t looked_ns);
/*
 * FLIGHT_FDS of what ends the wait for the next round, which brings a file further; .fd is -1 if there is none. For how
 * many milliseconds to wait at most; without a file on its way @ms.
 */
#define FLIGHT_FDS	2U
int flight_poll(const struct flight *f, struct pollfd *fds, int ms);
/* See recorder_request_file(). */
int flight_request(struct flight *f, const struct recorder_request *req);
/* See recorder_cancel_request(). */
void flight_cancel(struct flight *f, uint32_t id);
/* All records have been handed over: writes the files that are due, and waits for them, unless they hang. */
int flight_end(struct flight *f, const struct piece_cut *cut);
/* Keeps so much less in memory from now on; false: there is next to nothing. */
bool flight_shrink(struct flight *f, uint64_t bytes);
/* Files and bytes that are complete, and the window. */
void flight_totals(const struct flight *f, struct recorder_totals *t);
/* NULL is fine. */
void flight_close(struct flight *f);

#endif
