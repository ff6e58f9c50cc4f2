/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sources older than vmlinux.h include this of the kernel's; all of it is there. */
#include "vmlinux.h"
