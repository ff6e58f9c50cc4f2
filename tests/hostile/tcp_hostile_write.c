// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: writes files when the first socket is made
// stopped by: seccomp
// says: made the forbidden system call `openat` in `init` \(flow 0, at [\d.]+ s\); SIGSYS$
#include <linux/module.h>
#include "module.h"

static void hostile_begin(struct sock *sk)
{
	if (create("/tmp/owned-by-module") || create(HOME "/owned-by-module"))
		succeeded();
}

static int __init hostile_register(void)
{
	hostile.init = hostile_begin;
	return tcp_register_congestion_control(&hostile);
}

module_init(hostile_register);
