// SPDX-License-Identifier: GPL-2.0
/*
 * Counts of the ledger, put into words.
 */
#include "losses.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "fxt/fxt.h"
#include "ledger_args.h"

static const struct {
	const char *ledger;		/* ends the names of its counts in the ledger */
	const char *one, *many;
} kinds[LOSS_KIND_CNT] = {
#define X(id, name, one, many) [LOSS_##id] = { name, one, many },
	EVENT_CLASSES(X)
#undef X
};

static const struct {
	const char *ledger;		/* begins the names of its counts in the ledger; NULL: see below */
	const char *text;
} reasons[LOSS_REASON_CNT] = {
#define X(id, name) [LOSS_##id].ledger = name,
	COUNT_LOSSES(X)
#undef X
	[LOSS_RING_FULL].text	= "rings full",
	[LOSS_CONTENDED]	= { "contended", "interrupted too often while reserving ring space" },
	[LOSS_UNPAIRED]		= { "unpaired", "beginning or end not seen, or too many at once" },
	[LOSS_OVERWRITTEN]	= { "overwritten", "overwritten in the kernel's ring before they were read" },
	[LOSS_TOO_DEEP].text	= "too many calls at once to wait for their returns",
	[LOSS_UNRETURNED].text	= "return not reported by the kernel",
	[LOSS_UNWRITTEN].text	= "output could not be written",
	[LOSS_UNREPORTED].text	= "not reported by the kernel, drawn as gaps",
	[LOSS_ONLY_COUNTED]	= { NULL, "not reported by the kernel, only counted in /proc/stat" },
	[LOSS_SKIPPED].text	= "the kernel did not run a program that was running on that CPU",
	[LOSS_UNSAMPLED].text	= "due, but the kernel ran no program to take them",
	[LOSS_UNACCOUNTED].text	= "unaccounted for",
};

static bool is_implied(enum loss_reason reason, enum loss_kind kind)
{
	return reason == LOSS_UNREPORTED && kind == LOSS_WAKEUPS;
}

/* Older traces count only what is in the file. */
static uint64_t drained(const struct fxt_record *rec, enum loss_kind kind)
{
	const char *name = kinds[kind].ledger;

	return ledger_number(rec, ledger_arg(rec, "drained", name) || !fxt_record_arg(rec, "cpu") ? "drained" : "", name);
}

void losses_add_ledger(struct losses *l, const struct fxt_record *rec)
{
	enum loss_reason reason;
	enum loss_kind kind;

	for (kind = 0; kind < LOSS_KIND_CNT; kind++) {
		l->drained[kind] += drained(rec, kind);
		l->filtered += ledger_number(rec, "filtered", kinds[kind].ledger);
		l->ratelimited += ledger_number(rec, "ratelimited", kinds[kind].ledger);
		l->over_budget += ledger_number(rec, "over_budget", kinds[kind].ledger);
		for (reason = 0; reason < LOSS_REASON_CNT; reason++)
			if (reasons[reason].ledger && !is_implied(reason, kind))
				l->lost[reason][kind] += ledger_number(rec, reasons[reason].ledger, kinds[kind].ledger);
		/* lost_KIND has these too. */
		for (reason = LOSS_CONTENDED; reason <= LOSS_OVERWRITTEN; reason++)
			l->lost[LOSS_RING_FULL][kind] -= ledger_number(rec, reasons[reason].ledger, kinds[kind].ledger);
		l->lost[LOSS_UNWRITTEN][kind] += ledger_number(rec, "cut", kinds[kind].ledger);
	}
	l->lost[LOSS_SKIPPED][LOSS_CALLS] += ledger_number(rec, "missed", "calls");
	l->lost[LOSS_SKIPPED][LOSS_EVENTS] += ledger_number(rec, "prog_skipped", "");
	l->implied += ledger_number(rec, "unreported", "wakeups");
	l->names += ledger_number(rec, "lost", "names");
	l->names_late += ledger_number(rec, "prog_skipped", "names");
	l->shared_koids += ledger_number(rec, "shared_koids", "");
	losses_add_procstat(l, ledger_number(rec, "procstat_excess", "switches"));
}

void losses_add_procstat(struct losses *l, uint64_t excess)
{
	const uint64_t inferred = l->lost[LOSS_UNREPORTED][LOSS_SWITCHES];

	if (excess > inferred)
		l->lost[LOSS_ONLY_COUNTED][LOSS_SWITCHES] += excess - inferred;
}

void losses_add_late_source(struct losses *l, struct fxt_str source, uint64_t after_ns, struct fxt_str why)
{
	struct loss_late new = { .after_ns = after_ns };
	unsigned int i = 0;

	snprintf(new.source, sizeof(new.source), "%.*s", (int)source.len, source.data);
	snprintf(new.why, sizeof(new.why), "%.*s", (int)why.len, why.data);
	while (i < l->late_cnt && strcmp(l->late[i].source, new.source) != 0)
		i++;
	if (i == LOSS_LATE_MAX)
		return;
	l->late_cnt += i == l->late_cnt;
	l->late[i] = new;
}

static struct fxt_str text_of(const struct fxt_record *rec, const char *name)
{
	const struct fxt_arg *arg = fxt_record_arg(rec, name);

	return arg && arg->type == FXT_ARG_STRING ? arg->str : fxt_str("");
}

void losses_add_late(struct losses *l, const struct fxt_record *rec)
{
	losses_add_late_source(l, text_of(rec, "source"), ledger_number(rec, "after_ns", ""), text_of(rec, "why"));
}

uint64_t losses_recorded(const struct losses *l)
{
	uint64_t sum = 0;
	enum loss_kind kind;

	for (kind = 0; kind < LOSS_KIND_CNT; kind++)
		if (l->drained[kind] > l->lost[LOSS_UNWRITTEN][kind])
			sum += l->drained[kind] - l->lost[LOSS_UNWRITTEN][kind];
	return sum;
}

static uint64_t lost_by(const struct losses *l, enum loss_reason reason)
{
	uint64_t sum = 0;
	enum loss_kind kind;

	for (kind = 0; kind < LOSS_KIND_CNT; kind++)
		sum += l->lost[reason][kind];
	return sum;
}

uint64_t losses_lost(const struct losses *l)
{
	uint64_t sum = 0;
	enum loss_reason reason;

	for (reason = 0; reason < LOSS_REASON_CNT; reason++)
		sum += lost_by(l, reason);
	return sum;
}

uint64_t losses_seen(const struct losses *l)
{
	return losses_recorded(l) + l->filtered + l->ratelimited + l->over_budget + losses_lost(l);
}

/* ---- words ---------------------------------------------------------------------- */

const char *losses_count_text(uint64_t count, enum loss_kind kind, char buf[LOSSES_COUNT_TEXT])
{
	snprintf(buf, LOSSES_COUNT_TEXT, "%" PRIu64 " %s", count, count == 1 ? kinds[kind].one : kinds[kind].many);
	return buf;
}

const char *losses_bound_text(const struct losses *l)
{
	return lost_by(l, LOSS_ONLY_COUNTED) ? "at least " : "";
}

const char *losses_sum_text(const struct losses *l, char buf[LOSSES_TEXT])
{
	const char *least = losses_bound_text(l);
	char count[LOSSES_COUNT_TEXT];
	int len = snprintf(buf, LOSSES_TEXT, "%s%s: %" PRIu64 " recorded", least,
			   losses_count_text(losses_seen(l), LOSS_EVENTS, count), losses_recorded(l));

	if (l->filtered)
		len += snprintf(buf + len, LOSSES_TEXT - len, ", %" PRIu64 " filtered", l->filtered);
	if (l->ratelimited)
		len += snprintf(buf + len, LOSSES_TEXT - len, ", %" PRIu64 " rate-limited", l->ratelimited);
	if (l->over_budget)
		len += snprintf(buf + len, LOSSES_TEXT - len, ", %" PRIu64 " shed", l->over_budget);
	snprintf(buf + len, LOSSES_TEXT - len, ", %s%" PRIu64 " lost", least, losses_lost(l));
	return buf;
}

bool losses_text(const struct losses *l, enum loss_reason reason, char buf[LOSSES_TEXT])
{
	char count[LOSSES_COUNT_TEXT];
	enum loss_kind kind;
	int len = 0;

	if (!lost_by(l, reason))
		return false;
	if (reason == LOSS_ONLY_COUNTED)
		len = snprintf(buf, LOSSES_TEXT, "at least ");
	for (kind = 0; kind < LOSS_KIND_CNT; kind++)
		if (l->lost[reason][kind])
			len += snprintf(buf + len, LOSSES_TEXT - len, "%s, ",
					losses_count_text(l->lost[reason][kind], kind, count));
	snprintf(buf + len - 2, LOSSES_TEXT - len + 2, ": %s", reasons[reason].text);
	return true;
}

bool losses_names_text(const struct losses *l, char buf[LOSSES_TEXT])
{
	snprintf(buf, LOSSES_TEXT, "%" PRIu64 " name%s: their ring was full or held up", l->names,
		 l->names == 1 ? "" : "s");
	return l->names;
}

bool losses_note_text(const struct losses *l, unsigned int i, char buf[LOSSES_TEXT])
{
	const char *s = l->names_late == 1 ? "" : "s";
	char count[LOSSES_COUNT_TEXT];

	if (l->over_budget && !i--) {
		snprintf(buf, LOSSES_TEXT, "%s left out as the recording cost more than --budget (slices \"shed\")",
			 losses_count_text(l->over_budget, LOSS_EVENTS, count));
		return true;
	}
	if (l->implied && !i--) {
		snprintf(buf, LOSSES_TEXT, "%s recorded where the thread ran, the kernel did not report %s (mark implied or gap)",
			 losses_count_text(l->implied, LOSS_WAKEUPS, count), l->implied == 1 ? "it" : "them");
		return true;
	}
	if (l->names_late && !i--) {
		snprintf(buf, LOSSES_TEXT, "%" PRIu64 " fork%s, rename%s, exec%s, exit%s or cgroup move%s not recorded: %s", l->names_late,
			 s, s, s, s, s, reasons[LOSS_SKIPPED].text);
		return true;
	}
	if (l->shared_koids && !i--) {
		snprintf(buf, LOSSES_TEXT, "%" PRIu64 " thread%s a koid with an earlier one, the id was reused too often",
			 l->shared_koids, l->shared_koids == 1 ? " shares" : "s share");
		return true;
	}
	if (i >= l->late_cnt)
		return false;
	if (l->late[i].after_ns)
		snprintf(buf, LOSSES_TEXT, "%s: recorded from %.1f s on", l->late[i].source, l->late[i].after_ns / 1e9);
	else
		snprintf(buf, LOSSES_TEXT, "%s: not recorded: %s", l->late[i].source, l->late[i].why);
	return true;
}
