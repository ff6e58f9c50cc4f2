// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: stops its parent, which then answers nobody
// stopped by: seccomp
// says: made the forbidden system call `kill` in `cong_avoid` \(flow 0, at [\d.]+ s\); SIGSYS$
#include "deed.h"

static void deed(void) { must_fail(sys(__NR_kill, sys(__NR_getppid), STOP)); }
IN_OP;
