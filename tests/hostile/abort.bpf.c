// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: aborts
// stopped by: its own process
// says: aborted in `cong_avoid` \(flow 0, at [\d.]+ s\); SIGABRT$
#include "deed.h"

static void deed(void) { sys(__NR_tgkill, sys(__NR_getpid), sys(__NR_gettid), 6); }
IN_OP;
