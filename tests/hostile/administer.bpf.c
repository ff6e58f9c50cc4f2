// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: renames the machine, sets the clock, loads a module, writes to the kernel's log
// stopped by: seccomp
// says: made the forbidden system call .+ in `cong_avoid` \(flow 0, at [\d.]+ s\); SIGSYS$
#include "deed.h"

static void deed(void)
{
	long now[2];

	must_fail(sys(__NR_sethostname, "owned", 5));
	sys(__NR_clock_gettime, 0, now);
	must_fail(sys(__NR_settimeofday, now, 0));
	must_fail(sys(__NR_init_module, "", 0, ""));
	must_fail(sys(__NR_syslog, 3, 0, 0));
	must_fail(sys(__NR_swapon, "/tmp", 0));
}
IN_OP;
