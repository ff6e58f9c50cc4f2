// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * libra: TCP Libra's window, for judging what a model says of algorithms that it never saw.
 *
 *	per round trip of T seconds + alpha T^2 / (T + 1), alpha = k1 C exp(-k2 q), C the most that was
 *	delivered, Mbit/s, q the share of the largest queueing delay; a loss: - w / (2 (T + 1))
 *
 * Reference: Marfia, Palazzi, Pau, Gerla, Sanadidi, Roccetti, "TCP Libra: exploring RTT-fairness for
 * TCP" (UCLA TR 050037, 2005), §3: k1 = k2 = 2, T0 = T1 = 1 s.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "bpf_tracing_net.h"
#include "dumbbell.h"

char _license[] SEC("license") = "Dual BSD/GPL";

PARAM(u32, k1, 2, 1, 100, "", "packets of growth for each Mbit/s");

#define NO_RTT	(~0U)

struct libra {
	u32	least_us;
	u32	most_us;
	u32	rtt_us;
	u32	round_end;
	u32	delivered;	/* when the round began: tp->delivered, µs */
	u32	from_us;
	u32	most_kbps;
	u32	rest_milli;	/* growth that is less than a packet */
};
CA_PRIV(struct libra);

SEC("struct_ops")
void BPF_PROG(libra_init, struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct libra *ca = inet_csk_ca(sk);

	__builtin_memset(ca, 0, sizeof(*ca));
	ca->least_us = NO_RTT;
	ca->round_end = tp->snd_nxt;
	ca->delivered = tp->delivered;
	ca->from_us = tp->tcp_mstamp;
}

SEC("struct_ops")
void BPF_PROG(libra_pkts_acked, struct sock *sk, const struct ack_sample *sample)
{
	struct libra *ca = inet_csk_ca(sk);

	if (sample->rtt_us <= 0)
		return;
	ca->rtt_us = sample->rtt_us;
	ca->least_us = min(ca->least_us, ca->rtt_us);
	ca->most_us = max(ca->most_us, ca->rtt_us);
}

/* Growth per round trip in thousandths of a packet. */
static __always_inline u64 growth_milli(const struct libra *ca)
{
	u64 t_ms = max(ca->rtt_us / 1000, 1U);
	u64 waits = ca->rtt_us - ca->least_us, most = max(ca->most_us - ca->least_us, 1U);
	/* exp(-2 q) by the series of its inverse. */
	u64 q = waits * 1000 / most;
	u64 inverse = 1000 + 2 * q + 2 * q * q / 1000 + 4 * q * q / 1000 * q / 3000;

	return (u64)k1 * ca->most_kbps * t_ms / 1000 * t_ms / (t_ms + 1000) * 1000 / inverse;
}

SEC("struct_ops")
void BPF_PROG(libra_cong_avoid, struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct libra *ca = inet_csk_ca(sk);
	u64 grows;

	if (!before(ack, ca->round_end)) {
		u32 took_us = tp->tcp_mstamp - ca->from_us;
		u64 bits = (u64)(tp->delivered - ca->delivered) * tp->mss_cache * 8;

		ca->most_kbps = max(ca->most_kbps, (u32)(bits * 1000 / max(took_us, 1U)));
		ca->round_end = tp->snd_nxt;
		ca->delivered = tp->delivered;
		ca->from_us = tp->tcp_mstamp;
		if (ca->least_us != NO_RTT && !tcp_in_slow_start(tp) && tcp_is_cwnd_limited(sk)) {
			grows = growth_milli(ca) + ca->rest_milli;
			ca->rest_milli = grows % 1000;
			tp->snd_cwnd = min(tp->snd_cwnd + (u32)min(grows / 1000, (u64)tp->snd_cwnd),
					   tp->snd_cwnd_clamp);
		}
	}
	if (tcp_in_slow_start(tp) && tcp_is_cwnd_limited(sk))
		tcp_slow_start(tp, acked);
}

SEC("struct_ops")
u32 BPF_PROG(libra_ssthresh, struct sock *sk)
{
	u32 window = tcp_sk(sk)->snd_cwnd;
	struct libra *ca = inet_csk_ca(sk);

	return max(window - (u32)((u64)window * 500 / (1000 + ca->rtt_us / 1000)), 2U);
}

SEC("struct_ops")
u32 BPF_PROG(libra_undo_cwnd, struct sock *sk)
{
	return max(tcp_sk(sk)->snd_cwnd, tcp_sk(sk)->prior_cwnd);
}

SEC(".struct_ops")
struct tcp_congestion_ops libra = {
	.init		= (void *)libra_init,
	.pkts_acked	= (void *)libra_pkts_acked,
	.cong_avoid	= (void *)libra_cong_avoid,
	.ssthresh	= (void *)libra_ssthresh,
	.undo_cwnd	= (void *)libra_undo_cwnd,
	.name		= "libra",
};
