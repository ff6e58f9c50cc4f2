// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: puts a table of its own making into the socket
// stopped by: the checks of tables
// says: set icsk_ca_ops to 0x4747474747, which is not the address of a table in `init`
#include <linux/module.h>
#include "module.h"

static void hostile_begin(struct sock *sk)
{
	inet_csk(sk)->icsk_ca_ops = (void *)0x4747474747UL;
}

static int __init hostile_register(void)
{
	hostile.init = hostile_begin;
	return tcp_register_congestion_control(&hostile);
}

module_init(hostile_register);
