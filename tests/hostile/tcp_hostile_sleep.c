// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: sleeps when the first socket is made
// stopped by: the watchdog for time that stands still
// says: ^simulated time has not advanced for 1 s: .* has not returned from `init` .* it sleeps
#include <linux/module.h>
#include "module.h"

static void hostile_begin(struct sock *sk)
{
	sleep_for_ever();
}

static int __init hostile_register(void)
{
	hostile.init = hostile_begin;
	return tcp_register_congestion_control(&hostile);
}

module_init(hostile_register);
