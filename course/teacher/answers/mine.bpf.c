// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * mine: additive increase while the queue is short, a small decrease when it is not, and losses that come at a low
 * RTT are taken for chance. The model answer of lab 6.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "bpf_tracing_net.h"
#include "dumbbell.h"

char _license[] SEC("license") = "Dual MIT/GPL";

PARAM(u32, target_us, 3000, 500, 200000, "us", "queueing delay above which cwnd is reduced");
PARAM(u32, delay_beta_pct, 85, 10, 99, "%", "share of cwnd that is left then");
PARAM(u32, beta_pct, 70, 10, 95, "%", "share of cwnd that is left after a loss in a long queue");
PARAM(u32, chance_us, 15000, 0, 1000000, "us", "a loss at a shorter queueing delay is taken for chance");

PARAM(u32, patience, 30, 1, 1000, "rounds", "so long without a short queue: another flow fills it");
PARAM(u32, compete, 100, 1, 10000, "rounds", "how long it then competes as Reno would");

struct mine {
	u32	round_end;	/* delivered when this round began and its packets were out */
	u32	round_rtt_us;	/* smallest RTT of the round */
	u32	reductions;
	u32	busy_rounds;	/* since the queue was last short */
	u32	compete_rounds;	/* that are left of competing */
};
CA_PRIV(struct mine);
SERIES(struct mine, round_rtt_us, "round_rtt_us", "us", "smallest RTT of the round");
SERIES(struct mine, reductions, "reductions", "", "reductions for delay so far");

SEC("struct_ops")
void BPF_PROG(mine_init, struct sock *sk)
{
	struct mine *ca = inet_csk_ca(sk);

	sk->sk_pacing_status = SK_PACING_NEEDED;
	ca->round_rtt_us = ~0U;
	ca->round_end = tcp_sk(sk)->snd_nxt;
}

SEC("struct_ops")
void BPF_PROG(mine_pkts_acked, struct sock *sk, const struct ack_sample *sample)
{
	struct mine *ca = inet_csk_ca(sk);

	if (sample->rtt_us > 0)
		ca->round_rtt_us = min(ca->round_rtt_us, (u32)sample->rtt_us);
}

SEC("struct_ops")
void BPF_PROG(mine_cong_avoid, struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct mine *ca = inet_csk_ca(sk);

	if (!before(ack, ca->round_end)) {
		u32 base_us = tcp_min_rtt(tp), rtt_us = ca->round_rtt_us;

		ca->round_end = tp->snd_nxt;
		ca->round_rtt_us = ~0U;
		if (rtt_us == ~0U)
			return;
		ca->busy_rounds = rtt_us < base_us + target_us ? 0 : ca->busy_rounds + 1;
		/* We drained our own queue in vain: another flow fills it. */
		if (ca->busy_rounds >= patience) {
			ca->busy_rounds = 0;
			ca->compete_rounds = compete;
		}
		if (ca->compete_rounds) {
			ca->compete_rounds--;
		} else if (ca->busy_rounds) {
			ca->reductions++;
			tp->snd_cwnd = max((u32)((u64)tp->snd_cwnd * delay_beta_pct / 100), 2U);
			tp->snd_ssthresh = tp->snd_cwnd;
			return;
		}
	}
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
u32 BPF_PROG(mine_ssthresh, struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (tp->srtt_us >> 3 < tcp_min_rtt(tp) + chance_us)
		return max(tp->snd_cwnd, 2U);
	return max((u32)((u64)tp->snd_cwnd * beta_pct / 100), 2U);
}

SEC("struct_ops")
u32 BPF_PROG(mine_undo_cwnd, struct sock *sk)
{
	return max(tcp_sk(sk)->snd_cwnd, tcp_sk(sk)->prior_cwnd);
}

SEC(".struct_ops")
struct tcp_congestion_ops mine = {
	.init		= (void *)mine_init,
	.pkts_acked	= (void *)mine_pkts_acked,
	.cong_avoid	= (void *)mine_cong_avoid,
	.ssthresh	= (void *)mine_ssthresh,
	.undo_cwnd	= (void *)mine_undo_cwnd,
	.name		= "mine",
};
