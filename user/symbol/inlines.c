// SPDX-License-Identifier: GPL-2.0
/*
 * A file's DWARF is where the first of these has it: the file itself, the debug file by its build id, by
 * .gnu_debuglink, from a server. All are opened once; a few files stay open.
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "debuginfod.h"
#include "demangle.h"
#include "inlines.h"
#include "kept_names.h"

#define DEBUG_DIR	"/usr/lib/debug"
#define NAMES_BYTES_MAX	(256U << 20)
#define FILES_MAX	64U
#define ID_BYTES_MAX	64
#define DEPTH_MAX	64U		/* of functions, blocks and namespaces in one another */
#define UNITS_MAX	(4U << 20)	/* ranges of compilation units */

/* Code of a compilation unit. */
struct unit {
	uint64_t start, end;
	Dwarf_Off die;
};

/* Of one address, outermost first. */
struct functions {
	Dwarf_Die dies[DEPTH_MAX];
	unsigned int cnt;
};

struct dwarf_file {
	char *path, *build_id;
	uint64_t used;
	int fd;
	Dwarf *dwarf;		/* NULL: there is none */
	struct unit *units;	/* by address */
	size_t unit_cnt;
};

struct inlines {
	bool use_debuginfod;
	struct kept_names *names;
	struct dwarf_file files[FILES_MAX];
	unsigned int cnt;
	uint64_t questions;
};

/* ---- where the DWARF is ---------------------------------------------------------- */

static void close_dwarf(struct dwarf_file *f)
{
	free(f->units);
	f->units = NULL;
	f->unit_cnt = 0;
	dwarf_end(f->dwarf);
	f->dwarf = NULL;
	if (f->fd >= 0)
		close(f->fd);
	f->fd = -1;
}

/* In hex, "" if there is none. */
static void read_build_id(Elf *elf, char hex[2 * ID_BYTES_MAX + 1])
{
	const void *id;
	ssize_t len = elf ? dwelf_elf_gnu_build_id(elf, &id) : 0, i;

	*hex = 0;
	for (i = 0; i < len && len <= ID_BYTES_MAX; i++)
		sprintf(hex + 2 * i, "%02x", ((const unsigned char *)id)[i]);
}

static bool is_regular(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && S_ISREG(st.st_mode);
}

static bool has_units(Dwarf *dwarf)
{
	Dwarf_Off next;
	size_t header;

	return !dwarf_nextcu(dwarf, 0, &next, &header, NULL, NULL, NULL);
}

/* 1 if the DWARF at @path is that of the file with @f's build id, 0 if not. */
static int try_path(struct dwarf_file *f, const char *path)
{
	char id[2 * ID_BYTES_MAX + 1];

	f->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (f->fd >= 0 && is_regular(f->fd))
		f->dwarf = dwarf_begin(f->fd, DWARF_C_READ);
	if (f->dwarf && has_units(f->dwarf)) {
		read_build_id(dwarf_getelf(f->dwarf), id);
		if (!*f->build_id || !strcmp(id, f->build_id))
			return 1;
	}
	close_dwarf(f);
	return 0;
}

static int try_build_id(struct dwarf_file *f)
{
	char path[PATH_MAX];

	if (strlen(f->build_id) < 4)
		return 0;
	snprintf(path, sizeof(path), DEBUG_DIR "/.build-id/%.2s/%s.debug", f->build_id, f->build_id + 2);
	return try_path(f, path);
}

/* The name in .gnu_debuglink of the file at @f->path; false: there is none, or the file is another one. */
static bool read_link(const struct dwarf_file *f, char name[NAME_MAX + 1])
{
	char id[2 * ID_BYTES_MAX + 1];
	const char *link = NULL;
	GElf_Word crc;
	int fd = open(f->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	Elf *elf = NULL;
	bool ok = false;

	elf_version(EV_CURRENT);
	if (fd >= 0 && is_regular(fd))
		elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf) {
		read_build_id(elf, id);
		link = !*f->build_id || !strcmp(id, f->build_id) ? dwelf_elf_gnu_debuglink(elf, &crc) : NULL;
	}
	if (link && !strchr(link, '/'))
		ok = snprintf(name, NAME_MAX + 1, "%s", link) <= NAME_MAX;
	elf_end(elf);
	if (fd >= 0)
		close(fd);
	return ok;
}

/* Only with a build id, or it may be that of another version: the checksum is not looked at. */
static int try_link(struct dwarf_file *f)
{
	static const char *const places[][2] = { { "", "" }, { "", "/.debug" }, { DEBUG_DIR, "" } };
	const char *slash = strrchr(f->path, '/');
	char name[NAME_MAX + 1], path[2 * PATH_MAX];
	size_t i;
	int ret = 0;

	if (!*f->build_id || !slash || !read_link(f, name))
		return 0;
	for (i = 0; !ret && i < sizeof(places) / sizeof(places[0]); i++) {
		snprintf(path, sizeof(path), "%s%.*s%s/%s", places[i][0], (int)(slash - f->path), f->path,
			 places[i][1], name);
		ret = try_path(f, path);
	}
	return ret;
}

static int try_servers(struct dwarf_file *f)
{
	char path[PATH_MAX];

	return *f->build_id && !debuginfod_fetch(f->build_id, path) ? try_path(f, path) : 0;
}

/* ---- which unit ---------------------------------------------------------------------- */

static int by_start(const void *a, const void *b)
{
	const struct unit *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static int add_unit(struct dwarf_file *f, Dwarf_Die *die, size_t *cap)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	while (f->unit_cnt < UNITS_MAX && (at = dwarf_ranges(die, at, &base, &start, &end)) > 0) {
		if (array_reserve(f->units, f->unit_cnt, *cap, 1))
			return -ENOMEM;
		f->units[f->unit_cnt++] = (struct unit){ start, end, dwarf_dieoffset(die) };
	}
	return 0;
}

/* Compilers need not write .debug_aranges, and clang does not. */
static void read_units(struct dwarf_file *f)
{
	Dwarf_Off at = 0, next;
	size_t header, cap = 0;
	Dwarf_Die die;
	int err = 0;

	while (!err && !dwarf_nextcu(f->dwarf, at, &next, &header, NULL, NULL, NULL) && next > at) {
		if (dwarf_offdie(f->dwarf, at + header, &die))
			err = add_unit(f, &die, &cap);
		at = next;
	}
	if (f->unit_cnt)
		qsort(f->units, f->unit_cnt, sizeof(*f->units), by_start);
}

static bool find_unit(const struct dwarf_file *f, uint64_t pc, Dwarf_Die *unit)
{
	size_t low = 0, high = f->unit_cnt, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (f->units[middle].start <= pc)
			low = middle + 1;
		else
			high = middle;
	}
	return low && pc < f->units[low - 1].end && dwarf_offdie(f->dwarf, f->units[low - 1].die, unit);
}

/* ---- files ----------------------------------------------------------------------------- */

static void forget(struct inlines *i, struct dwarf_file *f)
{
	close_dwarf(f);
	free(f->path);
	free(f->build_id);
	*f = i->files[--i->cnt];
}

static void forget_oldest(struct inlines *i)
{
	struct dwarf_file *found = i->files, *f;

	for (f = i->files; f < i->files + i->cnt; f++)
		if (f->used < found->used)
			found = f;
	forget(i, found);
}

/* One that has no DWARF is kept as well, so that it is not searched for again. NULL: no memory. */
static struct dwarf_file *add_file(struct inlines *i, const char *path, const char *build_id)
{
	struct dwarf_file *f;

	if (i->cnt == FILES_MAX)
		forget_oldest(i);
	f = &i->files[i->cnt++];
	*f = (struct dwarf_file){ .path = strdup(path), .build_id = strdup(build_id), .fd = -1 };
	if (!f->path || !f->build_id) {
		forget(i, f);
		return NULL;
	}
	if (try_path(f, path) || try_build_id(f) || try_link(f) || (i->use_debuginfod && try_servers(f)))
		read_units(f);
	return f;
}

static struct dwarf_file *find_file(struct inlines *i, const char *path, const char *build_id)
{
	struct dwarf_file *f;

	for (f = i->files; f < i->files + i->cnt; f++)
		if (!strcmp(f->path, path) && !strcmp(f->build_id, build_id))
			break;
	if (f == i->files + i->cnt)
		f = add_file(i, path, build_id);
	if (f)
		f->used = ++i->questions;
	return f && f->dwarf ? f : NULL;
}

/* ---- frames ------------------------------------------------------------------------------ */

static const char *keep(struct inlines *i, const char *text)
{
	return text ? kept_names_put(i->names, text, strlen(text)) : NULL;
}

static const char *text_of(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attr;

	return dwarf_formstring(dwarf_attr_integrate(die, name, &attr));
}

/* The function that @die is a copy of, or defines. */
static Dwarf_Die declaration_of(Dwarf_Die *die)
{
	static const unsigned int links[] = { DW_AT_abstract_origin, DW_AT_specification };
	Dwarf_Die found = *die, next;
	Dwarf_Attribute attr;
	size_t i;

	for (i = 0; i < sizeof(links) / sizeof(links[0]); i++)
		if (dwarf_formref_die(dwarf_attr(&found, links[i], &attr), &next))
			found = next;
	return found;
}

static bool is_named_scope(int tag)
{
	return tag == DW_TAG_namespace || tag == DW_TAG_class_type || tag == DW_TAG_structure_type ||
	       tag == DW_TAG_union_type || tag == DW_TAG_module;
}

/* "outer::inner::name", by the namespaces and classes that the function is declared in. */
static const char *qualified_name(struct inlines *i, Dwarf_Die *function)
{
	Dwarf_Die declaration = declaration_of(function), *scopes = NULL;
	const char *name = text_of(function, DW_AT_name), *scope;
	int cnt = name ? dwarf_getscopes_die(&declaration, &scopes) : 0;
	char text[DEMANGLE_BYTES];
	size_t len = 0;

	while (cnt-- > 1) {
		scope = is_named_scope(dwarf_tag(&scopes[cnt])) ? dwarf_diename(&scopes[cnt]) : NULL;
		if (scope && len + strlen(scope) + 2 < sizeof(text))
			len += (size_t)sprintf(text + len, "%s::", scope);
	}
	free(scopes);
	if (!name || len + strlen(name) >= sizeof(text))
		return keep(i, name);
	strcpy(text + len, name);
	return keep(i, text);
}

static const char *name_of(struct inlines *i, Dwarf_Die *function)
{
	const char *symbol = text_of(function, DW_AT_linkage_name) ?: text_of(function, DW_AT_MIPS_linkage_name);
	char name[DEMANGLE_BYTES];

	if (!symbol)
		return qualified_name(i, function) ?: "[unknown]";
	return keep(i, symbol_demangle(symbol, name) ? name : symbol) ?: "[unknown]";
}

static unsigned int number_of(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attr;
	Dwarf_Word value;

	return dwarf_formudata(dwarf_attr(die, name, &attr), &value) || value > UINT_MAX ? 0 : (unsigned int)value;
}

/* The line of @pc. */
static void put_line(struct inlines *i, Dwarf_Die *unit, uint64_t pc, struct inline_frame *out)
{
	Dwarf_Line *line = dwarf_getsrc_die(unit, pc);
	int number;

	if (!line)
		return;
	out->file = keep(i, dwarf_linesrc(line, NULL, NULL));
	if (!dwarf_lineno(line, &number) && number > 0)
		out->line = (unsigned int)number;
}

/* The line that the function was inlined into. */
static void put_call(struct inlines *i, Dwarf_Die *unit, Dwarf_Die *inlined, struct inline_frame *out)
{
	const unsigned int index = number_of(inlined, DW_AT_call_file);
	const char *path = NULL;
	Dwarf_Files *files;
	size_t cnt;

	if (dwarf_hasattr(inlined, DW_AT_call_file) && !dwarf_getsrcfiles(unit, &files, &cnt) && index < cnt)
		path = dwarf_filesrc(files, index, NULL, NULL);
	/* Number 0 is a file since DWARF 5; before that it is none, for which libdw has this. */
	out->file = path && strcmp(path, "???") ? keep(i, path) : NULL;
	out->line = number_of(inlined, DW_AT_call_line);
}

static bool is_function(int tag)
{
	return tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine;
}

/* Whether code of a function may be inside: it has addresses of its own. */
static bool is_code(int tag)
{
	return is_function(tag) || tag == DW_TAG_lexical_block || tag == DW_TAG_try_block || tag == DW_TAG_catch_block;
}

/*
 * The functions around @pc, outermost first, of what is in @die. (libdw's own search does not look into
 * namespaces.) A function in another one begins anew. How many there are.
 */
static unsigned int find_functions(Dwarf_Die *die, uint64_t pc, struct functions *found, unsigned int depth)
{
	Dwarf_Die child;
	int ret, tag;

	for (ret = dwarf_child(die, &child); !ret; ret = dwarf_siblingof(&child, &child)) {
		tag = dwarf_tag(&child);
		if (depth == DEPTH_MAX || !(is_code(tag) ? dwarf_haspc(&child, pc) > 0 : is_named_scope(tag)))
			continue;
		if (tag == DW_TAG_subprogram)
			found->cnt = 0;
		if (is_function(tag) && found->cnt < DEPTH_MAX)
			found->dies[found->cnt++] = child;
		find_functions(&child, pc, found, depth + 1);
		if (found->cnt)
			break;
	}
	return found->cnt;
}

int inlines_find(struct inlines *i, const char *path, const char *build_id, uint64_t rel_pc,
		 struct inline_frame *out, unsigned int max)
{
	struct dwarf_file *f = find_file(i, path, build_id);
	struct functions found = { .cnt = 0 };
	unsigned int cnt = 0, n;
	Dwarf_Die unit;

	if (!f || !find_unit(f, rel_pc, &unit))
		return 0;
	for (n = find_functions(&unit, rel_pc, &found, 0); n-- && cnt < max; cnt++) {
		out[cnt] = (struct inline_frame){ .name = name_of(i, &found.dies[n]) };
		if (cnt)
			put_call(i, &unit, &found.dies[n + 1], &out[cnt]);
		else
			put_line(i, &unit, rel_pc, &out[cnt]);
	}
	return (int)cnt;
}

int inlines_open(struct inlines **out, bool use_debuginfod)
{
	struct inlines *i = calloc(1, sizeof(*i));

	if (!i)
		return -ENOMEM;
	if (kept_names_open(&i->names, NAMES_BYTES_MAX)) {
		free(i);
		return -ENOMEM;
	}
	i->use_debuginfod = use_debuginfod;
	*out = i;
	return 0;
}

void inlines_close(struct inlines *i)
{
	if (!i)
		return;
	while (i->cnt)
		forget(i, &i->files[0]);
	kept_names_close(i->names);
	free(i);
}
