// SPDX-License-Identifier: GPL-2.0
#include "fit.h"

#include <bpf/libbpf.h>

#define PAGE_BYTES	4096ULL
#define MAP_BYTES	4096	/* of a map without elements, at most */
#define ELEMENT_BYTES	64	/* of a hash map's element, beside key and value */

static uint64_t round_up(uint64_t n, uint64_t to)
{
	return (n + to - 1) / to * to;
}

static uint64_t map_bytes(const struct bpf_map *map, unsigned int cpus)
{
	const uint64_t cnt = bpf_map__max_entries(map), value = round_up(bpf_map__value_size(map), 8);

	switch (bpf_map__type(map)) {
	case BPF_MAP_TYPE_ARRAY:
		return round_up(cnt * value, PAGE_BYTES);
	case BPF_MAP_TYPE_PERCPU_ARRAY:
		return cnt * value * cpus;
	case BPF_MAP_TYPE_HASH:
	case BPF_MAP_TYPE_LRU_HASH:
		return cnt * (ELEMENT_BYTES + round_up(bpf_map__key_size(map), 8) + value);
	case BPF_MAP_TYPE_RINGBUF:
		return cnt;
	default:
		return 0;
	}
}

uint64_t fit_maps_bytes(const struct bpf_object *obj, unsigned int cpus)
{
	const struct bpf_map *map;
	uint64_t bytes = 0;

	bpf_object__for_each_map(map, obj)
		if (bpf_map__autocreate(map))
			bytes += MAP_BYTES + map_bytes(map, cpus);
	return bytes;
}
