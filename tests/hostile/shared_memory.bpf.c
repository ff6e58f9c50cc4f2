// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: leaves shared memory, queues and semaphores in the system
// stopped by: seccomp
// says: made the forbidden system call `shmget` in `cong_avoid` \(flow 0, at [\d.]+ s\); SIGSYS$
#include "deed.h"

static void deed(void)
{
	must_fail(sys(__NR_shmget, 4747, 1 << 20, 01666));
	must_fail(sys(__NR_msgget, 4747, 01666));
	must_fail(sys(__NR_semget, 4747, 1, 01666));
	must_fail(sys(__NR_mq_open, "owned", 0102, 0666, 0));
}
IN_OP;
