// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: closes every descriptor when it is registered
// stopped by: its own process
// says: (ended its process with exit status|closed the socket on which its run answers)
#include <linux/module.h>
#include "module.h"

static int __init hostile_register(void)
{
	for (int i = 0; i < 256; i++)
		sys(__NR_close, i);
	return tcp_register_congestion_control(&hostile);
}

module_init(hostile_register);
