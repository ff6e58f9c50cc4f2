// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: has a terminal's control characters in its name
// stopped by: the checks of names
// says: needs a \.name of 1 to 15 letters
#include <linux/module.h>
#include "module.h"

static int __init hostile_register(void)
{
	__builtin_memcpy(hostile.name, "\033[2Jh\007", 7);
	return tcp_register_congestion_control(&hostile);
}

module_init(hostile_register);
