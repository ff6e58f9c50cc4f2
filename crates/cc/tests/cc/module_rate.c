// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A kernel module for the tests, whose cong_control() is that of Linux before 6.10. */
#include <linux/module.h>
#include <net/tcp.h>

static void rate_main(struct sock *sk, const struct rate_sample *rs)
{
	tcp_sk(sk)->snd_cwnd = rs->acked_sacked;
}

static u32 rate_ssthresh(struct sock *sk)
{
	return TCP_INFINITE_SSTHRESH;
}

static struct tcp_congestion_ops rate __read_mostly = {
	.ssthresh	= rate_ssthresh,
	.cong_control	= rate_main,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.owner		= THIS_MODULE,
	.name		= "rate",
};

static int __init rate_register(void)
{
	return tcp_register_congestion_control(&rate);
}

module_init(rate_register);
MODULE_LICENSE("Dual BSD/GPL");
