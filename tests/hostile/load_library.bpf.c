// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: loads a shared object that lies next to it
// stopped by: seccomp
// says: made the forbidden system call `openat` in `cong_avoid` \(flow 0, at [\d.]+ s\); SIGSYS$
#include "deed.h"

extern void *dlopen(const char *path, int flags) __attribute__((weak));

static void deed(void)
{
	if (dlopen && dlopen(HOME "/hostile/libowned.so", 2))
		succeeded();
}
IN_OP;
