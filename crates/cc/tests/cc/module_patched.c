// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A kernel module for the tests, written for a kernel patched as for BBRv3: more state than a stock
 * kernel has, and what such a kernel reports.
 */
#include <linux/module.h>
#include <linux/vmalloc.h>
#include <net/tcp.h>
#include <trace/events/tcp.h>
#include <module_patched.h>

struct patched {
	u32	tx_in_flight;
	u32	lost;
	u32	marked_lost_at;		/* tx.in_flight of the last segment that was lost */
	u32	marked_lost_seq;
	u32	tlp_recoveries;
	u32	port;
	char	peer[16];
	u64	history[20];
};

TRACE_EVENT(patched_ack,
	TP_PROTO(const struct sock *sk, u32 lost),
	TP_ARGS(sk, lost)
);

static void patched_init(struct sock *sk)
{
	struct patched *ca = inet_csk_ca(sk);

	ca->history[19] = PATCHED_MARK;
	ca->port = ntohs(inet_sk(sk)->inet_dport);
	if (sk->sk_family == AF_INET)
		snprintf(ca->peer, sizeof(ca->peer), "%x", ntohl(sk->sk_daddr));
	cmpxchg(&sk->sk_pacing_status, SK_PACING_NONE, SK_PACING_NEEDED);
}

static void patched_main(struct sock *sk, u32 ack, int flag, const struct rate_sample *rs)
{
	struct patched *ca = inet_csk_ca(sk);

	trace_patched_ack(sk, rs->lost);
	ca->tx_in_flight = rs->tx_in_flight;
	ca->lost = rs->lost + 1000 * rs->prior_lost + 1000000 * rs->is_ece;
}

static void patched_skb_marked_lost(struct sock *sk, const struct sk_buff *skb)
{
	struct patched *ca = inet_csk_ca(sk);

	ca->marked_lost_at = TCP_SKB_CB(skb)->tx.in_flight * tcp_skb_pcount(skb);
	ca->marked_lost_seq = TCP_SKB_CB(skb)->seq;
}

static u32 patched_tso_segs(struct sock *sk, unsigned int mss_now)
{
	return tcp_needs_internal_pacing(sk) ? tcp_mss_to_mtu(sk, mss_now) : BITS_PER_TYPE(u32);
}

static void patched_cwnd_event(struct sock *sk, enum tcp_ca_event event)
{
	struct patched *ca = inet_csk_ca(sk);

	if (event == CA_EVENT_TLP_RECOVERY)
		ca->tlp_recoveries++;
}

static u32 patched_ssthresh(struct sock *sk)
{
	return TCP_INFINITE_SSTHRESH;
}

static struct tcp_congestion_ops patched __read_mostly = {
	.flags		= TCP_CONG_WANTS_CE_EVENTS,
	.init		= patched_init,
	.cong_control	= patched_main,
	.skb_marked_lost = patched_skb_marked_lost,
	.tso_segs	= patched_tso_segs,
	.cwnd_event	= patched_cwnd_event,
	.ssthresh	= patched_ssthresh,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.owner		= THIS_MODULE,
	.name		= "patched",
};

static int __init patched_register(void)
{
	BUILD_BUG_ON(sizeof(struct patched) > ICSK_CA_PRIV_SIZE);
	return tcp_register_congestion_control(&patched);
}

module_init(patched_register);
MODULE_LICENSE("Dual BSD/GPL");
