// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: finds the engine's C library and calls its system()
// stopped by: seccomp
// says: made a forbidden system call \(SIGSYS\)
#include "deed.h"

extern int system(const char *command) __attribute__((weak));

static void deed(void)
{
	if (system)
		system("echo owned >/tmp/owned-by-system");
}
IN_OP;
