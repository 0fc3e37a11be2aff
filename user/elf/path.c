// SPDX-License-Identifier: GPL-2.0
/*
 * Which file a user means: a path, a process, a library or a program.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "elf_p.h"

#define CACHE_PATH		"/etc/ld.so.cache"
#define CACHE_BYTES_MAX		(16 << 20)	/* 45 kB for 700 libraries */

#if defined(__x86_64__)
#define MULTIARCH "x86_64-linux-gnu"
#elif defined(__aarch64__)
#define MULTIARCH "aarch64-linux-gnu"
#elif defined(__riscv)
#define MULTIARCH "riscv64-linux-gnu"
#else
#define MULTIARCH ""
#endif

/* Where the loaders of Debian, Fedora, Arch and Alpine look by default. */
static const char *const library_dirs[] = {
	"/lib/" MULTIARCH, "/usr/lib/" MULTIARCH, "/lib64", "/usr/lib64", "/lib", "/usr/lib",
	"/usr/local/lib",
};

/* How well a library's name fits what was asked for. */
enum fit {
	FIT_NOT,
	FIT_LONG,	/* libc.so.6.1 for libc */
	FIT_PLAIN,	/* libc.so */
	FIT_SONAME,	/* libc.so.6 */
	FIT_SAME,
};

struct search {
	const char *word;
	char *path;		/* of the best one */
	enum fit fit;
	dev_t dev;
	ino_t ino;
	bool is_ambiguous;	/* another file fits as well */
};

static int put_path(char path[ELF_PATH_BYTES], const char *dir, size_t dir_len, const char *name)
{
	const size_t len = strlen(name);

	if (dir_len + len >= ELF_PATH_BYTES)
		return -ENAMETOOLONG;
	memcpy(path, dir, dir_len);
	memcpy(path + dir_len, name, len + 1);
	return 0;
}

static bool is_number(const char *s)
{
	return *s && !s[strspn(s, "0123456789")];
}

/* ---- libraries ----------------------------------------------------------------- */

static enum fit how_fits(const char *name, const char *word)
{
	size_t len = strlen(word);

	if (!strcmp(name, word))
		return FIT_SAME;
	if (strncmp(name, word, len) || strncmp(name + len, ".so", 3))
		return FIT_NOT;
	name += len + 3;
	if (!*name)
		return FIT_PLAIN;
	if (*name != '.')
		return FIT_NOT;
	return is_number(name + 1) ? FIT_SONAME : FIT_LONG;
}

/* Not a linker script, and not for 32 bit programs. */
static bool is_library(const char *path, struct stat *st)
{
	struct elf_image img;
	const char *why;
	bool is_native;

	if (elf_image_open(&img, path, &why))
		return false;
	is_native = elf_image_is_native(&img) && !fstat(img.fd, st);
	elf_image_close(&img);
	return is_native;
}

/* Takes a library if it fits better than what there is. Of the same name the first one counts. */
static void offer(struct search *s, const char *name, const char *dir, const char *path)
{
	enum fit fit = how_fits(name, s->word);
	char full[ELF_PATH_BYTES];
	struct stat st;

	if (fit == FIT_NOT || fit < s->fit || (fit == FIT_SAME && s->fit == FIT_SAME))
		return;
	if (put_path(full, dir, strlen(dir), path) || !is_library(full, &st))
		return;
	if (fit == s->fit) {
		s->is_ambiguous |= st.st_dev != s->dev || st.st_ino != s->ino;
		return;
	}
	strcpy(s->path, full);
	s->fit = fit;
	s->dev = st.st_dev;
	s->ino = st.st_ino;
	s->is_ambiguous = false;
}

static void search_entries(struct search *s, const struct elf_cache *c)
{
	const char *name, *path;
	uint32_t i;

	for (i = 0; i < c->entry_cnt; i++)
		if (elf_cache_entry(c, i, &name, &path))
			offer(s, name, "", path);
}

static void search_cache(struct search *s)
{
	int fd = open(CACHE_PATH, O_RDONLY | O_CLOEXEC);
	struct elf_cache cache;
	struct stat st;
	void *data = NULL;
	ssize_t len;

	if (fd < 0)
		return;
	if (!fstat(fd, &st) && st.st_size <= CACHE_BYTES_MAX)
		data = malloc(st.st_size ?: 1);
	len = data ? read(fd, data, st.st_size) : -1;
	if (len >= 0 && !elf_cache_init(&cache, data, len))
		search_entries(s, &cache);
	free(data);
	close(fd);
}

static void search_dir(struct search *s, const char *path)
{
	char slashed[64];
	const struct dirent *entry;
	DIR *dir = opendir(path);

	if (!dir)
		return;
	snprintf(slashed, sizeof(slashed), "%s/", path);
	while ((entry = readdir(dir)))
		offer(s, entry->d_name, slashed, entry->d_name);
	closedir(dir);
}

static int find_library(const char *word, char path[ELF_PATH_BYTES])
{
	struct search s = { .word = word, .path = path };
	size_t i;

	search_cache(&s);
	for (i = 0; !s.fit && i < sizeof(library_dirs) / sizeof(library_dirs[0]); i++)
		search_dir(&s, library_dirs[i]);
	if (!s.fit)
		return -ENOENT;
	return s.is_ambiguous ? -ENOTUNIQ : 0;
}

/* ---- programs and paths ----------------------------------------------------------- */

static int find_program(const char *word, char path[ELF_PATH_BYTES])
{
	const char *dirs = getenv("PATH") ?: "/usr/bin:/bin", *end;
	char slashed[NAME_MAX + 2];
	struct stat st;

	if (snprintf(slashed, sizeof(slashed), "/%s", word) >= (int)sizeof(slashed))
		return -ENOENT;
	for (;; dirs = end + 1) {
		end = strchrnul(dirs, ':');
		if (!put_path(path, end > dirs ? dirs : ".", end > dirs ? end - dirs : 1,
			      slashed) &&
		    !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK))
			return 0;
		if (!*end)
			return -ENOENT;
	}
}

static int find_path(const char *word, char path[ELF_PATH_BYTES])
{
	struct stat st;
	int err = put_path(path, "", 0, word);

	if (err)
		return err;
	return stat(path, &st) ? -errno : 0;
}

static int find_process(const char *pid, char path[ELF_PATH_BYTES])
{
	char exe[64];

	if (snprintf(exe, sizeof(exe), "/proc/%s/exe", pid) >= (int)sizeof(exe))
		return -ENOENT;
	return find_path(exe, path);
}

static bool is_library_name(const char *word)
{
	return !strncmp(word, "lib", 3) || strstr(word, ".so");
}

int elf_path_find(const char *word, char path[ELF_PATH_BYTES])
{
	int err = -ENOENT;

	if (!*word)
		return -ENOENT;
	if (strchr(word, '/'))
		return find_path(word, path);
	if (is_number(word))
		return find_process(word, path);
	if (is_library_name(word))
		err = find_library(word, path);
	return err == -ENOENT ? find_program(word, path) : err;
}
