// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: ends the process when it is registered, as if all were well
// stopped by: its own process
// says: ended its process with exit status 0
#include <linux/module.h>
#include "module.h"

static int __init hostile_register(void)
{
	sys(__NR_exit_group, 0);
	return tcp_register_congestion_control(&hostile);
}

module_init(hostile_register);
