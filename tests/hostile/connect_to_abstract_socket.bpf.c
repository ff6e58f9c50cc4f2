// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: connects to a service by an abstract Unix socket, which has no path
// stopped by: seccomp
// says: made the forbidden system call `socket` in `cong_avoid` \(flow 0, at [\d.]+ s\); SIGSYS$
#include "deed.h"

static void deed(void)
{
	static const char address[] = "\1\0\0hostile-test";
	long socket = sys(__NR_socket, 1, 1);

	must_fail(sys(__NR_connect, socket, address, sizeof(address) - 1));
	for (int known = 0; known < 32; known++)
		must_fail(sys(__NR_connect, known, address, sizeof(address) - 1));
}
IN_OP;
