/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory in huge pages. Where these are on for all (/sys/kernel/mm/transparent_hugepage/enabled: always), khugepaged puts a
 * process's pages together, with its mmap_lock held (collapse_huge_page() of the kernel). It is a thread of nice 19: on a
 * busy CPU it is preempted in there, and the process waits for it at its next munmap() or page fault, uninterruptibly.
 */
#ifndef BASE_HUGE_PAGES_H
#define BASE_HUGE_PAGES_H

/* This process, and what it forks, has none from here on: prctl(2), PR_SET_THP_DISABLE. exec(2) does not change that. */
void huge_pages_refuse(void);
/* As they were before that: of the calling process, which is to become a program of somebody else's. */
void huge_pages_restore(void);

#endif
