/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The functions of a recording: chosen by globs, given ids and names, probed, and
 * their events completed. What is chosen here is what `kfxt list` shows.
 */
#ifndef SOURCE_FUNC_SELECT_H
#define SOURCE_FUNC_SELECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "elf/elf.h"
#include "mechanism.h"

struct funcs;
struct fxt_writer;
struct user_symbols_counts;

/* Names that get a fixed index; functions beyond have theirs in each record. */
#define FUNCS_STRINGS_MAX	30000U

struct funcs_cfg {
	const char *const *globs;	/* kernel functions; "!GLOB" takes out */
	unsigned int globs_cnt;
	const char *const *user;	/* PATH:GLOB or usdt:PATH:PROVIDER:NAME */
	unsigned int user_cnt;
	const char *const *via;		/* mechanisms to use and no others of their kind */
	unsigned int via_cnt;
	bool returns, parents, no_excludes;
	bool comms;			/* threads will be chosen by name */
	uint64_t max_rate;		/* calls of a function per second and CPU; 0: no limit */
	uint32_t strings_from;		/* the first fixed string index that is free */
	bool only_list;			/* no mechanism is no error */
};

enum func_kind {
	FUNC_KERNEL,
	FUNC_USER,
	FUNC_USDT,
};

struct func {
	enum func_kind kind;
	const char *name;		/* USDT: "provider:name" */
	const char *where;		/* kernel: module or NULL; user: path of the file */
	uint64_t addr;			/* kernel: of its symbol, 0: hidden; user: offset in the file */
	uint64_t entry;			/* kernel: where ftrace calls from */
	const struct elf_usdt *usdt;
	uint16_t string;		/* index of its name; 0: too many */
	uint8_t return_type;		/* enum fxt_arg_type; 0: none that is known */
	bool ambiguous;			/* the kernel has others of this name */
	bool refused;			/* the kernel let no probe be put there */
};

/* What came of it, for messages and the ledger. */
struct funcs_counts {
	unsigned int kernel, user, usdt;	/* functions chosen */
	unsigned int excluded;			/* by the default list */
	unsigned int refused;
	uint64_t missed;			/* calls that the kernel handed to nobody */
	uint64_t unfinished;			/* calls that had not returned at the end */
	uint64_t unreturned;			/* calls whose return was not seen: lost */
	uint64_t attach_ns;			/* how long it took */
};

/*
 * Chooses functions and mechanisms; nothing is attached. 0 or -errno, and then a
 * message in @why, without the command's name:
 *	-EINVAL	what was asked for is wrong, or matches nothing
 *	-ENOTSUP no mechanism that can do it
 */
int funcs_open(struct funcs **out, const struct funcs_cfg *cfg, char *why, size_t size);
/* NULL is fine. */
void funcs_close(struct funcs *f);
/* All of them, in the order of their ids; *@cnt is how many. */
const struct func *funcs_all(const struct funcs *f, unsigned int *cnt);
/* By what; FUNC_VIA_CNT if there are no functions of that kind. */
enum func_via_id funcs_via(const struct funcs *f, bool user);
/* Why there is no mechanism for that kind; "" if there is one. */
const char *funcs_via_reason(const struct funcs *f, bool user);
/* @f NULL: none. */
void funcs_counts(const struct funcs *f, struct funcs_counts *counts);
/* Calls of the @id'th function that --func-max-rate left out. */
uint64_t funcs_ratelimited(const struct funcs *f, unsigned int id);

/* Begins to follow the mappings of processes, where callers in programs are recorded. 0 or -errno. */
int funcs_begin(struct funcs *f);
/* Takes the mappings made until now, before calls are completed that were recorded until then. 0 or -errno. */
int funcs_read_maps(struct funcs *f);
/* Are there functions of programs whose callers are recorded? @f NULL: no. */
bool funcs_have_user_parents(const struct funcs *f);
/* Callers in programs without a name. */
void funcs_user_parents(const struct funcs *f, struct user_symbols_counts *counts);
/* Are calls drawn with their returns? */
bool funcs_are_slices(const struct funcs *f);
/* Registers the names. 0 or the writer's -errno. */
int funcs_write_strings(const struct funcs *f, struct fxt_writer *w);
/* Writes a deferred record of at least FUNC_WORDS words. 0 or the writer's -errno. */
int funcs_write(struct funcs *f, struct fxt_writer *w, const uint64_t *rec);
/* Writes the calls that have not returned, as far as @stop_ns. After detaching. */
int funcs_write_unfinished(struct funcs *f, struct fxt_writer *w, uint64_t stop_ns);
/*
 * Writes the calls that began before @cut_ns and go on, while they are recorded, and adds their number to *@written. Of those
 * of the kernel only where all returns are reported. 0 or the writer's error.
 */
int funcs_write_open(struct funcs *f, struct fxt_writer *w, uint64_t cut_ns, uint64_t *written);

#endif
