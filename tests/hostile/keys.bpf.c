// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: reads and adds keys of the kernel's keyrings
// stopped by: seccomp
// says: made the forbidden system call `add_key` in `cong_avoid` \(flow 0, at [\d.]+ s\); SIGSYS$
#include "deed.h"

static void deed(void)
{
	must_fail(sys(__NR_add_key, "user", "owned", "x", 1, -3L));
	must_fail(sys(__NR_keyctl, 0, -3L, 1));
	must_fail(sys(__NR_request_key, "user", "owned", 0, -3L));
}
IN_OP;
