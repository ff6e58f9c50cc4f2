// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: makes sockets of every family and type
// stopped by: seccomp
// says: made the forbidden system call `socket` in `cong_avoid` \(flow 0, at [\d.]+ s\); SIGSYS$
#include "deed.h"

static void deed(void)
{
	for (int family = 0; family < 50; family++)
		for (int type = 1; type <= 10; type++)
			must_fail(sys(__NR_socket, family, type));
}
IN_OP;
