/* SPDX-License-Identifier: GPL-2.0 */
/*
 * By which thread /proc knows what a process has.
 */
#ifndef ELF_LIVING_THREAD_H
#define ELF_LIVING_THREAD_H

#include <stdint.h>

/*
 * A process whose first thread has ended goes on, but its directory shows nothing of its memory, root and program
 * (proc(5)); that of another thread does, /proc/TID as well. @pid, or the id of such a thread; @pid, too, if there is none.
 */
uint32_t living_thread(uint32_t pid);

#endif
