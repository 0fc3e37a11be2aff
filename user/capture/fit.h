/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How much memory maps will take, before they are created.
 */
#ifndef CAPTURE_FIT_H
#define CAPTURE_FIT_H

#include <stdint.h>

struct bpf_object;

/* Bytes that the kernel will count for the maps of @obj, on @cpus CPUs; within some percent. */
uint64_t fit_maps_bytes(const struct bpf_object *obj, unsigned int cpus);

#endif
