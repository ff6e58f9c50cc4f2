// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: replaces the process by a shell
// stopped by: seccomp
// says: made the forbidden system call `execve` in `cong_avoid` \(flow 0, at [\d.]+ s\); SIGSYS$
#include "deed.h"

static void deed(void)
{
	const char *arguments[] = { "/bin/sh", "-c", "echo owned >/tmp/owned-by-shell", 0 };

	sys(__NR_execve, arguments[0], arguments, 0);
}
IN_OP;
