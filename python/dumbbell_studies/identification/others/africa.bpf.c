// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * africa: TCP-Africa's window, for judging what a model says of algorithms that it never saw.
 *
 *	while w (rtt - base_rtt) / rtt < alpha packets wait: HighSpeed's growth and reduction for w;
 *	else: +1 per round trip, and a half after a loss
 *
 * Reference: King, Baraniuk, Riedi, "TCP-Africa: an adaptive and fair rapid increase rule for scalable
 * TCP" (INFOCOM 2005): alpha = 1.641; HighSpeed's values are those of RFC 3649, appendix B.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "bpf_tracing_net.h"
#include "dumbbell.h"

char _license[] SEC("license") = "Dual BSD/GPL";

PARAM(u32, alpha_milli, 1641, 1, 100000, "0.001 pkts", "fewer than this wait: the fast rule");

#define NO_RTT	(~0U)
#define STEPS	14U

/* From this window on, packets: + packets per round trip, - per cent of the window. */
static const u32 highspeed[STEPS][3] = {
	{ 0, 1, 50 }, { 38, 2, 44 }, { 118, 3, 41 }, { 221, 4, 38 }, { 347, 5, 37 }, { 495, 6, 35 },
	{ 663, 7, 34 }, { 851, 8, 33 }, { 1058, 9, 32 }, { 1284, 10, 31 }, { 1529, 11, 30 },
	{ 1793, 12, 29 }, { 2076, 13, 28 }, { 2378, 14, 28 },
};

struct africa {
	u32	base_us;
	u32	rtt_us;		/* least of the round */
	u32	round_end;
	u32	is_fast;
};
CA_PRIV(struct africa);

static __always_inline u32 step_of(u32 window, u32 column)
{
	u32 found = highspeed[0][column];

	for (u32 at = 1; at < STEPS; at++)
		if (window > highspeed[at][0])
			found = highspeed[at][column];
	return found;
}

SEC("struct_ops")
void BPF_PROG(africa_init, struct sock *sk)
{
	struct africa *ca = inet_csk_ca(sk);

	__builtin_memset(ca, 0, sizeof(*ca));
	ca->base_us = ca->rtt_us = NO_RTT;
	ca->is_fast = 1;
	ca->round_end = tcp_sk(sk)->snd_nxt;
}

SEC("struct_ops")
void BPF_PROG(africa_pkts_acked, struct sock *sk, const struct ack_sample *sample)
{
	struct africa *ca = inet_csk_ca(sk);

	if (sample->rtt_us <= 0)
		return;
	ca->base_us = min(ca->base_us, (u32)sample->rtt_us);
	ca->rtt_us = min(ca->rtt_us, (u32)sample->rtt_us);
}

SEC("struct_ops")
void BPF_PROG(africa_cong_avoid, struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct africa *ca = inet_csk_ca(sk);
	u32 grows;

	if (!tcp_is_cwnd_limited(sk))
		return;
	if (!before(ack, ca->round_end)) {
		if (ca->rtt_us != NO_RTT) {
			u64 waits_milli = (u64)tp->snd_cwnd * (ca->rtt_us - ca->base_us) * 1000
				/ max(ca->rtt_us, 1U);

			ca->is_fast = waits_milli < alpha_milli;
		}
		ca->rtt_us = NO_RTT;
		ca->round_end = tp->snd_nxt;
	}
	if (tcp_in_slow_start(tp)) {
		tcp_slow_start(tp, acked);
		return;
	}
	grows = ca->is_fast ? step_of(tp->snd_cwnd, 1) : 1;
	tcp_cong_avoid_ai(tp, max(tp->snd_cwnd / max(grows, 1U), 1U), acked);
}

SEC("struct_ops")
u32 BPF_PROG(africa_ssthresh, struct sock *sk)
{
	u32 window = tcp_sk(sk)->snd_cwnd;
	struct africa *ca = inet_csk_ca(sk);
	u32 pct = ca->is_fast ? step_of(window, 2) : 50;

	return max(window - window * pct / 100, 2U);
}

SEC("struct_ops")
u32 BPF_PROG(africa_undo_cwnd, struct sock *sk)
{
	return max(tcp_sk(sk)->snd_cwnd, tcp_sk(sk)->prior_cwnd);
}

SEC(".struct_ops")
struct tcp_congestion_ops africa = {
	.init		= (void *)africa_init,
	.pkts_acked	= (void *)africa_pkts_acked,
	.cong_avoid	= (void *)africa_cong_avoid,
	.ssthresh	= (void *)africa_ssthresh,
	.undo_cwnd	= (void *)africa_undo_cwnd,
	.name		= "africa",
};
