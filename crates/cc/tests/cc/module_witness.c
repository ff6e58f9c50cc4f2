// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A kernel module for the tests, written for a kernel patched as for BBRv3: it stops the run with
 * BUG() when what such a kernel reports contradicts itself, and halves cwnd on a loss.
 */
#include <linux/module.h>
#include <net/tcp.h>

struct witness {
	u32	lost;			/* segments that skb_marked_lost() reported */
	u32	sampled_losses;
	u32	in_flight_max;
};

static void witness_init(struct sock *sk)
{
	struct witness *ca = inet_csk_ca(sk);

	ca->in_flight_max = TCP_INIT_CWND + 1;
	tcp_sk(sk)->fast_ack_mode = 1;
	BUG_ON(sk->sk_family != AF_INET || !inet_sk(sk)->inet_sport);
}

static void witness_main(struct sock *sk, const struct rate_sample *rs)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct witness *ca = inet_csk_ca(sk);

	BUG_ON(ca->lost != tp->lost);
	ca->sampled_losses += rs->losses;
	BUG_ON(ca->sampled_losses > tp->lost);
	if (rs->delivered > 0) {
		/* Sent within the window, and at most what was in flight then was delivered since. */
		BUG_ON(!rs->tx_in_flight || rs->tx_in_flight > ca->in_flight_max);
		BUG_ON(rs->lost < 0 || tp->lost - rs->prior_lost != rs->lost);
	}
	BUG_ON(tp->is_sack_reneg);
	if (rs->losses)
		tp->snd_cwnd = max(tp->snd_cwnd / 2, 4U);
	else
		tp->snd_cwnd += !(tp->delivered % 8);
	ca->in_flight_max = max(ca->in_flight_max, tp->snd_cwnd + 1);
	sk->sk_pacing_status = SK_PACING_NEEDED;
	sk->sk_pacing_rate = (u64)tp->snd_cwnd * tp->mss_cache * USEC_PER_SEC / 20000;
}

static void witness_skb_marked_lost(struct sock *sk, const struct sk_buff *skb)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct witness *ca = inet_csk_ca(sk);
	struct tcp_skb_cb *scb = TCP_SKB_CB(skb);

	ca->lost += tcp_skb_pcount(skb);
	BUG_ON(tp->lost != ca->lost || scb->tx.lost >= tp->lost);
	BUG_ON(!scb->tx.in_flight || scb->tx.in_flight > ca->in_flight_max);
	BUG_ON(!after(scb->end_seq, scb->seq) || before(scb->end_seq, tp->snd_una));
	BUG_ON(!(scb->sacked & TCPCB_LOST));
}

static u32 witness_tso_segs(struct sock *sk, unsigned int mss_now)
{
	return 4;
}

static void witness_set_state(struct sock *sk, u8 state)
{
	struct witness *ca = inet_csk_ca(sk);

	ca->in_flight_max = max(ca->in_flight_max, tcp_sk(sk)->snd_cwnd + 1);
}

static u32 witness_ssthresh(struct sock *sk)
{
	return TCP_INFINITE_SSTHRESH;
}

static struct tcp_congestion_ops witness __read_mostly = {
	.init		= witness_init,
	.cong_control	= witness_main,
	.set_state	= witness_set_state,
	.skb_marked_lost = witness_skb_marked_lost,
	.tso_segs	= witness_tso_segs,
	.ssthresh	= witness_ssthresh,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.owner		= THIS_MODULE,
	.name		= "witness",
};

static int __init witness_register(void)
{
	BUILD_BUG_ON(sizeof(struct witness) > ICSK_CA_PRIV_SIZE);
	return tcp_register_congestion_control(&witness);
}

module_init(witness_register);
MODULE_LICENSE("Dual BSD/GPL");
