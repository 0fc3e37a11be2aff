/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Compressed files whose end is missing, as nobody was left to write it.
 */
#ifndef IO_REPAIR_H
#define IO_REPAIR_H

/*
 * Cuts a file of gzip or zstd, open to be read and written, after its last block that is whole and ends the stream
 * there, as compress.h would have, so that what is in front can be read; one without such a block is empty then. What is
 * whole stays as it is, as does anything else, and a file of gzip of more than 256 MiB, which would have to be
 * decompressed. 0 or -errno.
 */
int repair_compressed(int fd);

#endif
