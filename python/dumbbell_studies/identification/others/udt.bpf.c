// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * udt: the window of UDT's AIMD with decreasing increases, for judging what a model says of algorithms that
 * it never saw.
 *
 *	every 10 ms: what the link has left, in bits per second, rounded up to a power of ten, times 1.5e-6
 *	/ 1500 packets more in 10 ms, at least 1/1500; a loss: 8/9 of the rate
 *
 * Reference: Gu and Grossman, "UDT: UDP-based data transfer for high-speed wide area networks" (Computer
 * Networks 2007), section 3.3. What the link carries is the most that was delivered in a round trip, where UDT
 * sends pairs of packets; its rate is a window here, of rate times RTT, and paced.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "bpf_tracing_net.h"
#include "dumbbell.h"

char _license[] SEC("license") = "Dual BSD/GPL";

#define NO_RTT		(~0U)
#define PACKET_BITS	12000U
#define STEP_MS		10U

struct udt {
	u32	rtt_us;
	u32	delivered;	/* when the round began */
	u32	began_us;
	u32	stepped_ms;
	u32	most;		/* packets per second delivered */
	u32	credit_micro;
};
CA_PRIV(struct udt);

static __always_inline u32 now_ms(const struct tcp_sock *tp)
{
	return (u32)(tp->tcp_mstamp / USEC_PER_MSEC);
}

SEC("struct_ops")
void BPF_PROG(udt_init, struct sock *sk)
{
	struct udt *ca = inet_csk_ca(sk);

	__builtin_memset(ca, 0, sizeof(*ca));
	ca->began_us = (u32)tcp_sk(sk)->tcp_mstamp;
	ca->stepped_ms = now_ms(tcp_sk(sk));
	sk->sk_pacing_status = SK_PACING_NEEDED;
}

SEC("struct_ops")
void BPF_PROG(udt_pkts_acked, struct sock *sk, const struct ack_sample *sample)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct udt *ca = inet_csk_ca(sk);
	u32 since_us = (u32)tp->tcp_mstamp - ca->began_us;

	if (sample->rtt_us > 0)
		ca->rtt_us = sample->rtt_us;
	if (!ca->rtt_us || since_us < ca->rtt_us)
		return;
	ca->most = max(ca->most, (u32)((u64)(tp->delivered - ca->delivered) * USEC_PER_SEC / max(since_us, 1U)));
	ca->delivered = tp->delivered;
	ca->began_us = (u32)tp->tcp_mstamp;
}

/* Packets / 10^6 that are sent more in each 10 ms. */
static __always_inline u32 udt_more(const struct udt *ca, u32 rate)
{
	u64 left_bps = ca->most > rate ? (u64)(ca->most - rate) * PACKET_BITS : 0;
	u64 power = 1;

	for (u32 k = 0; k < 11; k++)
		if (power < left_bps)
			power *= 10;
	/* power * 1.5e-6 / 1500 packets, 1/1500 at least */
	return max((u32)(power / 1000), 667U);
}

SEC("struct_ops")
void BPF_PROG(udt_cong_avoid, struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct udt *ca = inet_csk_ca(sk);
	u32 steps;

	if (tcp_in_slow_start(tp)) {
		tcp_slow_start(tp, acked);
		ca->stepped_ms = now_ms(tp);
		return;
	}
	steps = min((now_ms(tp) - ca->stepped_ms) / STEP_MS, 100U);
	if (!steps || !ca->rtt_us || !tcp_is_cwnd_limited(sk))
		return;
	ca->stepped_ms += steps * STEP_MS;
	/* A rate of x packets more in 10 ms is a window of x RTT / 10 ms more. */
	ca->credit_micro += (u64)steps * udt_more(ca, (u64)tp->snd_cwnd * USEC_PER_SEC / ca->rtt_us)
			    * ca->rtt_us / (STEP_MS * USEC_PER_MSEC);
	tp->snd_cwnd = min(tp->snd_cwnd + ca->credit_micro / 1000000, tp->snd_cwnd_clamp);
	ca->credit_micro %= 1000000;
}

SEC("struct_ops")
u32 BPF_PROG(udt_ssthresh, struct sock *sk)
{
	u32 window = tcp_sk(sk)->snd_cwnd;

	return max(window - window / 9, 2U);
}

SEC("struct_ops")
u32 BPF_PROG(udt_undo_cwnd, struct sock *sk)
{
	return max(tcp_sk(sk)->snd_cwnd, tcp_sk(sk)->prior_cwnd);
}

SEC(".struct_ops")
struct tcp_congestion_ops udt = {
	.init		= (void *)udt_init,
	.pkts_acked	= (void *)udt_pkts_acked,
	.cong_avoid	= (void *)udt_cong_avoid,
	.ssthresh	= (void *)udt_ssthresh,
	.undo_cwnd	= (void *)udt_undo_cwnd,
	.name		= "udt",
};
