// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A kernel module for the tests, written for Linux before 4.7: the RTT itself, times of their own
 * type, no undo_cwnd. This comment is in Latin-1: größe.
 */
#include <linux/module.h>
#include <linux/slab.h>
#include <net/tcp.h>

struct old {
	struct skb_mstamp begun;
	u32	begun_jiffies;
	u32	rtt_us;
	u32	elapsed_us;
	u32	seconds;
};

static void old_init(struct sock *sk)
{
	struct old *ca = inet_csk_ca(sk);

	skb_mstamp_get(&ca->begun);
	ca->begun_jiffies = tcp_time_stamp;
	ca->seconds = get_seconds();
}

static void old_pkts_acked(struct sock *sk, u32 num_acked, s32 rtt_us)
{
	struct old *ca = inet_csk_ca(sk);

	ca->rtt_us = rtt_us + num_acked;
	ca->elapsed_us = skb_mstamp_us_delta(&tcp_sk(sk)->tcp_mstamp, &ca->begun);
}

static u32 old_tso_segs_goal(struct sock *sk)
{
	const struct old *ca = inet_csk_ca(sk);

	return ca->rtt_us ? 3 : 0;
}

static struct tcp_congestion_ops old __read_mostly = {
	.init		= old_init,
	.pkts_acked	= old_pkts_acked,
	.tso_segs_goal	= old_tso_segs_goal,
	.ssthresh	= tcp_reno_ssthresh,
	.cong_avoid	= tcp_reno_cong_avoid,
	.owner		= THIS_MODULE,
	.name		= "old",
};

static int __init old_register(void)
{
	BUILD_BUG_ON(sizeof(struct old) > ICSK_CA_PRIV_SIZE);
	return tcp_register_congestion_control(&old);
}

module_init(old_register);
MODULE_LICENSE("Dual BSD/GPL");
