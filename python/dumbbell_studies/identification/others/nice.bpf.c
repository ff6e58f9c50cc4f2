// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * nice: TCP Nice's window, for judging what a model says of algorithms that it never saw.
 *
 *	a packet is late whose RTT exceeds min + t (max - min); per round trip: more than f of the window's
 *	packets late: half the window; else as Vegas, between 1 and 3 packets in the queue; a half after a loss
 *
 * Reference: Venkataramani, Kokku, Dahlin, "TCP Nice: a mechanism for background transfers" (OSDI 2002),
 * §3: t = 0.1, f = 0.5 (§5.1). A window below one packet is left out.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "bpf_tracing_net.h"
#include "dumbbell.h"

char _license[] SEC("license") = "Dual BSD/GPL";

PARAM(u32, late_pct, 10, 1, 100, "%", "of the range of RTTs above the least: a packet is late");
PARAM(u32, late_share_pct, 50, 1, 100, "%", "of the window's packets late: it is halved");
PARAM(u32, alpha_pkts, 1, 1, 100, "pkts", "fewer in the queue: it grows");
PARAM(u32, beta_pkts, 3, 1, 100, "pkts", "more in the queue: it shrinks");

#define NO_RTT	(~0U)

struct nice {
	u32	base_us;
	u32	most_us;
	u32	rtt_us;		/* least of the round */
	u32	round_end;
	u32	late;		/* packets of the round */
};
CA_PRIV(struct nice);

SEC("struct_ops")
void BPF_PROG(nice_init, struct sock *sk)
{
	struct nice *ca = inet_csk_ca(sk);

	__builtin_memset(ca, 0, sizeof(*ca));
	ca->base_us = ca->rtt_us = NO_RTT;
	ca->round_end = tcp_sk(sk)->snd_nxt;
}

SEC("struct_ops")
void BPF_PROG(nice_pkts_acked, struct sock *sk, const struct ack_sample *sample)
{
	struct nice *ca = inet_csk_ca(sk);
	u32 rtt_us = (u32)sample->rtt_us;

	if (sample->rtt_us <= 0)
		return;
	ca->base_us = min(ca->base_us, rtt_us);
	ca->most_us = max(ca->most_us, rtt_us);
	ca->rtt_us = min(ca->rtt_us, rtt_us);
	if (rtt_us - ca->base_us > (u64)(ca->most_us - ca->base_us) * late_pct / 100)
		ca->late += sample->pkts_acked;
}

static __always_inline void nice_round(struct tcp_sock *tp, struct nice *ca)
{
	u32 waits, late = ca->late;
	bool is_known = ca->rtt_us != NO_RTT;

	waits = is_known ? (u64)tp->snd_cwnd * (ca->rtt_us - ca->base_us) / max(ca->rtt_us, 1U) : 0;
	ca->late = 0;
	ca->rtt_us = NO_RTT;
	if (!is_known)
		return;
	if ((u64)late * 100 > (u64)tp->snd_cwnd * late_share_pct) {
		tp->snd_cwnd = max(tp->snd_cwnd / 2, 2U);
		tp->snd_ssthresh = min(tp->snd_ssthresh, tp->snd_cwnd);
	} else if (tcp_in_slow_start(tp)) {
		if (waits > beta_pkts)
			tp->snd_ssthresh = tp->snd_cwnd;
	} else if (waits > beta_pkts) {
		tp->snd_cwnd = max(tp->snd_cwnd - 1, 2U);
	} else if (waits < alpha_pkts) {
		tp->snd_cwnd = min(tp->snd_cwnd + 1, tp->snd_cwnd_clamp);
	}
}

SEC("struct_ops")
void BPF_PROG(nice_cong_avoid, struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct nice *ca = inet_csk_ca(sk);

	if (!before(ack, ca->round_end)) {
		ca->round_end = tp->snd_nxt;
		nice_round(tp, ca);
	}
	if (tcp_in_slow_start(tp) && tcp_is_cwnd_limited(sk))
		tcp_slow_start(tp, acked);
}

SEC("struct_ops")
u32 BPF_PROG(nice_ssthresh, struct sock *sk)
{
	return max(tcp_sk(sk)->snd_cwnd / 2, 2U);
}

SEC("struct_ops")
u32 BPF_PROG(nice_undo_cwnd, struct sock *sk)
{
	return max(tcp_sk(sk)->snd_cwnd, tcp_sk(sk)->prior_cwnd);
}

SEC(".struct_ops")
struct tcp_congestion_ops nice = {
	.init		= (void *)nice_init,
	.pkts_acked	= (void *)nice_pkts_acked,
	.cong_avoid	= (void *)nice_cong_avoid,
	.ssthresh	= (void *)nice_ssthresh,
	.undo_cwnd	= (void *)nice_undo_cwnd,
	.name		= "nice",
};
