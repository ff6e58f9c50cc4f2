/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* For sources older than vmlinux.h, which include this header of the kernel. */
#include "vmlinux.h"
