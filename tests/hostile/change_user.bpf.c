// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: takes the user's identity and capabilities
// stopped by: seccomp
// says: made the forbidden system call `setresuid` in `cong_avoid` \(flow 0, at [\d.]+ s\); SIGSYS$
#include "deed.h"

static void deed(void)
{
	const u32 header[2] = { 0x20080522, 0 };
	u32 sets[6];

	must_fail(sys(__NR_setresuid, 0, 0, 0));
	must_fail(sys(__NR_setgroups, 0, 0));
	must_fail(sys(__NR_capget, header, sets));
	must_fail(sys(__NR_capset, header, sets));
}
IN_OP;
