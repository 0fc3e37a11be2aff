// SPDX-License-Identifier: GPL-2.0
/*
 * Symbols in .gnu_debugdata: a small ELF file, compressed by xz, with the functions that are not in
 * .dynsym. Distributions have it in programs whose debug files are apart.
 */
#include <errno.h>
#include <lzma.h>
#include <stdlib.h>

#include "base/array.h"
#include "elf_p.h"

#define OUTPUT_BYTES_MAX	(64U << 20)
#define MEMORY_BYTES_MAX	(80U << 20)	/* of the decoder: a dictionary of 64 MiB is the largest of xz -9 */
#define FIRST_BYTES		(64U << 10)

struct output {
	uint8_t *data;
	size_t bytes, cap;
};

static int grow_output(struct output *out)
{
	if (out->cap >= OUTPUT_BYTES_MAX)
		return -EFBIG;
	return array_reserve(out->data, out->bytes, out->cap, out->cap ? 1 : FIRST_BYTES);
}

/* 0, or -errno: -EFBIG, -EBADMSG for what is no whole xz stream. */
static int decode(lzma_stream *stream, struct output *out)
{
	lzma_ret ret = LZMA_OK;
	int err;

	while (ret == LZMA_OK) {
		err = out->bytes == out->cap ? grow_output(out) : 0;
		if (err)
			return err;
		stream->next_out = out->data + out->bytes;
		stream->avail_out = out->cap - out->bytes;
		ret = lzma_code(stream, LZMA_FINISH);
		out->bytes = out->cap - stream->avail_out;
	}
	return ret == LZMA_STREAM_END ? 0 : ret == LZMA_MEM_ERROR ? -ENOMEM : -EBADMSG;
}

static int decompress(const Elf_Data *data, struct output *out)
{
	lzma_stream stream = LZMA_STREAM_INIT;
	int err = -ENOMEM;

	stream.next_in = data->d_buf;
	stream.avail_in = data->d_size;
	if (lzma_stream_decoder(&stream, MEMORY_BYTES_MAX, 0) == LZMA_OK)
		err = decode(&stream, out);
	lzma_end(&stream);
	return err;
}

static int add_symbols(struct elf_file *f, const struct elf_image *img, struct output *out)
{
	struct elf_image inner;
	const char *why;
	int ret = 0;

	if (elf_image_open_memory(&inner, out->data, out->bytes, &why))
		return 0;
	if (inner.header.e_machine == img->header.e_machine &&
	    inner.header.e_ident[EI_CLASS] == img->header.e_ident[EI_CLASS])
		ret = elf_symbols_add(f, &inner, SHT_SYMTAB);
	elf_image_close(&inner);
	return ret == -ENOEXEC ? 0 : ret;
}

int elf_debugdata_add(struct elf_file *f, const struct elf_image *img)
{
	const Elf_Data *data = elf_image_data(img, elf_image_section(img, ".gnu_debugdata", SHT_PROGBITS));
	struct output out = { 0 };
	int ret;

	if (!data || !data->d_buf || !data->d_size)
		return 0;
	ret = decompress(data, &out);
	ret = ret ? (ret == -ENOMEM ? ret : 0) : add_symbols(f, img, &out);
	free(out.data);
	return ret;
}
