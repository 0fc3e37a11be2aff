/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Pressure: the kernel itself watches for how long tasks stall on a resource in a window of time.
 */
#ifndef TRIGGER_PSI_H
#define TRIGGER_PSI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "firing.h"

/*
 * Without CAP_SYS_RESOURCE (since 6.4, commit d82caa273565) the kernel counts what is read from
 * /proc/pressure, but begins the first window of a trigger at what it has counted for those with that
 * capability, usually nothing: an event that says no more than that something stalled since the boot.
 */
struct psi_watch {
	int fd;
	unsigned int trigger;	/* its index */
	bool is_doubted;	/* its first window is that one */
	uint64_t total_us;	/* stalled in all, when it was opened or last found untrue */
};

/* All zero is one without triggers. */
struct psi {
	struct psi_watch list[TRIGGERS_MAX];
	unsigned int cnt;
};

/* Asks the kernel for the triggers of that kind. 0 or -errno of the first one refused, with one line in @why. */
int psi_open(struct psi *p, const struct firing *f, char *why, size_t size);
/* Those that the kernel has reported since the last call; @now_ns: the time, for their ends. */
void psi_look(struct psi *p, struct firing *f, uint64_t now_ns);
/*
 * Whether so much can have stalled in a window of that trigger, when @total_us have in all. Only a trigger that
 * is doubted can be found untrue: for others the kernel counts apart, with a sum that differs from this one.
 */
bool psi_is_true(struct psi_watch *p, uint64_t total_us, uint64_t threshold_ns);
/* Whether the kernel watches that one. */
bool psi_has(const struct psi *p, unsigned int trigger);
void psi_close(struct psi *p);

#endif
