// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: reads and writes its parent's memory by process_vm_readv
// stopped by: seccomp
// says: made the forbidden system call `process_vm_readv` in `cong_avoid` \(flow 0, at [\d.]+ s\); SIGSYS$
#include "deed.h"

static void deed(void)
{
	char text[64];
	const void *here[2] = { text, (void *)64 };
	const void *there[2] = { __builtin_frame_address(0), (void *)64 };

	must_fail(sys(__NR_process_vm_readv, sys(__NR_getppid), here, 1, there, 1));
	must_fail(sys(__NR_process_vm_writev, sys(__NR_getppid), here, 1, there, 1));
}
IN_OP;
