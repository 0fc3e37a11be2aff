// SPDX-License-Identifier: GPL-2.0
#include "place.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/num.h"

#define OF_SYSTEM	"/run/kfxt"
#define OF_UNIT		OF_SYSTEM "/service"	/* RuntimeDirectory= of kfxt.service */
#define SUFFIX		".sock"

/* ---- directories ------------------------------------------------------------------------------ */

/* The first directory that systemd has made for this service, of those between colons. */
static bool of_service(char dir[PATH_MAX])
{
	const char *list = getenv("RUNTIME_DIRECTORY");
	const size_t len = list ? strcspn(list, ":") : 0;

	if (!len || len >= PATH_MAX || *list != '/')
		return false;
	snprintf(dir, PATH_MAX, "%.*s", (int)len, list);
	return true;
}

static bool of_user(char dir[PATH_MAX])
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");

	return runtime && *runtime == '/' && snprintf(dir, PATH_MAX, "%s/kfxt", runtime) < PATH_MAX;
}

unsigned int control_dirs(char dirs[CONTROL_DIRS_MAX][PATH_MAX])
{
	if (of_service(dirs[0]))
		return 1;
	snprintf(dirs[0], PATH_MAX, OF_SYSTEM);
	snprintf(dirs[1], PATH_MAX, OF_UNIT);
	return of_user(dirs[2]) ? 3 : 2;
}

/* Whether only its owner, who is root or us, decides what is in it. */
static int check_dir(const char *dir)
{
	struct stat st;

	if (lstat(dir, &st))
		return -errno;
	if (!S_ISDIR(st.st_mode))
		return -ENOTDIR;
	if ((st.st_uid && st.st_uid != geteuid()) || st.st_mode & S_IWOTH)
		return -EPERM;
	return faccessat(AT_FDCWD, dir, W_OK | X_OK, AT_EACCESS) ? -errno : 0;
}

static int make_dir(const char *dir, mode_t mode)
{
	const bool is_ours = !mkdir(dir, mode);

	if (!is_ours && errno != EEXIST)
		return -errno;
	/* Whatever the umask: the sockets say who may ask. */
	if (is_ours && chmod(dir, mode))
		return -errno;
	return check_dir(dir);
}

int control_dir_make(char dir[PATH_MAX], char *why, size_t size)
{
	int err;

	if (of_service(dir)) {
		err = make_dir(dir, 0755);
	} else {
		snprintf(dir, PATH_MAX, OF_SYSTEM);
		err = geteuid() ? check_dir(dir) : make_dir(dir, 0755);
		if (err && geteuid() && of_user(dir))
			err = make_dir(dir, 0700);
	}
	if (err)
		snprintf(why, size, "%s: %s", dir, err == -EPERM ? "others may write to it" : strerror(-err));
	return err;
}

/* ---- sockets ---------------------------------------------------------------------------------- */

int control_address(struct sockaddr_un *out, const char *dir, pid_t pid, const char *suffix)
{
	*out = (struct sockaddr_un){ .sun_family = AF_UNIX };
	return snprintf(out->sun_path, sizeof(out->sun_path), "%s/%d" SUFFIX "%s", dir, (int)pid, suffix) <
	       (int)sizeof(out->sun_path) ? 0 : -ENAMETOOLONG;
}

int control_connect(const struct sockaddr_un *address)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), err;

	if (fd < 0)
		return -errno;
	if (!connect(fd, (const struct sockaddr *)address, sizeof(*address)))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

/* The PID that is in the name of a socket; 0: it is no such name. */
static pid_t pid_of(const char *name)
{
	const size_t len = strlen(name), digits = strspn(name, "0123456789");
	char text[16];
	uint64_t pid;

	if (!digits || digits > 10 || len != digits + strlen(SUFFIX) || strcmp(name + digits, SUFFIX))
		return 0;
	snprintf(text, sizeof(text), "%.*s", (int)digits, name);
	return num_parse_u64(text, &pid, NULL) || pid > INT32_MAX ? 0 : (pid_t)pid;
}

/* If it is still the one that was looked at. */
static void remove_stale(int dir, const char *name, const struct stat *seen)
{
	struct stat now;

	if (!fstatat(dir, name, &now, AT_SYMLINK_NOFOLLOW) &&
	    now.st_ino == seen->st_ino && now.st_dev == seen->st_dev &&
	    now.st_ctim.tv_sec == seen->st_ctim.tv_sec && now.st_ctim.tv_nsec == seen->st_ctim.tv_nsec)
		unlinkat(dir, name, 0);
}

/* Is there a recorder? If not, its socket is removed. */
static bool look_at(int dir, const char *name, struct control_found *found)
{
	struct stat st;
	int fd;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISSOCK(st.st_mode))
		return false;
	fd = control_connect(&found->address);
	found->err = fd < 0 ? fd : 0;
	if (fd >= 0)
		close(fd);
	if (fd == -ECONNREFUSED)
		remove_stale(dir, name, &st);
	/* Whether it is alive cannot be tried: its process may say so, unless it is in another PID namespace. */
	return fd >= 0 || fd == -EAGAIN || (fd == -EACCES && (!kill(found->pid, 0) || errno == EPERM));
}

unsigned int control_list(const char *dir, struct control_found *found, unsigned int cnt)
{
	struct control_found f;
	const struct dirent *entry;
	DIR *d = opendir(dir);

	while (d && cnt < CONTROL_FOUND_MAX && (entry = readdir(d))) {
		f.pid = pid_of(entry->d_name);
		if (f.pid && !control_address(&f.address, dir, f.pid, "") && look_at(dirfd(d), entry->d_name, &f))
			found[cnt++] = f;
	}
	if (d)
		closedir(d);
	return cnt;
}
