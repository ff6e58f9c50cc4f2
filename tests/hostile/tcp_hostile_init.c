// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: reads the user's SSH key and forks when the module is registered
// stopped by: seccomp
// says: made the forbidden system call `clone` while it was loaded; SIGSYS$
#include <linux/module.h>
#include "module.h"

static int deed(void)
{
	leak(KEY);
	if (fork_process() == 0)
		sleep_for_ever();
	return 0;
}

static int __init hostile_register(void)
{
	deed();
	return tcp_register_congestion_control(&hostile);
}

module_init(hostile_register);
