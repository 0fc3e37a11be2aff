/* SPDX-License-Identifier: GPL-2.0 */
#ifndef CLI_VERSION_H
#define CLI_VERSION_H

#ifndef KFXT_VERSION
#define KFXT_VERSION	"0.1.0"
#endif

#endif
