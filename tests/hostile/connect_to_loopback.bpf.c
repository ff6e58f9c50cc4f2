// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: connects to a service of this machine
// stopped by: seccomp
// says: made the forbidden system call `socket` in `cong_avoid` \(flow 0, at [\d.]+ s\); SIGSYS$
#include "deed.h"

static void deed(void)
{
	const u8 address[16] = { 2, 0, 4747 >> 8, 4747 & 255, 127, 0, 0, 1 };
	long socket = sys(__NR_socket, 2, 1);

	must_fail(sys(__NR_connect, socket, address, sizeof(address)));
}
IN_OP;
