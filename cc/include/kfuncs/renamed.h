/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Turns a built-in congestion control that is included after this into plain
 * functions for another one to call: its parameters have their defaults, its
 * state is not recorded, and the host ignores its ops table.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include "dumbbell.h"

#undef SEC
#undef PARAM
#undef SERIES
#undef SERIES_SCALED
#undef SERIES_STATE
#define SEC(name)			__attribute__((used))
#define PARAM(type, name, def, ...)	static const type name = def
#define SERIES(...)			struct __dumbbell_no_series
#define SERIES_SCALED(...)		struct __dumbbell_no_series
#define SERIES_STATE(...)		struct __dumbbell_no_series
