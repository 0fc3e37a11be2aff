// SPDX-License-Identifier: GPL-2.0
/*
 * Containers and units by the paths of cgroups, as runtimes and systemd make them.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cgroup_name.h"

#define A	"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define B	"fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"
#define UID	"user.slice/user-1000.slice/user@1000.service/"
#define POD	"kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1f0c_3a.slice/"

static const struct {
	const char *path, *container, *unit;
} cases[] = {
	/* docker: systemd's and its own driver, without root, systemd inside of a container */
	{ "/system.slice/docker-" A ".scope", A, "docker-" A ".scope" },
	{ "/docker/" A, A, "" },
	{ "/system.slice/docker.service", "", "docker.service" },
	{ "/" UID "user.slice/docker-" A ".scope", A, "docker-" A ".scope" },
	{ "/system.slice/docker-" A ".scope/init.scope", A, "docker-" A ".scope" },
	{ "/system.slice/docker-" A ".scope/system.slice/nginx.service", A, "nginx.service" },
	{ "/ecs/0123456789abcdef/" A, A, "" },
	/* containerd, with kubernetes' paths as systemd's and as directories, and as it is if the drivers differ */
	{ "/" POD "cri-containerd-" A ".scope", A, "cri-containerd-" A ".scope" },
	{ "/kubepods/besteffort/pod1f0c-3a/" A, A, "" },
	{ "/system.slice/containerd.service/kubepods-burstable-pod1f0c_3a.slice:cri-containerd:" A, A, "containerd.service" },
	{ "/system.slice/nerdctl-" A ".scope", A, "nerdctl-" A ".scope" },
	{ "/default/" A, A, "" },
	/* CRI-O, and what watches its containers */
	{ "/" POD "crio-" A ".scope", A, "crio-" A ".scope" },
	{ "/" POD "crio-" A ".scope/container", A, "crio-" A ".scope" },
	{ "/kubepods/burstable/pod1f0c/crio-" A, A, "" },
	{ "/" POD "crio-conmon-" A ".scope", "", "crio-conmon-" A ".scope" },
	/* podman: with and without root, in a pod, in the cgroup of a service */
	{ "/machine.slice/libpod-" A ".scope", A, "libpod-" A ".scope" },
	{ "/machine.slice/libpod-" A ".scope/container", A, "libpod-" A ".scope" },
	{ "/machine.slice/libpod-conmon-" A ".scope", "", "libpod-conmon-" A ".scope" },
	{ "/" UID "user.slice/libpod-" A ".scope/container", A, "libpod-" A ".scope" },
	{ "/machine.slice/machine-libpod_pod_" B ".slice/libpod-" A ".scope", A, "libpod-" A ".scope" },
	{ "/machine.slice/machine-libpod_pod_" B ".slice", "", "" },
	{ "/system.slice/web.service/libpod-payload-" A, A, "web.service" },
	{ "/libpod_parent/libpod-" A, A, "" },
	/* a container inside of another one; what watches it is in the outer one */
	{ "/docker/" B "/kubelet.slice/kubelet-" POD "cri-containerd-" A ".scope", A, "cri-containerd-" A ".scope" },
	{ "/docker/" B "/machine.slice/libpod-conmon-" A ".scope", B, "libpod-conmon-" A ".scope" },
	{ "/docker/" B "/docker/" A "/init", A, "" },
	/* systemd */
	{ "/init.scope", "", "init.scope" },
	{ "/system.slice/ssh.service", "", "ssh.service" },
	{ "/system.slice/ssh.service/worker/1", "", "ssh.service" },
	{ "/system.slice/system-getty.slice/getty@tty1.service", "", "getty@tty1.service" },
	{ "/system.slice/dev-hugepages.mount", "", "dev-hugepages.mount" },
	{ "/system.slice/dbus.socket", "", "dbus.socket" },
	{ "/user.slice/user-1000.slice/session-3.scope", "", "session-3.scope" },
	{ "/" UID "init.scope", "", "user@1000.service" },
	{ "/" UID "app.slice/app-gnome-org.example.App-4711.scope", "", "app-gnome-org.example.App-4711.scope" },
	{ "/" UID "session.slice/pipewire.service", "", "pipewire.service" },
	{ "/system.slice/_memory.service", "", "memory.service" },
	{ "/system.slice/run-r\\x2d1.service", "", "run-r\\x2d1.service" },
	/* neither */
	{ "/", "", "" }, { "", "", "" }, { "/system.slice", "", "" }, { "//", "", "" }, { "/.service", "", "" },
	{ "/_.service", "", "" }, { "/a b.service", "", "" }, { "/x.service/", "", "x.service" },
	{ "/service", "", "" }, { "/a.services", "", "" },
	{ "/docker/0" A, "", "" }, { "/docker/" A "0", "", "" }, { "/docker/g" A, "", "" },
	{ "/docker/0123456789abcdef", "", "" },
	{ "/docker/0123456789ABCDEF0123456789ABCDEF0123456789ABCDEF0123456789ABCDEF", "", "" },
	{ "/docker-" A ".slice", "", "" }, { "/docker-" A ".service", "", "docker-" A ".service" },
	{ "/0123456789abcdef0123456789abcdef/0123456789abcdef0123456789abcde", "", "" },
};

static void assert_part(struct cgroup_part got, const char *expected)
{
	char *text = strndup(got.len ? got.text : "", got.len);

	assert_non_null(text);
	assert_string_equal(text, expected);
	free(text);
}

static void test_paths(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_part(cgroup_container(cases[i].path), cases[i].container);
		assert_part(cgroup_unit(cases[i].path), cases[i].unit);
	}
}

/* Cut anywhere, on the heap for the sanitizers: what is found lies in the path. */
static void test_cut_paths(void **state)
{
	size_t i, len;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (len = 0; len < strlen(cases[i].path); len++) {
			char *path = strndup(cases[i].path, len);
			struct cgroup_part container, unit;

			assert_non_null(path);
			container = cgroup_container(path);
			unit = cgroup_unit(path);
			assert_true(!container.len || (container.text >= path && container.text + container.len <= path + len));
			assert_true(!unit.len || (unit.text >= path && unit.text + unit.len <= path + len));
			free(path);
		}
}

static void assert_label(const char *path, const char *expected)
{
	char *copy = malloc(strlen(path) + !*path), label[CGROUP_LABEL_BYTES];

	/* Without its NUL, on the heap for the sanitizers. */
	assert_non_null(copy);
	memcpy(copy, path, strlen(path));
	cgroup_label(label, copy, strlen(path));
	free(copy);
	assert_string_equal(label, expected);
}

static void test_labels(void **state)
{
	char path[6001], cut[CGROUP_LABEL_BYTES];

	(void)state;
	assert_label("/system.slice/docker-" A ".scope", "container 0123456789ab");
	assert_label("/system.slice/docker-" A ".scope/init.scope", "container 0123456789ab");
	assert_label("/system.slice/docker-" A ".scope/system.slice/nginx.service", "container 0123456789ab, nginx.service");
	assert_label("/system.slice/containerd.service/kubepods-pod1f0c.slice:cri-containerd:" A, "container 0123456789ab");
	assert_label("/system.slice/db.service", "db.service");
	assert_label("/batch/low", "/batch/low");
	assert_label("/", "");
	assert_label("", "");
	/* The end of what is too long, also of what no path is as long as. */
	memset(path, 'x', sizeof(path) - 1);
	path[0] = '/';
	memcpy(path + sizeof(path) - 4, "end", 4);
	snprintf(cut, sizeof(cut), "...%s", path + sizeof(path) - sizeof(cut) + 3);
	assert_label(path, cut);
	memcpy(path + sizeof(path) - 12, "/db.service", 12);
	assert_label(path, "db.service");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_cut_paths),
		cmocka_unit_test(test_labels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
