/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A module's own header, next to it. */
#define PATCHED_MARK	77
