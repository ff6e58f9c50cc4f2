// SPDX-License-Identifier: GPL-2.0-only
/*
 * NAME: paces at the greatest delivery rate of the last rounds, and probes for more in every eighth.
 *
 * A starting point, made by `dumbbell cc new --kind rate`: change what you like, including this
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

/* Parameters: type, name, default, minimum, maximum, unit, meaning. `NAME:probe_pct=150` sets one. */
PARAM(u32, probe_pct, 125, 101, 300, "%", "pacing rate in a round that probes, of the estimate");
PARAM(u32, bw_rounds, 10, 1, 100, "rounds", "the estimate is the greatest rate of so many");
PARAM(u32, base_window_s, 10, 1, 600, "s", "the base RTT is the least of this long");
PARAM(u32, cwnd_pct, 200, 100, 1000, "%", "of the estimated BDP may be in flight");

#define NO_RTT		(~0U)
#define CWND_MOST	(1ULL << 24)	/* no BDP is larger: the estimates are of rubbish then */
#define CYCLE		8U	/* rounds: one probes, the next drains what it queued */

enum phase { STARTUP, PROBE, DRAIN, CRUISE };

/* State of one flow, in socket storage because it may be larger than the 104 bytes of a socket. */
struct NAME {
	struct minmax	bw;	/* windowed maximum of the delivery rate, by round */
	struct minmax	base;	/* windowed minimum of the RTT, by time in ms */
	struct rounds	rounds;
	u32	bw_pps;		/* packets/s */
	u32	base_us;
	u32	full_bw_pps;	/* STARTUP: the greatest rate so far */
	u32	full_rounds;	/* rounds that did not raise it by a quarter */
	u8	phase;
};
STORAGE(struct NAME);

/* State that is recorded over time: each is a column of the run's table `state`. */
STORAGE_SERIES_SCALED(struct NAME, bw_pps, "bw_bps", "bit/s", 8, 1, PER_MSS, "estimated bandwidth");
STORAGE_SERIES(struct NAME, base_us, "base_us", "us", "base RTT");
STORAGE_SERIES_STATE(struct NAME, phase, "phase", "startup,probe,drain,cruise", "the pacing gain");

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct NAME);
} NAME_storage SEC(".maps");

static void NAME_round(struct NAME *ca)
{
	u32 place = ca->rounds.count % CYCLE;

	if (ca->phase != STARTUP) {
		ca->phase = place == 0 ? PROBE : place == 1 ? DRAIN : CRUISE;
		return;
	}
	/* The link is full when three rounds at twice the rate bring nothing (BBR.CheckStartupDone). */
	if ((u64)ca->bw_pps * 4 >= (u64)ca->full_bw_pps * 5) {
		ca->full_bw_pps = ca->bw_pps;
		ca->full_rounds = 0;
	} else if (++ca->full_rounds >= 3) {
		ca->phase = DRAIN;
	}
}

static u32 NAME_gain_pct(const struct NAME *ca)
{
	switch (ca->phase) {
	case STARTUP:
		return 200;
	case PROBE:
		return probe_pct;
	case DRAIN:
		return 200 - min(probe_pct, 150U);
	default:
		return 100;
	}
}

/* When the handshake is done. */
SEC("struct_ops")
void BPF_PROG(NAME_init, struct sock *sk)
{
	struct NAME *ca = bpf_sk_storage_get(&NAME_storage, sk, NULL, BPF_SK_STORAGE_GET_F_CREATE);

	if (!ca)
		return;
	__builtin_memset(ca, 0, sizeof(*ca));
	ca->base_us = NO_RTT;
	minmax_reset(&ca->base, 0, NO_RTT);
	minmax_reset(&ca->bw, 0, 0);
	rounds_begin(&ca->rounds, tcp_sk(sk));
	if (sk->sk_pacing_status == SK_PACING_NONE)
		sk->sk_pacing_status = SK_PACING_NEEDED;
}

/* For every ACK, in recovery too: everything about it is in the rate sample. */
SEC("struct_ops")
void BPF_PROG(NAME_cong_control, struct sock *sk, u32 ack, int flag, const struct rate_sample *rs)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct NAME *ca = bpf_sk_storage_get(&NAME_storage, sk, NULL, 0);
	u64 bdp_pkts;

	if (!ca)
		return;
	if (rs->rtt_us > 0)
		ca->base_us = minmax_running_min(&ca->base, base_window_s * 1000,
						 tp->tcp_mstamp / USEC_PER_MSEC, (u32)rs->rtt_us);
	if (rs->delivered > 0 && rs->interval_us > 0) {
		u32 pps = (u64)rs->delivered * USEC_PER_SEC / (u64)rs->interval_us;

		/* What the application held back says nothing, unless it is more than is known. */
		if (!rs->is_app_limited || pps > ca->bw_pps)
			ca->bw_pps = minmax_running_max(&ca->bw, bw_rounds, ca->rounds.count, pps);
	}
	if (rounds_end(&ca->rounds, tp, rs))
		NAME_round(ca);
	if (!ca->bw_pps || ca->base_us == NO_RTT)
		return;
	sk->sk_pacing_rate = (u64)ca->bw_pps * tp->mss_cache * NAME_gain_pct(ca) / 100;
	bdp_pkts = (u64)ca->bw_pps * ca->base_us / USEC_PER_SEC;
	tp->snd_cwnd = max((u32)min(bdp_pkts * cwnd_pct / 100, CWND_MOST), 4U);
	tp->snd_cwnd = min(tp->snd_cwnd, tp->snd_cwnd_clamp);
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
	return max(tcp_sk(sk)->snd_cwnd, 4U);
}

SEC(".struct_ops")
struct tcp_congestion_ops NAME = {
	.init		= (void *)NAME_init,
	.cong_control	= (void *)NAME_cong_control,
	.ssthresh	= (void *)NAME_ssthresh,
	.undo_cwnd	= (void *)NAME_undo_cwnd,
	.name		= "NAME",
};
