// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * utility: PCC's trials, for judging what a model says of algorithms that it never saw.
 *
 *	rounds in pairs at rate (1 + eps) and (1 - eps); the utility of each is what was delivered, less
 *	b × rate × (rise of the RTT), less c × rate × (share lost); the rate moves towards the better
 *	by a step that grows while the direction is the same
 *
 * Reference: Dong et al., "PCC Vivace: online-learning congestion control" (NSDI 2018), §3 and §4,
 * with trials that take a round trip and their result two rounds later.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "bpf_tracing_net.h"
#include "rounds.h"
#include "dumbbell.h"

char _license[] SEC("license") = "Dual BSD/GPL";

PARAM(u32, eps_pct, 5, 1, 50, "%", "that a trial's rate differs by");
PARAM(u32, loss_weight, 11, 0, 1000, "", "of the share lost, in the utility");
PARAM(u32, delay_weight, 9, 0, 1000, "", "of the RTT's rise per round trip, in the utility");

#define NO_RTT		(~0U)
#define LEAST_PPS	20U

enum phase { STARTUP, UP, DOWN, WAIT_UP, WAIT_DOWN };

struct utility {
	struct rounds	rounds;
	u32	rate_pps;
	u32	base_us;
	u32	rtt_us;		/* least of the round */
	u32	first_us;	/* of the last round */
	u32	delivered;	/* when the round began: tp->delivered, tp->lost, µs */
	u32	lost;
	u32	from_us;
	u32	best_pps;	/* STARTUP: the most that arrived */
	s64	of_up;
	s32	streak;
	u8	phase;
};
STORAGE(struct utility);

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct utility);
} utility_storage SEC(".maps");

SEC("struct_ops")
void BPF_PROG(utility_init, struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct utility *ca = bpf_sk_storage_get(&utility_storage, sk, NULL, BPF_SK_STORAGE_GET_F_CREATE);

	if (!ca)
		return;
	__builtin_memset(ca, 0, sizeof(*ca));
	ca->base_us = ca->rtt_us = NO_RTT;
	rounds_begin(&ca->rounds, tp);
	ca->delivered = tp->delivered;
	ca->lost = tp->lost;
	ca->from_us = tp->tcp_mstamp;
	ca->rate_pps = (u64)tp->snd_cwnd * USEC_PER_SEC / max(tp->srtt_us >> 3, 1000U);
	if (sk->sk_pacing_status == SK_PACING_NONE)
		sk->sk_pacing_status = SK_PACING_NEEDED;
}

/* What the last round brought: packets per second, less what it cost. */
static __always_inline s64 utility_of(const struct utility *ca, u32 pps, u32 got, u32 lost)
{
	u32 rise_us = ca->first_us && ca->rtt_us != NO_RTT && ca->rtt_us > ca->first_us
		? ca->rtt_us - ca->first_us : 0;
	u64 of_delay = (u64)ca->rate_pps * delay_weight * rise_us / max(ca->base_us, 1U);
	u64 of_loss = (u64)ca->rate_pps * loss_weight * lost / max(got + lost, 1U);

	return (s64)pps - (s64)of_delay - (s64)of_loss;
}

static __always_inline void utility_step(struct utility *ca, s64 value)
{
	bool is_up = ca->of_up > value;
	u32 pct;

	if (is_up)
		ca->streak = ca->streak > 0 ? ca->streak + 1 : 1;
	else
		ca->streak = ca->streak < 0 ? ca->streak - 1 : -1;
	pct = min((u32)(is_up ? ca->streak : -ca->streak), 8U);
	if (is_up)
		ca->rate_pps += (u64)ca->rate_pps * pct / 100 + 1;
	else
		ca->rate_pps -= (u64)ca->rate_pps * pct / 100;
	ca->rate_pps = max(ca->rate_pps, LEAST_PPS);
}

static __always_inline void utility_round(struct tcp_sock *tp, struct utility *ca)
{
	u32 got = tp->delivered - ca->delivered, lost = tp->lost - ca->lost;
	u32 took_us = tp->tcp_mstamp - ca->from_us;
	u32 pps = (u64)got * USEC_PER_SEC / max(took_us, 1U);
	s64 value = utility_of(ca, pps, got, lost);

	if (ca->phase == STARTUP) {
		if (pps > ca->best_pps && lost == 0) {
			ca->best_pps = pps;
			ca->rate_pps = min(ca->rate_pps, 1U << 28) * 2;
		} else if (ca->best_pps) {
			ca->rate_pps = max(ca->best_pps, LEAST_PPS);
			ca->phase = UP;
		}
	} else if (ca->phase == UP) {
		ca->phase = DOWN;
	} else if (ca->phase == DOWN) {
		ca->of_up = value;	/* of what was sent a round ago */
		ca->phase = WAIT_DOWN;
	} else {
		utility_step(ca, value);
		ca->phase = UP;
	}
	if (ca->rtt_us != NO_RTT)
		ca->first_us = ca->rtt_us;
	ca->rtt_us = NO_RTT;
	ca->delivered = tp->delivered;
	ca->lost = tp->lost;
	ca->from_us = tp->tcp_mstamp;
}

SEC("struct_ops")
void BPF_PROG(utility_cong_control, struct sock *sk, u32 ack, int flag, const struct rate_sample *rs)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct utility *ca = bpf_sk_storage_get(&utility_storage, sk, NULL, 0);
	u32 pct;

	if (!ca)
		return;
	if (rs->rtt_us > 0) {
		ca->base_us = min(ca->base_us, (u32)rs->rtt_us);
		ca->rtt_us = min(ca->rtt_us, (u32)rs->rtt_us);
	}
	if (rounds_end(&ca->rounds, tp, rs))
		utility_round(tp, ca);
	pct = ca->phase == UP ? 100 + eps_pct : ca->phase == DOWN ? 100 - min(eps_pct, 99U) : 100;
	sk->sk_pacing_rate = (u64)ca->rate_pps * tp->mss_cache * pct / 100;
	/* The rate rules: the window has room for two round trips of it. */
	tp->snd_cwnd = min((u64)ca->rate_pps * 2 * max(tp->srtt_us >> 3, 1000U) / USEC_PER_SEC + 10, 1U << 24);
	tp->snd_cwnd = min(tp->snd_cwnd, tp->snd_cwnd_clamp);
}

SEC("struct_ops")
u32 BPF_PROG(utility_ssthresh, struct sock *sk)
{
	return tcp_sk(sk)->snd_ssthresh;
}

SEC("struct_ops")
u32 BPF_PROG(utility_undo_cwnd, struct sock *sk)
{
	return max(tcp_sk(sk)->snd_cwnd, 4U);
}

SEC(".struct_ops")
struct tcp_congestion_ops utility = {
	.init		= (void *)utility_init,
	.cong_control	= (void *)utility_cong_control,
	.ssthresh	= (void *)utility_ssthresh,
	.undo_cwnd	= (void *)utility_undo_cwnd,
	.name		= "utility",
};
