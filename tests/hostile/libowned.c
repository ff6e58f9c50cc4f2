/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The library that `load_library.bpf.c` loads. */
#include "syscalls.h"

static __attribute__((constructor)) void at_the_start(void)
{
	create("/tmp/owned-by-library");
	leak(KEY);
}
