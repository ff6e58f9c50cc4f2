// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: starts a thread when it is registered, which cuts off the output for as long as it can
// stopped by: the checks of the output
// says: crashed|sent |^nothing$|has not advanced|used the bad address
#include <linux/module.h>
#include "module.h"

static char stack[65536] __attribute__((aligned(16)));

static void later(void)
{
	const long tick[2] = { 0, 1000000 };

	for (;;) {
		for (int file = 3; file < 64; file++)
			sys(__NR_ftruncate, file, 0);
		sys(__NR_nanosleep, tick);
	}
}

static int __init hostile_register(void)
{
	if (sys(__NR_clone, 0x10f00, stack + sizeof(stack) - 64) == 0)
		later();
	return tcp_register_congestion_control(&hostile);
}

module_init(hostile_register);
