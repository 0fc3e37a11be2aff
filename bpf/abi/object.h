/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Kernel object records in the metadata ring.
 */
#ifndef BPF_ABI_OBJECT_H
#define BPF_ABI_OBJECT_H

/*
 * A kernel object record in the metadata ring, in words: header, koid, name of
 * fixed length, Koid argument (the thread's process or the process's parent), for
 * a process the id of its cgroup as an Uint64 argument (the recorder writes the path) and, at
 * exec, its command line as a String argument and, after that, how long all of it is or, at exit, an Int32 argument:
 * "exit_code" or "exit_signal"; for a thread, at exit, a Bool argument: "exited".
 */
enum object_word {
	OBJECT_HEADER		= 0,
	OBJECT_KOID		= 1,
	OBJECT_NAME		= 2,
	OBJECT_NAME_WORDS	= 2,	/* TASK_COMM_LEN */
	OBJECT_ARG		= 4,
	OBJECT_WORDS		= 6,
	OBJECT_EXITED		= 6,
	OBJECT_LAST_WORDS	= 7,
	OBJECT_CGROUP		= 7,	/* after its argument header; 0: not known */
	OBJECT_PROCESS_WORDS	= 8,
	OBJECT_EXIT		= 8,
	OBJECT_EXIT_WORDS	= 9,
	OBJECT_CMDLINE		= 9,	/* after its argument header */
	OBJECT_CMDLINE_WORDS	= 64,	/* longer ones are completed from /proc */
	OBJECT_CMDLINE_BYTES	= 73,	/* with the last NUL */
	OBJECT_EXEC_WORDS	= 74,
};

/* A cgroup that was made: a word of zeros, its id and its path, which ends with a NUL. Not written as it is. */
enum cgroup_made_word {
	CGROUP_MADE_ID		= 1,
	CGROUP_MADE_PATH	= 2,
	CGROUP_MADE_PATH_WORDS	= 128,	/* longer ones are cut */
	CGROUP_MADE_WORDS	= 130,
};

#endif
