// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A kernel module for the tests: it gives its sockets a table without a
 * required op.
 */
#include <linux/module.h>
#include <net/tcp.h>

static int nowhere;
module_param(nowhere, int, 0444);

static struct tcp_congestion_ops hollow_other = {
	.ssthresh	= tcp_reno_ssthresh,
	.cong_avoid	= tcp_reno_cong_avoid,
	.owner		= THIS_MODULE,
	.name		= "hollow-other",
};

static void hollow_init(struct sock *sk)
{
	inet_csk(sk)->icsk_ca_ops = nowhere ? (void *)(long)nowhere : &hollow_other;
}

static struct tcp_congestion_ops hollow = {
	.init		= hollow_init,
	.ssthresh	= tcp_reno_ssthresh,
	.cong_avoid	= tcp_reno_cong_avoid,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.owner		= THIS_MODULE,
	.name		= "hollow",
};

static int __init hollow_register(void)
{
	return tcp_register_congestion_control(&hollow);
}

module_init(hollow_register);
MODULE_LICENSE("Dual BSD/GPL");
