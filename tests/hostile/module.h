/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the hostile kernel modules share: Reno, and system calls. */
#include <net/tcp.h>
#include "syscalls.h"

static struct tcp_congestion_ops hostile __attribute__((unused)) = {
	.ssthresh	= tcp_reno_ssthresh,
	.cong_avoid	= tcp_reno_cong_avoid,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.owner		= THIS_MODULE,
	.name		= "hostile",
};

MODULE_LICENSE("GPL");
