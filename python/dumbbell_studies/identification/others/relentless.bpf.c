// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * relentless: Relentless TCP's window, for judging what a model says of algorithms that it never saw.
 *
 *	per round trip +1; a loss: less by what was lost
 *
 * Reference: Mathis, "Relentless congestion control" (PFLDNeT 2009), section 2. What was lost is counted when
 * recovery ends, from what was sent again; slow start ends in a half.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "bpf_tracing_net.h"
#include "dumbbell.h"

char _license[] SEC("license") = "Dual BSD/GPL";

struct relentless {
	u32	sent_again;	/* when the loss was noticed */
	u32	window;		/* then */
};
CA_PRIV(struct relentless);

SEC("struct_ops")
void BPF_PROG(relentless_init, struct sock *sk)
{
	struct relentless *ca = inet_csk_ca(sk);

	__builtin_memset(ca, 0, sizeof(*ca));
}

SEC("struct_ops")
void BPF_PROG(relentless_cong_avoid, struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (!tcp_is_cwnd_limited(sk))
		return;
	if (tcp_in_slow_start(tp)) {
		acked = tcp_slow_start(tp, acked);
		if (!acked)
			return;
	}
	tcp_cong_avoid_ai(tp, tp->snd_cwnd, acked);
}

SEC("struct_ops")
u32 BPF_PROG(relentless_ssthresh, struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct relentless *ca = inet_csk_ca(sk);

	ca->sent_again = tp->total_retrans;
	ca->window = tcp_in_slow_start(tp) ? tp->snd_cwnd / 2 : tp->snd_cwnd;
	return max(ca->window - min(max(tp->lost_out, 1U), ca->window / 2), 2U);
}

SEC("struct_ops")
void BPF_PROG(relentless_cwnd_event, struct sock *sk, enum tcp_ca_event event)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct relentless *ca = inet_csk_ca(sk);

	if (event == CA_EVENT_COMPLETE_CWR && ca->window) {
		u32 lost = tp->total_retrans - ca->sent_again;

		tp->snd_cwnd = max(ca->window - min(lost, ca->window / 2), 2U);
		tp->snd_ssthresh = tp->snd_cwnd;
	}
}

SEC("struct_ops")
u32 BPF_PROG(relentless_undo_cwnd, struct sock *sk)
{
	return max(tcp_sk(sk)->snd_cwnd, tcp_sk(sk)->prior_cwnd);
}

SEC(".struct_ops")
struct tcp_congestion_ops relentless = {
	.init		= (void *)relentless_init,
	.cong_avoid	= (void *)relentless_cong_avoid,
	.ssthresh	= (void *)relentless_ssthresh,
	.cwnd_event	= (void *)relentless_cwnd_event,
	.undo_cwnd	= (void *)relentless_undo_cwnd,
	.name		= "relentless",
};
