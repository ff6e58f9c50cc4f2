// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Reno: additive increase by one packet per round trip, halving on loss.
 *
 * References: RFC 5681 §3.1 (slow start, congestion avoidance), §3.2 (ssthresh),
 * in packets and with appropriate byte counting (RFC 3465), as Linux counts. RFC 8511 (ABE),
 * which Linux does not have, is a parameter.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "bpf_tracing_net.h"
#include "dumbbell.h"

char _license[] SEC("license") = "Dual BSD/GPL";

PARAM(u32, abe, 0, 0, 1, "", "alternative backoff with ECN (RFC 8511): keep more after marks alone");
PARAM(u32, beta_ecn, 819, 1, 1023, "/1024", "share of cwnd kept then: 0.8 (RFC 8511 §3.1)");

struct reno {
	u32	reduced_ce;	/* ABE: tp->delivered_ce at the last reduction; [pkts] */
};
CA_PRIV(struct reno);

/*
 * RFC 8511 §3: whether marks are all that this reduction answers. When ssthresh() is called the state is
 * still the one before, but what was declared lost is counted, and so are the marks.
 */
static bool reno_marked_only(struct reno *ca, const struct tcp_sock *tp)
{
	bool is_marked = tp->delivered_ce != ca->reduced_ce;

	ca->reduced_ce = tp->delivered_ce;
	return is_marked && !tp->lost_out;
}

SEC("struct_ops")
u32 BPF_PROG(reno_ssthresh, struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	if (abe && reno_marked_only(inet_csk_ca(sk), tp))
		return max((u64)tp->snd_cwnd * beta_ecn >> 10, 2ULL);
	return max(tp->snd_cwnd >> 1, 2U);
}

SEC("struct_ops")
void BPF_PROG(reno_cong_avoid, struct sock *sk, u32 ack, u32 acked)
{
	tcp_reno_cong_avoid(sk, ack, acked);
}

SEC("struct_ops")
u32 BPF_PROG(reno_undo_cwnd, struct sock *sk)
{
	return tcp_reno_undo_cwnd(sk);
}

SEC(".struct_ops")
struct tcp_congestion_ops reno = {
	.ssthresh	= (void *)reno_ssthresh,
	.cong_avoid	= (void *)reno_cong_avoid,
	.undo_cwnd	= (void *)reno_undo_cwnd,
	.name		= "reno",
};
