// SPDX-License-Identifier: GPL-2.0
/*
 * USDT probes: the notes made by <sys/sdt.h>, in the format that
 * https://sourceware.org/systemtap/wiki/UserSpaceProbeImplementation describes.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "elf_p.h"

#define NOTE_NAME	"stapsdt"
#define NOTE_TYPE	3

/* Whether an argument begins at @s, as in "-4@%edi" and "8f@%xmm0". */
static bool begins_arg(const char *s)
{
	s += *s == '-';
	while (isdigit((unsigned char)*s))
		s++;
	s += *s == 'f';
	return *s == '@';
}

static bool parse_arg(const char *s, struct elf_usdt_arg *arg)
{
	*arg = (struct elf_usdt_arg){ .is_signed = *s == '-' };
	s += arg->is_signed;
	if (!*s || !strchr("1248", *s))
		return false;
	arg->bytes = *s++ - '0';
	arg->is_float = *s == 'f';
	return s[arg->is_float] == '@';
}

/*
 * "-4@%edi 8@-16(%rbp) 1@$5". Operands may have blanks in them ("[sp, 8]"). Those after one
 * that is not understood are left out, so that the others keep their numbers.
 */
static void parse_args(const char *s, struct elf_usdt *u)
{
	while (s && u->args_cnt < ELF_USDT_ARGS_MAX) {
		s += strspn(s, " ");
		if (!parse_arg(s, &u->args[u->args_cnt]))
			return;
		u->args_cnt++;
		do {
			s = strchr(s, ' ');
			if (s)
				s += strspn(s, " ");
		} while (s && !begins_arg(s));
	}
}

/* The string that begins at *@pos, which moves past it; NULL: none. */
static const char *take_string(const char **pos, const char *end)
{
	const char *s = *pos, *nul = memchr(s, 0, end - s);

	if (!nul || nul - s > ELF_NAME_BYTES_MAX)
		return NULL;
	*pos = nul + 1;
	return s;
}

static uint64_t take_address(const char **pos, size_t bytes)
{
	uint64_t wide;
	uint32_t narrow;

	memcpy(&wide, *pos, bytes == 8 ? 8 : 0);
	memcpy(&narrow, *pos, 4);
	*pos += bytes;
	return bytes == 8 ? wide : narrow;
}

/*
 * A note's description: three addresses and three strings. @base: where .stapsdt.base is, 0 if
 * there is none. If that is not where it was when the note was written, the file was prelinked
 * and all has moved with it.
 */
static bool read_note(const struct elf_file *f, const struct elf_note *note, size_t word,
		      uint64_t base, struct elf_usdt *u)
{
	const char *pos = note->desc, *end = pos + note->desc_bytes, *args;
	uint64_t pc, note_base, semaphore, moved;

	if (note->desc_bytes < 3 * word)
		return false;
	pc = take_address(&pos, word);
	note_base = take_address(&pos, word);
	semaphore = take_address(&pos, word);
	moved = base && note_base ? base - note_base : 0;
	*u = (struct elf_usdt){ .provider = take_string(&pos, end) };
	u->name = u->provider ? take_string(&pos, end) : NULL;
	args = u->name ? take_string(&pos, end) : NULL;
	if (!args || !*u->provider || !*u->name)
		return false;
	parse_args(args, u);
	/* A probe whose semaphore cannot be raised would never fire. */
	return elf_file_translate(f, pc + moved, true, &u->offset) &&
	       (!semaphore || elf_file_translate(f, semaphore + moved, false, &u->semaphore));
}

static int add_usdt(struct elf_file *f, const struct elf_usdt *u)
{
	if (array_reserve(f->usdts, f->usdt_cnt, f->usdt_cap, 1))
		return -ENOMEM;
	f->usdts[f->usdt_cnt++] = *u;
	return 0;
}

static uint64_t base_address(const struct elf_image *img)
{
	Elf_Scn *section = elf_image_section(img, ".stapsdt.base", SHT_NULL);
	GElf_Shdr h;

	return section && gelf_getshdr(section, &h) ? h.sh_addr : 0;
}

int elf_usdt_read(struct elf_file *f, const struct elf_image *img)
{
	Elf_Data *data = elf_image_data(img, elf_image_section(img, ".note.stapsdt", SHT_NOTE));
	size_t word = gelf_fsize(img->elf, ELF_T_ADDR, 1, EV_CURRENT), pos = 0;
	uint64_t base = base_address(img);
	struct elf_note note;
	struct elf_usdt usdt;
	Elf_Data copy;
	int err = 0;

	if (!data || !data->d_size)
		return 0;
	copy = *data;
	copy.d_buf = elf_file_keep(f, data->d_buf, data->d_size);
	if (!copy.d_buf)
		return -ENOMEM;
	while (!err && elf_note_next(&copy, &pos, &note))
		if (note.type == NOTE_TYPE && !strcmp(note.name, NOTE_NAME) &&
		    read_note(f, &note, word, base, &usdt))
			err = add_usdt(f, &usdt);
	return err;
}
