// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: reads /etc/shadow
// stopped by: seccomp
// says: made the forbidden system call `openat` in `cong_avoid` \(flow 0, at [\d.]+ s\); SIGSYS$
#include "deed.h"

static void deed(void) { leak("/etc/shadow"); }
IN_OP;
