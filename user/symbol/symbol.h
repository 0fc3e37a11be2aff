/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Names for the addresses of stacks, by symbol tables, separate debug files, .gnu_debugdata, function
 * starts in .eh_frame, maps that JIT compilers write, and the kernel's symbols.
 *
 * Nothing here fails: without a symbol a frame is "file+0x1234" or "[unknown]". What is kept is
 * bounded; beyond the bound names are "[unknown]", too, until symbolizer_refresh().
 */
#ifndef SYMBOL_SYMBOL_H
#define SYMBOL_SYMBOL_H

#include <stdbool.h>
#include <stdint.h>

struct mapped_files;
struct symbolizer;

enum symbol_kind {
	SYMBOL_NONE,		/* "[unknown]" */
	SYMBOL_NATIVE,
	SYMBOL_KERNEL,
	SYMBOL_INTERPRETED,
	SYMBOL_JIT,
};

/* All strings live until the next symbolizer_refresh(). */
struct symbol {
	const char *name;	/* demangled, UTF-8; never NULL or empty */
	const char *mapping;	/* a path, "[vdso]", "//anon", "[kernel]", "[ext4]"; NULL: not known */
	const char *build_id;	/* of the file, in hex; "": not known */
	/*
	 * The address that was looked up, as the file's symbol table counts it: of the instruction, or, for
	 * a return address, of the last byte of the call. For the kernel and where no file is known the
	 * address itself, for a file that cannot be read the offset.
	 */
	uint64_t rel_pc;
	uint64_t rel_start;	/* where the function begins, counted in the same way; 0: not known */
	enum symbol_kind kind;
};

/*
 * Borrows @files. @root: what comes before /proc in paths, for tests; NULL: nothing. Kernel symbols
 * are read here, as that may not be permitted later. 0 or -ENOMEM.
 */
int symbolizer_open(struct symbolizer **out, struct mapped_files *files, const char *root);
/* Between samples: forgets what is full, and what belongs to files that mapped_files_forget() has forgotten. */
void symbolizer_refresh(struct symbolizer *s);
/*
 * @process is a koid, @pid its id in our PID namespace, @file an index of mapped_files or
 * MAPPED_FILE_NONE, @offset of @pc in that file. @is_call: @pc is a return address.
 */
void symbolizer_user(struct symbolizer *s, uint64_t process, uint32_t pid, uint32_t file, uint64_t offset,
		     uint64_t pc, bool is_call, struct symbol *out);
/* @pc of the kernel; return addresses need not be marked, symbols of the kernel are looked up as it does. */
void symbolizer_kernel(struct symbolizer *s, uint64_t pc, struct symbol *out);
/* Whether the frame at @pc of the kernel is there only because a tracepoint has a BPF program. */
bool symbolizer_is_tracer(struct symbolizer *s, uint64_t pc);
/* NULL is fine. */
void symbolizer_close(struct symbolizer *s);

#endif
