// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: reads the user's SSH key when it is registered
// stopped by: Landlock
// says: nothing
#include <linux/module.h>
#include "module.h"

static int __init hostile_register(void)
{
	leak(KEY);
	leak("../notes.txt");
	return tcp_register_congestion_control(&hostile);
}

module_init(hostile_register);
