// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: turns address randomisation off
// stopped by: seccomp
// says: made the forbidden system call `personality` in `cong_avoid` \(flow 0, at [\d.]+ s\); SIGSYS$
#include "deed.h"

static void deed(void) { must_fail(sys(__NR_personality, 0x0040000)); }
IN_OP;
