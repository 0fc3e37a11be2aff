// SPDX-License-Identifier: GPL-2.0
/*
 * Functions from symbol tables.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "elf_p.h"

/* The string table of a symbol table, ours to write to. */
struct table {
	char *names;
	size_t bytes;
};

/*
 * Cuts the version from a name ("malloc@@GLIBC_2.2.5"); false: not a name. Strings may share
 * their ends, but those that share the @ are cut at the same place.
 */
static bool take_name(char *name)
{
	size_t len = strnlen(name, ELF_NAME_BYTES_MAX + 1);
	char *version = memchr(name, '@', len);

	if (version)
		*version = 0;
	return *name && (version || len <= ELF_NAME_BYTES_MAX);
}

/* An IFUNC's symbol is not the function but what chooses it. */
static void add_symbol(struct elf_file *f, const struct table *t, const GElf_Sym *sym)
{
	struct elf_symbol *s = &f->symbols[f->symbol_cnt];

	if (GELF_ST_TYPE(sym->st_info) != STT_FUNC || sym->st_shndx == SHN_UNDEF ||
	    sym->st_name >= t->bytes)
		return;
	s->func.name = t->names + sym->st_name;
	s->func.size = sym->st_size;
	s->is_local = GELF_ST_BIND(sym->st_info) == STB_LOCAL;
	if (elf_file_translate(f, sym->st_value, true, &s->func.offset) &&
	    take_name(t->names + sym->st_name))
		f->symbol_cnt++;
}

int elf_symbols_add(struct elf_file *f, const struct elf_image *img, uint32_t type)
{
	Elf_Scn *section = elf_image_section(img, NULL, type);
	struct elf_strings names;
	struct table table;
	Elf_Data *data;
	GElf_Shdr h;
	GElf_Sym sym;
	size_t cnt, i;

	if (!section)
		return 0;
	data = elf_image_data(img, section);
	if (!data || !gelf_getshdr(section, &h))
		return -ENOEXEC;
	names = elf_image_strings(img, h.sh_link);
	cnt = data->d_size / gelf_fsize(img->elf, ELF_T_SYM, 1, EV_CURRENT);
	if (!names.bytes || !cnt)
		return cnt ? -ENOEXEC : 1;
	table.names = elf_file_keep(f, names.data, names.bytes);
	table.bytes = names.bytes;
	if (!table.names || array_reserve(f->symbols, f->symbol_cnt, f->symbol_cap, cnt))
		return -ENOMEM;
	for (i = 0; i < cnt && gelf_getsym(data, (int)i, &sym); i++)
		add_symbol(f, &table, &sym);
	return 1;
}

/* Of duplicates the most specific one is first: global, and with a size. */
static int compare_addresses(const void *a, const void *b)
{
	const struct elf_symbol *x = a, *y = b;
	int names;

	if (x->func.offset != y->func.offset)
		return x->func.offset < y->func.offset ? -1 : 1;
	names = strcmp(x->func.name, y->func.name);
	if (names)
		return names;
	if (x->is_local != y->is_local)
		return x->is_local ? 1 : -1;
	return x->func.size < y->func.size ? 1 : x->func.size > y->func.size ? -1 : 0;
}

static bool is_duplicate(const struct elf_func *x, const struct elf_func *y)
{
	return x->offset == y->offset && !strcmp(x->name, y->name);
}

int elf_symbols_finish(struct elf_file *f)
{
	size_t i, n = 0;

	if (f->symbol_cnt) {
		qsort(f->symbols, f->symbol_cnt, sizeof(*f->symbols), compare_addresses);
		f->funcs = calloc(f->symbol_cnt, sizeof(*f->funcs));
		f->is_local = calloc(f->symbol_cnt, sizeof(*f->is_local));
		if (!f->funcs || !f->is_local)
			return -ENOMEM;
	}
	for (i = 0; i < f->symbol_cnt; i++) {
		if (n && is_duplicate(&f->funcs[n - 1], &f->symbols[i].func))
			continue;
		f->is_local[n] = f->symbols[i].is_local;
		f->funcs[n++] = f->symbols[i].func;
	}
	f->func_cnt = n;
	free(f->symbols);
	f->symbols = NULL;
	f->symbol_cnt = 0;
	return 0;
}
