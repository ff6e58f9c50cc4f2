// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * BBR version 1: paces at the estimated bottleneck bandwidth and bounds inflight by the BDP.
 *
 *	bw      = max over 10 round trips of delivered / interval	[delivery-rate samples]
 *	min_rtt = min over 10 s of RTT
 *	pacing_rate = pacing_gain bw;  cwnd = cwnd_gain bw min_rtt + headroom for bursts
 *
 *	STARTUP --bw grew < 25 % in 3 rounds--> DRAIN --inflight <= BDP--> PROBE_BW
 *	 2/ln2                                  ln2/2                      1.25, 0.75, 1 x 6
 *	any --min_rtt not seen for 10 s--> PROBE_RTT (4 packets, 200 ms and a round) --> back
 *
 * References: Cardwell, Cheng, Gunn, Yeganeh, Jacobson, "BBR: congestion-based congestion
 * control", ACM Queue 14(5), 2016; draft-cardwell-iccrg-bbr-congestion-control-00 (v1);
 * Flach et al., "An Internet-wide analysis of traffic policing", SIGCOMM 2016 (long-term
 * bandwidth); Linux 6.12 and later by behaviour: every default is Linux's.
 *
 * Differences from Linux:
 *  1. Linux's compile-time constants are parameters, in Linux's units (gains in 1/256).
 *  2. Stamps of min_rtt and PROBE_RTT are in ms rather than jiffies; the same at HZ=1000.
 *  3. A bandwidth of 256 packets per µs or more (the scale's end) saturates, not wraps.
 *  4. INET_DIAG_BBRINFO is not filled: BPF has no such callback.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "bpf_tracing_net.h"
#include "win_minmax.h"
#include "dumbbell.h"
#include "bbr_v1.h"

char _license[] SEC("license") = "Dual BSD/GPL";

/* The best of bw_window_rounds rounds. */
static void bbr_update_bw(struct sock *sk, const struct rate_sample *rs)
{
	bbr_update_max_bw(sk, rs);
}

static bool bbr_phase_is_over(const struct sock *sk, const struct rate_sample *rs)
{
	return bbr_phase_is_done(sk, rs);
}

SEC("struct_ops")
void BPF_PROG(bbr_init, struct sock *sk)
{
	bbr_start(sk);
}

SEC("struct_ops")
void BPF_PROG(bbr_cong_control, struct sock *sk, u32 ack, int flag, const struct rate_sample *rs)
{
	bbr_update_model(sk, rs);
	bbr_apply_model(sk, rs);
}

SEC(".struct_ops")
struct tcp_congestion_ops bbr = {
	.init		= (void *)bbr_init,
	.ssthresh	= (void *)bbr_ssthresh,
	.cong_control	= (void *)bbr_cong_control,
	.set_state	= (void *)bbr_set_state,
	.cwnd_event	= (void *)bbr_cwnd_event,
	.min_tso_segs	= (void *)bbr_min_tso_segs,
	.undo_cwnd	= (void *)bbr_undo_cwnd,
	.sndbuf_expand	= (void *)bbr_sndbuf_expand,
	.flags		= TCP_CONG_NON_RESTRICTED,
	.name		= "bbr",
};
