// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: traces its parent
// stopped by: seccomp
// says: made the forbidden system call `ptrace` in `cong_avoid` \(flow 0, at [\d.]+ s\); SIGSYS$
#include "deed.h"

static void deed(void)
{
	must_fail(sys(__NR_ptrace, 16 /* PTRACE_ATTACH */, sys(__NR_getppid)));
	must_fail(sys(__NR_ptrace, 0x4206 /* PTRACE_SEIZE */, sys(__NR_getppid)));
}
IN_OP;
