// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: ends the process as if all were well
// stopped by: its own process
// says: ended its process with exit status 0
#include "deed.h"

static void deed(void) { sys(__NR_exit_group, 0); }
IN_OP;
