/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The strings whose table indexes are fixed before loading.
 */
#ifndef BPF_ABI_STRINGS_H
#define BPF_ABI_STRINGS_H

/* Fixed string table: X(index name, text). The recorder writes it, programs refer to it. */
#define SESSION_STRINGS(X) \
	X(STR_OUTGOING_WEIGHT,	"outgoing_weight") \
	X(STR_INCOMING_WEIGHT,	"incoming_weight") \
	X(STR_WEIGHT,		"weight") \
	X(STR_WAKER,		"waker") \
	X(STR_PROCESS,		"process") \
	X(STR_PARENT,		"parent") \
	X(STR_CMDLINE,		"cmdline") \
	X(STR_CGROUP,		"cgroup") \
	X(STR_EXIT_CODE,	"exit_code") \
	X(STR_EXIT_SIGNAL,	"exit_signal") \
	X(STR_LINUX_STATE,	"linux_state") \
	/* by the kernel's task state index; R and S are never written */ \
	X(STR_STATE_R,		"R") \
	X(STR_STATE_S,		"S") \
	X(STR_STATE_D,		"D") \
	X(STR_STATE_T,		"T") \
	X(STR_STATE_t,		"t") \
	X(STR_STATE_X,		"X") \
	X(STR_STATE_Z,		"Z") \
	X(STR_STATE_P,		"P") \
	X(STR_STATE_I,		"I") \
	X(STR_STATE_R_PLUS,	"R+") \
	X(STR_MARK,		"mark") \
	X(STR_MARK_START,	"start") \
	X(STR_MARK_STOP,	"stop") \
	X(STR_MARK_GAP,		"gap") \
	X(STR_MARK_IMPLIED,	"implied") \
	X(STR_MARK_FILTER,	"filter") \
	X(STR_MARK_STATE,	"state") \
	X(STR_FILTERED,		"filtered") \
	X(STR_KFXT,		"kfxt") \
	X(STR_NOT_REPORTED,	"not reported by the kernel") \
	X(STR_CPU,		"cpu") \
	X(STR_SWITCHES,		"switches") \
	X(STR_WAKEUPS,		"wakeups") \
	X(STR_UNREPORTED,	"unreported") \
	X(STR_FUNCTION,		"function") \
	X(STR_RETURN,		"return") \
	/* by which the recorder classifies records that it could not write */ \
	X(STR_LOG,		"log") \
	X(STR_USDT,		"usdt") \
	X(STR_UNFINISHED,	"unfinished") \
	X(STR_CONTINUES,	"continues") \
	X(STR_EXITED,		"exited")

enum session_string {
	STR_EMPTY,
#define X(id, text) id,
	SESSION_STRINGS(X)
#undef X
	STR_CNT
};

#endif
