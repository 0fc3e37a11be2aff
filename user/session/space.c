// SPDX-License-Identifier: GPL-2.0
/* See space.h. */
#include "space.h"

#include <errno.h>

#include "base/clock.h"

#define LOOK_NS		10000000000ULL	/* between two looks */

void space_see(struct space *s, int err, uint64_t bytes)
{
	if (!err || err == -ENOSPC || err == -EDQUOT || err == -EROFS || err == -EIO || err == -EPIPE)
		s->err = err;
	if (err != -ENOSPC)
		return;
	s->bytes = bytes;
	s->look_ns = clock_ns(CLOCK_BOOTTIME) + LOOK_NS;
}

void space_look(struct space *s, struct broker *broker)
{
	const uint64_t now_ns = clock_ns(CLOCK_BOOTTIME);
	int err;

	if (s->call.id) {
		err = broker_call_result(broker, &s->call, NULL);
		if (!err && s->err == -ENOSPC)
			s->err = 0;
	} else if (s->err == -ENOSPC && now_ns >= s->look_ns) {
		s->look_ns = now_ns + LOOK_NS;
		broker_begin_space(broker, s->bytes, &s->call);
	}
}
