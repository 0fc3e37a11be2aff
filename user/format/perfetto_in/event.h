/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A TrackEvent while it is decoded. Private to the reader.
 */
#ifndef FORMAT_PERFETTO_IN_EVENT_H
#define FORMAT_PERFETTO_IN_EVENT_H

#include "reader_p.h"

#define PF_CATEGORIES_MAX	32U	/* of an event; further ones are left out */

enum pf_event_time { PF_TIME_PACKET, PF_TIME_ABSOLUTE_US, PF_TIME_DELTA_US };

/* What only a LegacyEvent has. */
struct pf_legacy_info {
	uint64_t id, bind_id;
	bool has_id, has_bind_id, is_local_id, binds_enclosing;
	struct pf_field id_scope;
	int64_t duration_us;
	uint8_t flow_direction, instant_scope;
};

struct pf_event_info {
	uint8_t type, time_kind, value_flags;	/* @type: enum pf_event_type, or the letter of a LegacyEvent */
	bool has_uuid, has_pieces, is_legacy, has_more_categories;
	uint64_t uuid;			/* once it has a track: that of the sequence if it has none; 0: none either */
	int64_t time_us;
	uint64_t value;
	uint32_t track, name, category;
	uint32_t iids_cnt, categories_cnt, values_cnt, doubles_cnt;
	uint32_t extras_over;		/* values of extra counters that there is no space for */
	/* What follows is large and not cleared; of a field that is not there only data and length are 0. */
	struct pf_field name_text, legacy;
	uint64_t category_iids[PF_CATEGORIES_MAX];
	struct pf_field categories[PF_CATEGORIES_MAX];
	struct pf_extra uuids;
	uint64_t extra_values[PF_EXTRA_MAX], extra_doubles[PF_EXTRA_MAX];
	struct pf_legacy_info of_legacy;	/* if it @is_legacy */
};

/* legacy.c: a LegacyEvent, which sets the type if TrackEvent has none, and the track. A fate or -errno. */
int pf_legacy_event(struct pf_reader *r, struct pf_packet_info *p, struct pf_event_info *e);
/* Puts its flows and ids. 0 or -errno. */
int pf_put_legacy(struct pf_reader *r, const struct pf_event_info *e);

#endif
