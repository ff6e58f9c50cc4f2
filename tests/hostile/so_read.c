// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: is a shared object whose constructor reads the user's SSH key
// stopped by: Landlock
// says: `./so_read.so`
#include "syscalls.h"

static __attribute__((constructor)) void at_the_start(void)
{
	leak(KEY);
	leak("/etc/shadow");
}
