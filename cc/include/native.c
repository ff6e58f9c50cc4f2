// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The native side of the contract: the kernel functions and BPF helpers that a
 * congestion control calls, linked into every instance. An instance is private
 * to one run, so its clock and random generator are plain globals, set by the
 * host (crates/cc) before each call.
 *
 * Behaviour: net/ipv4/tcp_cong.c (slow start, congestion avoidance, Reno).
 */
#include <errno.h>
#include "vmlinux.h"
#include "bpf/bpf_helpers.h"
#include "bpf_tracing_net.h"
#include "net_tcp.h"

u64 dumbbell_now_ns;
u64 dumbbell_random_state = 1;

#define MEMBER(m)	__builtin_offsetof(struct tcp_sock, m)

/* crates/cc-abi/src/sock.rs has the same table; an object with another one is not loaded. */
const u32 dumbbell_layout[] = {
	sizeof(struct tcp_sock),
	MEMBER(inet_conn.icsk_inet.sk.sk_pacing_rate),
	MEMBER(inet_conn.icsk_inet.sk.sk_pacing_status),
	MEMBER(inet_conn.icsk_inet.sk.sk_pacing_shift),
	MEMBER(inet_conn.icsk_retransmits),
	MEMBER(inet_conn.icsk_ca_priv),
	MEMBER(inet_conn.icsk_ca_ops),
	MEMBER(tcp_mstamp),
	MEMBER(rtt_min),
	MEMBER(srtt_us),
	MEMBER(mss_cache),
	MEMBER(snd_cwnd),
	MEMBER(snd_cwnd_clamp),
	MEMBER(packets_out),
	MEMBER(delivered),
	MEMBER(app_limited),
	MEMBER(lsndtime),
	MEMBER(ecn_flags),
	MEMBER(rx_opt),
	MEMBER(__host_requests),
	MEMBER(__host_storage),
	__builtin_offsetof(struct rate_sample, rtt_us),
	__builtin_offsetof(struct rate_sample, is_ack_delayed),
	sizeof(struct ack_sample),
};

u64 bpf_ktime_get_ns(void)
{
	return dumbbell_now_ns;
}

/* All clocks of an instance are the same: the run's, which neither sleeps nor is set. */
u64 bpf_ktime_get_boot_ns(void)
{
	return dumbbell_now_ns;
}

u64 bpf_ktime_get_coarse_ns(void)
{
	return dumbbell_now_ns;
}

/* A jiffy is a millisecond, as tp->lsndtime counts and as cc/cubic.bpf.c imitates. */
const unsigned long CONFIG_HZ = 1000;

/* The interfaces are those of Linux 6.12. */
const int LINUX_KERNEL_VERSION = (6 << 16) + (12 << 8);

u64 bpf_jiffies64(void)
{
	return dumbbell_now_ns / 1000000;
}

/* splitmix64: every state is valid, and it is seeded per instance. */
u32 bpf_get_prandom_u32(void)
{
	u64 z = (dumbbell_random_state += 0x9e3779b97f4a7c15ULL);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return (z ^ (z >> 31)) >> 32;
}

/* A flow keeps its congestion control until its end, and its socket has no other options. */
long bpf_setsockopt(void *sk, int level, int option, void *value, int size)
{
	(void)sk, (void)level, (void)option, (void)value, (void)size;
	return -EOPNOTSUPP;
}

long bpf_getsockopt(void *sk, int level, int option, void *value, int size)
{
	(void)sk, (void)level, (void)option, (void)value, (void)size;
	return -EOPNOTSUPP;
}

/*
 * The host simulates receivers and their ACKs: it gives the feedback that the ops table's flags
 * request.
 */
long bpf_tcp_send_ack(void *tp, u32 rcv_nxt)
{
	(void)tp, (void)rcv_nxt;
	return 0;
}

/*
 * The kernel's own. Weak, because sources from before Linux 5.13, when BPF could not call them,
 * define some of these names themselves.
 */
#define KERNEL_FUNCTION		__attribute__((weak))

KERNEL_FUNCTION u32 tcp_slow_start(struct tcp_sock *tp, u32 acked)
{
	u32 cwnd = min(tp->snd_cwnd + acked, tp->snd_ssthresh);

	acked -= cwnd - tp->snd_cwnd;
	tp->snd_cwnd = min(cwnd, tp->snd_cwnd_clamp);
	return acked;
}

KERNEL_FUNCTION void tcp_cong_avoid_ai(struct tcp_sock *tp, u32 w, u32 acked)
{
	/* Credits saved at a larger w open the window by one at most. */
	if (tp->snd_cwnd_cnt >= w) {
		tp->snd_cwnd_cnt = 0;
		tp->snd_cwnd++;
	}
	tp->snd_cwnd_cnt += acked;
	if (w && tp->snd_cwnd_cnt >= w) {
		u32 delta = tp->snd_cwnd_cnt / w;

		tp->snd_cwnd_cnt -= delta * w;
		tp->snd_cwnd += delta;
	}
	tp->snd_cwnd = min(tp->snd_cwnd, tp->snd_cwnd_clamp);
}

KERNEL_FUNCTION u32 tcp_reno_ssthresh(struct sock *sk)
{
	return max(tcp_sk(sk)->snd_cwnd >> 1, 2U);
}

KERNEL_FUNCTION void tcp_reno_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);

	(void)ack;
	if (!tcp_is_cwnd_limited(sk))
		return;
	if (tcp_in_slow_start(tp)) {
		acked = tcp_slow_start(tp, acked);
		if (!acked)
			return;
	}
	tcp_cong_avoid_ai(tp, tp->snd_cwnd, acked);
}

KERNEL_FUNCTION u32 tcp_reno_undo_cwnd(struct sock *sk)
{
	return max(tcp_sk(sk)->snd_cwnd, tcp_sk(sk)->prior_cwnd);
}
