// SPDX-License-Identifier: GPL-2.0
/*
 * The machine code of BPF programs: jited DIR ID... writes it to DIR/NAME, without the functions that
 * they call.
 */
#include <bpf/bpf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CODE_BYTES_MAX	(1U << 20)

static int dump(int fd, const char *dir, unsigned char *code)
{
	uint32_t main_bytes = 0;
	struct bpf_prog_info info = {
		.jited_prog_len = CODE_BYTES_MAX, .jited_prog_insns = (uintptr_t)code,
		.nr_jited_func_lens = 1, .jited_func_lens = (uintptr_t)&main_bytes,
	};
	uint32_t len = sizeof(info);
	char path[4096];
	size_t done;
	FILE *f;

	if (bpf_obj_get_info_by_fd(fd, &info, &len))
		return -1;
	if (!info.name[0] || main_bytes > CODE_BYTES_MAX)
		return 0;
	snprintf(path, sizeof(path), "%s/%s", dir, info.name);
	f = fopen(path, "w");
	if (!f)
		return -1;
	done = fwrite(code, 1, main_bytes, f);
	return fclose(f) || done != main_bytes ? -1 : 0;
}

int main(int argc, char **argv)
{
	unsigned char *code = malloc(CODE_BYTES_MAX);
	int i, fd, err = 0;

	if (argc < 2 || !code)
		return 2;
	for (i = 2; i < argc && !err; i++) {
		fd = bpf_prog_get_fd_by_id((uint32_t)strtoul(argv[i], NULL, 10));
		if (fd < 0)
			continue;	/* it has gone */
		err = dump(fd, argv[1], code);
		close(fd);
	}
	if (err)
		perror("jited");
	free(code);
	return err ? 1 : 0;
}
