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

/* All zero is one without triggers. */
struct psi {
	struct {
		int fd;
		unsigned int trigger;
	} list[TRIGGERS_MAX];
	unsigned int cnt;
};

/* Asks the kernel for the triggers of that kind. 0 or -errno of the first one refused, with one line in @why. */
int psi_open(struct psi *p, const struct firing *f, char *why, size_t size);
/* Those that the kernel has reported since the last call; @now_ns: the time, for their ends. */
void psi_look(struct psi *p, struct firing *f, uint64_t now_ns);
/* Whether the kernel watches that one. */
bool psi_has(const struct psi *p, unsigned int trigger);
void psi_close(struct psi *p);

#endif
