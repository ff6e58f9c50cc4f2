// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: writes into the home, /tmp, /dev/shm, the cache and the results
// stopped by: seccomp
// says: made the forbidden system call `openat` in `cong_avoid` \(flow 0, at [\d.]+ s\); SIGSYS$
#include "deed.h"

static void deed(void)
{
	int count = create(HOME "/owned") + create(HOME "/.bashrc") + create("/tmp/owned") +
		    create("/dev/shm/owned") + create(HOME "/cache/owned") +
		    create(HOME "/out/owned") + create("/var/tmp/owned") + create("owned");

	if (count)
		succeeded();
}
IN_OP;
