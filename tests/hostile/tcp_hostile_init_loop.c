// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: never finishes registering
// stopped by: the limit of time for loading
// says: was not loaded within 1 s of CPU time: look at its constructors
#include <linux/module.h>
#include "module.h"

static int __init hostile_register(void)
{
	for (;;)
		__asm__ volatile("");
	return tcp_register_congestion_control(&hostile);
}

module_init(hostile_register);
