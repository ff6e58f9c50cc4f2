// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * forecast: a cautious forecast of what the link delivers, as Sprout's, for judging what a model says of
 * algorithms that it never saw.
 *
 *	every round trip of 20 ms or more the deliveries' mean and deviation (1/2 and 1/4 of what is new);
 *	the window is what mean - 2 deviations, at least 3/4 of the mean, deliver in a round trip and 40 ms
 *	more; losses change nothing
 *
 * Reference: Winstein, Sivaraman, Balakrishnan, "Stochastic forecasts achieve high throughput and low
 * delay over cellular networks" (NSDI 2013), §3, with two deviations instead of the Bayesian model.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "bpf_tracing_net.h"
#include "dumbbell.h"

char _license[] SEC("license") = "Dual BSD/GPL";

PARAM(u32, tick_us, 20000, 1000, 1000000, "us", "shortest time over which deliveries are counted");
PARAM(u32, ahead_us, 40000, 1000, 1000000, "us", "of deliveries beyond a round trip in the window");

#define NO_RTT	(~0U)

struct forecast {
	u32	base_us;
	u32	delivered;	/* when the tick began: tp->delivered, µs */
	u32	from_us;
	u32	mean_pps;
	u32	spread_pps;
};
CA_PRIV(struct forecast);

SEC("struct_ops")
void BPF_PROG(forecast_init, struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct forecast *ca = inet_csk_ca(sk);

	__builtin_memset(ca, 0, sizeof(*ca));
	ca->base_us = NO_RTT;
	ca->delivered = tp->delivered;
	ca->from_us = tp->tcp_mstamp;
	if (sk->sk_pacing_status == SK_PACING_NONE)
		sk->sk_pacing_status = SK_PACING_NEEDED;
}

SEC("struct_ops")
void BPF_PROG(forecast_cong_control, struct sock *sk, u32 ack, int flag, const struct rate_sample *rs)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct forecast *ca = inet_csk_ca(sk);
	u32 took_us = tp->tcp_mstamp - ca->from_us, pps, off, low;

	if (rs->rtt_us > 0)
		ca->base_us = min(ca->base_us, (u32)rs->rtt_us);
	if (took_us < max(tick_us, ca->base_us) || ca->base_us == NO_RTT)
		return;
	pps = (u64)(tp->delivered - ca->delivered) * USEC_PER_SEC / max(took_us, 1U);
	ca->delivered = tp->delivered;
	ca->from_us = tp->tcp_mstamp;
	off = pps > ca->mean_pps ? pps - ca->mean_pps : ca->mean_pps - pps;
	ca->mean_pps = ca->mean_pps ? ca->mean_pps - ca->mean_pps / 2 + pps / 2 : pps;
	ca->spread_pps = ca->spread_pps - ca->spread_pps / 4 + off / 4;
	low = max(ca->mean_pps - min(2 * ca->spread_pps, ca->mean_pps / 4), 50U);
	tp->snd_cwnd = (u64)low * ((u64)ca->base_us + ahead_us) / USEC_PER_SEC + 4;
	tp->snd_cwnd = min(tp->snd_cwnd, tp->snd_cwnd_clamp);
	sk->sk_pacing_rate = (u64)max(low, pps) * tp->mss_cache * 2;
}

SEC("struct_ops")
u32 BPF_PROG(forecast_ssthresh, struct sock *sk)
{
	return tcp_sk(sk)->snd_ssthresh;
}

SEC("struct_ops")
u32 BPF_PROG(forecast_undo_cwnd, struct sock *sk)
{
	return max(tcp_sk(sk)->snd_cwnd, 4U);
}

SEC(".struct_ops")
struct tcp_congestion_ops forecast = {
	.init		= (void *)forecast_init,
	.cong_control	= (void *)forecast_cong_control,
	.ssthresh	= (void *)forecast_ssthresh,
	.undo_cwnd	= (void *)forecast_undo_cwnd,
	.name		= "forecast",
};
