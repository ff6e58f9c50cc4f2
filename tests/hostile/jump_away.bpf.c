// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: jumps into the middle of nothing
// stopped by: its own process
// says: used the bad address 0x[0-9a-f]+ in `cong_avoid` \(flow 0, at [\d.]+ s\); SIGSEGV$
#include "deed.h"

static void deed(void) { ((void (*)(void))0x4747474747UL)(); }
IN_OP;
