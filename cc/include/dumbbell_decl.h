/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * PARAM, SERIES and the like of dumbbell.h alone, for a source that has min(),
 * before() and other shorthands of its own, as the kernel's have.
 */
#ifndef __NET_TCP_H__
#define __NET_TCP_H__
#endif

#include "dumbbell.h"
