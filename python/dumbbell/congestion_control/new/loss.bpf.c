// SPDX-License-Identifier: GPL-2.0-only
/*
 * NAME: adds INCREASE packets per round trip, keeps a share of cwnd on loss, and paces.
 *
 * A starting point, made by `dumbbell cc new`: change what you like, including this comment and the
 * licence above. The kernel accepts a congestion control only under a GPL-compatible licence, which
 * it reads from _license[].
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "bpf_tracing_net.h"
#include "dumbbell.h"

char _license[] SEC("license") = "GPL";

/* Parameters: type, name, default, minimum, maximum, unit, meaning. `NAME:beta_pct=70` sets one. */
PARAM(u32, increase_pkts, 1, 1, 1000, "pkts", "cwnd grows by this much per round trip");
PARAM(u32, beta_pct, 50, 10, 95, "%", "share of cwnd that is left after a loss");

enum phase { SLOW_START, AVOIDANCE };

/* State of one flow: at most 104 bytes, all zero at first. */
struct NAME {
	u32	w_max;		/* cwnd before the last loss, packets */
	u32	losses;		/* reductions so far */
	u8	phase;
};

CA_PRIV(struct NAME);

/* State that is recorded over time: each is a column of the run's table `state`. */
SERIES(struct NAME, w_max, "w_max_pkts", "pkts", "cwnd before the last loss");
SERIES(struct NAME, losses, "losses", "", "reductions so far");
SERIES_STATE(struct NAME, phase, "phase", "slow_start,avoidance", "how cwnd grows");

/* When the handshake is done. */
SEC("struct_ops")
void BPF_PROG(NAME_init, struct sock *sk)
{
	/*
	 * With this, TCP sends at 1.2 × cwnd / srtt (2 × in slow start) instead of in bursts. To set
	 * sk_pacing_rate yourself, implement cong_control() instead of cong_avoid(), like BBR.
	 */
	sk->sk_pacing_status = SK_PACING_NEEDED;
}

/* For every ACK outside of recovery: `acked` packets are newly acknowledged. */
SEC("struct_ops")
void BPF_PROG(NAME_cong_avoid, struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct NAME *ca = inet_csk_ca(sk);

	/* A sender that does not fill its window learns nothing of the path. */
	if (!tcp_is_cwnd_limited(sk))
		return;
	if (tcp_in_slow_start(tp)) {
		ca->phase = SLOW_START;
		acked = tcp_slow_start(tp, acked);
		if (!acked)
			return;
	}
	ca->phase = AVOIDANCE;
	/* One packet for every cwnd / increase_pkts packets that are acknowledged. */
	tcp_cong_avoid_ai(tp, max(tp->snd_cwnd / increase_pkts, 1U), acked);
}

/* A loss, at most once per round trip: the new slow start threshold, to which cwnd falls. */
SEC("struct_ops")
u32 BPF_PROG(NAME_ssthresh, struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct NAME *ca = inet_csk_ca(sk);

	ca->w_max = tp->snd_cwnd;
	ca->losses++;
	return max((u32)((u64)tp->snd_cwnd * beta_pct / 100), 2U);
}

/* The loss was spurious: restore cwnd. */
SEC("struct_ops")
u32 BPF_PROG(NAME_undo_cwnd, struct sock *sk)
{
	return max(tcp_sk(sk)->snd_cwnd, tcp_sk(sk)->prior_cwnd);
}

SEC(".struct_ops")
struct tcp_congestion_ops NAME = {
	.init		= (void *)NAME_init,
	.cong_avoid	= (void *)NAME_cong_avoid,
	.ssthresh	= (void *)NAME_ssthresh,
	.undo_cwnd	= (void *)NAME_undo_cwnd,
	.name		= "NAME",
};
