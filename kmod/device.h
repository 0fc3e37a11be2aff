/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The misc device, see kfxt.h. It is all that can be called from outside.
 */
#ifndef KFXT_DEVICE_H
#define KFXT_DEVICE_H

int kfxt_device_register(void);
void kfxt_device_unregister(void);

#endif
