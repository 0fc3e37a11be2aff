/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Numbers in the programs that the recorder replaces before it loads them.
 */
#ifndef BPF_ABI_PATCH_H
#define BPF_ABI_PATCH_H

/*
 * Stands for a call of bpf_session_is_return() until the recorder, which knows its id
 * in this kernel, puts that in its place: libbpf would insist on one prototype, and
 * kernels have two, without and (7.x) with the context.
 */
#define CALL_SESSION_IS_RETURN	0x6b667874
#define CALL_RDONLY_CAST	0x6b667875
#define CALL_PREEMPT_DISABLE	0x6b66787c
#define CALL_PREEMPT_ENABLE	0x6b66787d
#define NUMBER_PREEMPTIBLE	0x6b66787e	/* 1: programs of tracepoints are, and the kernel has those two */

/*
 * Stand for numbers and for addresses of maps' only values, in the programs of a switch and a wakeup
 * alone: there each look into memory for them would cost. See PATCH_CONST().
 */
#define NUMBER_RDONLY_CAST	0x6b667876	/* 1: the kernel has it */
#define NUMBER_CHUNK_LAST	0x6b667877	/* byte of a chunk */
#define NUMBER_CPUS		0x6b667878
#define NUMBER_IDS		0x6b667879	/* in VALUE_IDS; 0: they are in more than one value */
#define VALUE_CTLS		0x6b66787a
#define VALUE_IDS		0x6b66787b

#endif
