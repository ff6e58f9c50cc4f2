// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * card: CARD's window, for judging what a model says of algorithms that it never saw.
 *
 *	every second round trip: the normalised gradient of the delay, (rtt - last) / (rtt + last) over
 *	(w - last) / (w + last): above 0: 7/8 of the window, else + 1; a loss: a half
 *
 * Reference: Jain, "A delay-based approach for congestion avoidance in interconnected heterogeneous computer
 * networks" (CCR 1989): CARD, section 5.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "bpf_tracing_net.h"
#include "dumbbell.h"

char _license[] SEC("license") = "Dual BSD/GPL";

#define NO_RTT	(~0U)

struct card {
	u32	rtt_us;		/* least of this round */
	u32	last_us;	/* of the round in which the window was changed before */
	u32	window;		/* then */
	u32	round_end;
	u32	rounds;
};
CA_PRIV(struct card);

SEC("struct_ops")
void BPF_PROG(card_init, struct sock *sk)
{
	struct card *ca = inet_csk_ca(sk);

	__builtin_memset(ca, 0, sizeof(*ca));
	ca->rtt_us = NO_RTT;
	ca->round_end = tcp_sk(sk)->snd_nxt;
}

SEC("struct_ops")
void BPF_PROG(card_pkts_acked, struct sock *sk, const struct ack_sample *sample)
{
	struct card *ca = inet_csk_ca(sk);

	if (sample->rtt_us > 0)
		ca->rtt_us = min(ca->rtt_us, (u32)sample->rtt_us);
}

static __always_inline void card_change(struct tcp_sock *tp, struct card *ca)
{
	u32 window = tp->snd_cwnd;
	/* Packets wait for microseconds: what is less than 1 % of the RTT is none. */
	bool rises = ca->rtt_us > ca->last_us + ca->last_us / 100;
	bool falls = ca->rtt_us + ca->last_us / 100 < ca->last_us;
	bool with_window = (window > ca->window && rises) || (window < ca->window && falls);

	if (ca->last_us && with_window)
		tp->snd_cwnd = max(window - window / 8, 2U);
	else
		tp->snd_cwnd = min(window + 1, tp->snd_cwnd_clamp);
	ca->last_us = ca->rtt_us;
	ca->window = window;
}

SEC("struct_ops")
void BPF_PROG(card_cong_avoid, struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct card *ca = inet_csk_ca(sk);

	if (!tcp_is_cwnd_limited(sk))
		return;
	if (tcp_in_slow_start(tp)) {
		tcp_slow_start(tp, acked);
		return;
	}
	if (before(ack, ca->round_end))
		return;
	ca->round_end = tp->snd_nxt;
	if (++ca->rounds % 2 == 0 && ca->rtt_us != NO_RTT)
		card_change(tp, ca);
	ca->rtt_us = NO_RTT;
}

SEC("struct_ops")
u32 BPF_PROG(card_ssthresh, struct sock *sk)
{
	return max(tcp_sk(sk)->snd_cwnd / 2, 2U);
}

SEC("struct_ops")
u32 BPF_PROG(card_undo_cwnd, struct sock *sk)
{
	return max(tcp_sk(sk)->snd_cwnd, tcp_sk(sk)->prior_cwnd);
}

SEC(".struct_ops")
struct tcp_congestion_ops card = {
	.init		= (void *)card_init,
	.pkts_acked	= (void *)card_pkts_acked,
	.cong_avoid	= (void *)card_cong_avoid,
	.ssthresh	= (void *)card_ssthresh,
	.undo_cwnd	= (void *)card_undo_cwnd,
	.name		= "card",
};
