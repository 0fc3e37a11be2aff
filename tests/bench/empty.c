// SPDX-License-Identifier: GPL-2.0
/* Keeps a program that does nothing attached to context switches until its standard input ends. */
#include <stdio.h>
#include <unistd.h>

#include "empty.skel.h"

int main(void)
{
	struct empty *skel = empty__open_and_load();
	char end;

	if (!skel || empty__attach(skel)) {
		fprintf(stderr, "empty: cannot attach (run as root)\n");
		return 5;
	}
	puts("ready");
	fflush(stdout);
	while (read(STDIN_FILENO, &end, 1) > 0)
		;
	empty__destroy(skel);
	return 0;
}
