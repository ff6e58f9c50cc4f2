// SPDX-License-Identifier: GPL-2.0-only
/*
 * NAME: keeps ALPHA_PKTS packets in the queue, by the RTT of each round, and halves on heavy loss.
 *
 * A starting point, made by `dumbbell cc new --kind delay`: change what you like, including this
 * comment and the licence above. The kernel accepts a congestion control only under a GPL-compatible
 * licence, which it reads from _license[].
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "bpf_tracing_net.h"
#include "win_minmax.h"
#include "rounds.h"
#include "dumbbell.h"

char _license[] SEC("license") = "GPL";

/* Parameters: type, name, default, minimum, maximum, unit, meaning. `NAME:alpha_pkts=8` sets one. */
PARAM(u32, alpha_pkts, 4, 1, 1000, "pkts", "a flow keeps this many in the queue");
PARAM(u32, base_window_s, 10, 1, 600, "s", "the base RTT is the least of this long");
PARAM(u32, heavy_loss_pct, 5, 1, 100, "%", "a round that loses more halves the window");

#define NO_RTT		(~0U)
#define CWND_MOST	(1U << 24)	/* an application that never stops, without losses, doubles for long */

enum phase { STARTUP, STEADY };

/* State of one flow, in socket storage because it may be larger than the 104 bytes of a socket. */
struct NAME {
	struct minmax	base;	/* windowed minimum of the RTT, by time in ms */
	struct rounds	rounds;
	u32	round_rtt_us;	/* least of this round so far */
	u32	rtt_us;		/* of the last round */
	u32	base_us;
	u32	delivered;	/* when this round began: tp->delivered, tp->lost */
	u32	lost;
	u8	phase;
};
STORAGE(struct NAME);

/* State that is recorded over time: each is a column of the run's table `state`. */
STORAGE_SERIES(struct NAME, base_us, "base_us", "us", "base RTT");
STORAGE_SERIES(struct NAME, rtt_us, "round_rtt_us", "us", "least RTT of the last round");
STORAGE_SERIES_STATE(struct NAME, phase, "phase", "startup,steady", "how the window moves");

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct NAME);
} NAME_storage SEC(".maps");

/* The window that leaves ALPHA_PKTS in the queue: what fits without a queue, and these. */
static u32 NAME_target(const struct tcp_sock *tp, const struct NAME *ca)
{
	return (u64)tp->snd_cwnd * ca->base_us / max(ca->rtt_us, 1U) + alpha_pkts;
}

static void NAME_round(struct tcp_sock *tp, struct NAME *ca)
{
	u32 got = tp->delivered - ca->delivered, lost = tp->lost - ca->lost;
	u32 queue_us;

	ca->delivered = tp->delivered;
	ca->lost = tp->lost;
	if (ca->round_rtt_us == NO_RTT)
		return;
	ca->rtt_us = ca->round_rtt_us;
	ca->round_rtt_us = NO_RTT;
	queue_us = ca->rtt_us - min(ca->base_us, ca->rtt_us);
	if ((u64)lost * 100 > (u64)(got + lost) * heavy_loss_pct) {
		tp->snd_cwnd = max(tp->snd_cwnd / 2, 2U);
		ca->phase = STEADY;
		return;
	}
	if (ca->phase == STARTUP && queue_us < ca->base_us / 8)
		return;
	ca->phase = STEADY;
	/* Half the way to the target: a whole step would answer a queue of two rounds ago. */
	tp->snd_cwnd = max((tp->snd_cwnd + NAME_target(tp, ca) + 1) / 2, 2U);
}

/* The window and the pacing rate take effect together: 5/4 of w/RTT smooths, and the window rules. */
static void NAME_pace(struct sock *sk, const struct NAME *ca)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u32 rtt_us = ca->rtt_us ? ca->rtt_us : max(tp->srtt_us >> 3, 1U);
	u64 rate = (u64)tp->snd_cwnd * tp->mss_cache * USEC_PER_SEC / max(rtt_us, 1U);

	sk->sk_pacing_rate = ca->phase == STARTUP ? 2 * rate : rate + rate / 4;
}

/* When the handshake is done. */
SEC("struct_ops")
void BPF_PROG(NAME_init, struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct NAME *ca = bpf_sk_storage_get(&NAME_storage, sk, NULL, BPF_SK_STORAGE_GET_F_CREATE);

	if (!ca)
		return;
	__builtin_memset(ca, 0, sizeof(*ca));
	ca->base_us = ca->round_rtt_us = NO_RTT;
	minmax_reset(&ca->base, 0, NO_RTT);
	rounds_begin(&ca->rounds, tp);
	ca->delivered = tp->delivered;
	ca->lost = tp->lost;
	if (sk->sk_pacing_status == SK_PACING_NONE)
		sk->sk_pacing_status = SK_PACING_NEEDED;
}

/* For every ACK, in recovery too: everything about it is in the rate sample. */
SEC("struct_ops")
void BPF_PROG(NAME_cong_control, struct sock *sk, u32 ack, int flag, const struct rate_sample *rs)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct NAME *ca = bpf_sk_storage_get(&NAME_storage, sk, NULL, 0);

	if (!ca)
		return;
	if (rs->rtt_us > 0) {
		u32 now_ms = tp->tcp_mstamp / USEC_PER_MSEC;

		ca->base_us = minmax_running_min(&ca->base, base_window_s * 1000, now_ms,
						 (u32)rs->rtt_us);
		ca->round_rtt_us = min(ca->round_rtt_us, (u32)rs->rtt_us);
	}
	/* A sender that does not fill its window learns nothing of the path. */
	if (ca->phase == STARTUP && !rs->is_app_limited)
		tp->snd_cwnd += rs->acked_sacked;
	if (rounds_end(&ca->rounds, tp, rs))
		NAME_round(tp, ca);
	tp->snd_cwnd = min(min(tp->snd_cwnd, CWND_MOST), tp->snd_cwnd_clamp);
	NAME_pace(sk, ca);
}

/* With cong_control() nothing else sets the window, but TCP asks for these. */
SEC("struct_ops")
u32 BPF_PROG(NAME_ssthresh, struct sock *sk)
{
	return tcp_sk(sk)->snd_ssthresh;
}

SEC("struct_ops")
u32 BPF_PROG(NAME_undo_cwnd, struct sock *sk)
{
	return max(tcp_sk(sk)->snd_cwnd, 2U);
}

SEC(".struct_ops")
struct tcp_congestion_ops NAME = {
	.init		= (void *)NAME_init,
	.cong_control	= (void *)NAME_cong_control,
	.ssthresh	= (void *)NAME_ssthresh,
	.undo_cwnd	= (void *)NAME_undo_cwnd,
	.name		= "NAME",
};
