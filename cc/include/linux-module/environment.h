/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The environment of a kernel module's source that is compiled for the simulator.
 *
 * Every kernel header that the host knows by name (crates/cc/src/build/kernel_headers.rs) includes
 * this one, so it does not matter which of them a source includes. Written from the kernel's
 * documented interface; docs/linux-congestion-controls.md lists it.
 */
#ifndef __DUMBBELL_ENVIRONMENT_H__
#define __DUMBBELL_ENVIRONMENT_H__

#define __KERNEL__	1
#define MODULE		1
/* Lets a source leave something out here only. */
#define DUMBBELL	1

#include "compiler.h"
#ifdef DUMBBELL_BEFORE_4_13
#include "before_4_13.h"
#endif

/*
 * Unlike a BPF program, a module may write every field of its socket. The layout is the same.
 */
#define const
#include "../vmlinux.h"
#undef const

#include "arithmetic.h"
#include "clock.h"
#include "list.h"
#include "congestion_ops.h"
#include "services.h"
#include "../win_minmax.h"
#include "skb.h"
#include "tcp.h"
#include "tracing.h"
#include "module.h"

#endif /* __DUMBBELL_ENVIRONMENT_H__ */
