/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Only PARAM, SERIES and the like of dumbbell.h, for a source that defines
 * min(), before() and other shorthands itself, as the kernel's do.
 */
#ifndef __NET_TCP_H__
#define __NET_TCP_H__
#endif

#include "dumbbell.h"
