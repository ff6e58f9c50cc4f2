// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * fit: TCP-FIT's window, for judging what a model says of algorithms that it never saw.
 *
 *	as N Renos: per round trip + N, a loss: - w 2 / (3 N + 1); every 500 ms, with q = w (rtt - base) / rtt
 *	packets waiting by the mean RTT: N + 1 where q < alpha w / N, else N - 1, at least 1
 *
 * Reference: Wang, Wen, Zhang, Han, "TCP-FIT: an improved TCP congestion control algorithm and its
 * performance" (INFOCOM 2011), §III. alpha is fixed, at 0.1: there it may follow the RTT.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "bpf_tracing_net.h"
#include "dumbbell.h"

char _license[] SEC("license") = "Dual BSD/GPL";

PARAM(u32, alpha_milli, 100, 1, 1000, "1/1000", "share of the window, for each of N, that may wait");
PARAM(u32, every_ms, 500, 10, 10000, "ms", "between changes of N");

#define NO_RTT	(~0U)
#define MOST	64U

struct fit {
	u32	base_us;
	u32	rtts;		/* samples since N was changed */
	u64	rtt_sum_us;
	u32	n;
	u32	changed_ms;
};
CA_PRIV(struct fit);

static __always_inline u32 now_ms(const struct tcp_sock *tp)
{
	return (u32)(tp->tcp_mstamp / USEC_PER_MSEC);
}

SEC("struct_ops")
void BPF_PROG(fit_init, struct sock *sk)
{
	struct fit *ca = inet_csk_ca(sk);

	__builtin_memset(ca, 0, sizeof(*ca));
	ca->base_us = NO_RTT;
	ca->n = 1;
	ca->changed_ms = now_ms(tcp_sk(sk));
}

SEC("struct_ops")
void BPF_PROG(fit_pkts_acked, struct sock *sk, const struct ack_sample *sample)
{
	struct fit *ca = inet_csk_ca(sk);

	if (sample->rtt_us <= 0)
		return;
	ca->base_us = min(ca->base_us, (u32)sample->rtt_us);
	ca->rtt_sum_us += (u32)sample->rtt_us;
	ca->rtts++;
}

static __always_inline void fit_change(struct tcp_sock *tp, struct fit *ca)
{
	u32 mean_us = ca->rtt_sum_us / ca->rtts;
	u64 waits_milli = (u64)tp->snd_cwnd * (mean_us - min(ca->base_us, mean_us)) * 1000 / max(mean_us, 1U);

	if (waits_milli * ca->n < (u64)alpha_milli * tp->snd_cwnd)
		ca->n = min(ca->n + 1, MOST);
	else
		ca->n = max(ca->n - 1, 1U);
	ca->rtt_sum_us = 0;
	ca->rtts = 0;
	ca->changed_ms = now_ms(tp);
}

SEC("struct_ops")
void BPF_PROG(fit_cong_avoid, struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct fit *ca = inet_csk_ca(sk);

	if (ca->rtts && now_ms(tp) - ca->changed_ms >= every_ms)
		fit_change(tp, ca);
	if (!tcp_is_cwnd_limited(sk))
		return;
	if (tcp_in_slow_start(tp)) {
		acked = tcp_slow_start(tp, acked);
		if (!acked)
			return;
	}
	tcp_cong_avoid_ai(tp, max(tp->snd_cwnd / max(ca->n, 1U), 1U), acked);
}

SEC("struct_ops")
u32 BPF_PROG(fit_ssthresh, struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct fit *ca = inet_csk_ca(sk);

	return max(tp->snd_cwnd - tp->snd_cwnd * 2 / (3 * ca->n + 1), 2U);
}

SEC("struct_ops")
u32 BPF_PROG(fit_undo_cwnd, struct sock *sk)
{
	return max(tcp_sk(sk)->snd_cwnd, tcp_sk(sk)->prior_cwnd);
}

SEC(".struct_ops")
struct tcp_congestion_ops fit = {
	.init		= (void *)fit_init,
	.pkts_acked	= (void *)fit_pkts_acked,
	.cong_avoid	= (void *)fit_cong_avoid,
	.ssthresh	= (void *)fit_ssthresh,
	.undo_cwnd	= (void *)fit_undo_cwnd,
	.name		= "fit",
};
