// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: executes a program that it wrote into memory
// stopped by: seccomp
// says: made the forbidden system call `execveat` in `cong_avoid` \(flow 0, at [\d.]+ s\); SIGSYS$
#include "deed.h"

static void deed(void)
{
	static const char script[] = "#!/bin/sh\necho owned >/tmp/owned-by-memory\n";
	const char *arguments[] = { "memory", 0 };
	long file = sys(__NR_memfd_create, "memory", 0);

	sys(__NR_write, file, script, sizeof(script) - 1);
	sys(__NR_execveat, file, "", arguments, 0, 0x1000 /* AT_EMPTY_PATH */);
}
IN_OP;
