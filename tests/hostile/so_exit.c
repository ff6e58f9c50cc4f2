// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: is a shared object whose constructor ends the process as if all were well
// stopped by: its own process
// says: ended its process with exit status 0
#include "syscalls.h"

static __attribute__((constructor)) void at_the_start(void) { sys(__NR_exit_group, 0); }
