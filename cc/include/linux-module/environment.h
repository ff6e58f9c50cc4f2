/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a kernel module's source finds when it is compiled for the simulator.
 *
 * Every kernel header that the host knows by name (crates/cc/src/build/kernel_headers.rs)
 * includes this one, so it does not matter which of them a source asks for. Written
 * from the kernel's documented interface; docs/linux-congestion-controls.md lists it.
 */
#ifndef __DUMBBELL_ENVIRONMENT_H__
#define __DUMBBELL_ENVIRONMENT_H__

#define __KERNEL__	1
#define MODULE		1
/* For a source that can do without something only here. */
#define DUMBBELL	1

#include "compiler.h"

/*
 * Other than a BPF program a module may write every field of its socket. The
 * layout is one and the same.
 */
#define const
#include "../vmlinux.h"
#undef const

#include "arithmetic.h"
#include "clock.h"
#include "congestion_ops.h"
#include "services.h"
#include "../win_minmax.h"
#include "tcp.h"
#include "module.h"

#endif /* __DUMBBELL_ENVIRONMENT_H__ */
