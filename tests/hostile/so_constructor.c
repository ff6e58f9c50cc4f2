// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: is a shared object whose constructor writes, reads and forks
// stopped by: seccomp
// says: made the forbidden system call `clone` while it was loaded; SIGSYS$
#include "syscalls.h"

static __attribute__((constructor)) void at_the_start(void)
{
	create("/tmp/owned-by-object");
	leak(KEY);
	if (fork_process() == 0)
		sleep_for_ever();
}
