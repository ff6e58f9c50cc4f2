// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Probe: reports what the host did, for the tests of crates/cc. It keeps cwnd
 * where its parameter says.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "bpf_tracing_net.h"
#include "dumbbell.h"

char _license[] SEC("license") = "Dual BSD/GPL";

PARAM(u32, window_pkts, 7, 1, 1000, "pkts", "cwnd after every ACK");
PARAM(s32, bias, -3, -10, 10, "", "added to the bias series");
PARAM(u8, small, 255, 0, 255, "", "as much as its type holds");
PARAM(u64, large, 1, 0, 1ULL << 60, "ns", "more than 32 bits");

struct probe {
	u64	now_ns;
	s16	bias;
	u8	state;
	u8	event;
	u32	calls;
	u32	random;
};

struct storage {
	u64	calls;
	u32	ack_flags;
};

CA_PRIV(struct probe);
STORAGE(struct storage);

SERIES(struct probe, now_ns, "now_ns", "ns", "the clock at the last call");
SERIES_SCALED(struct probe, bias, "bias_milli", "", 1000, 1, DUMBBELL_SIGNED, "bias");
SERIES_STATE(struct probe, state, "state", "open,disorder,cwr,recovery,loss", "last set_state");
SERIES_STATE(struct probe, event, "event", "tx_start,cwnd_restart", "last cwnd_event");
SERIES(struct probe, calls, "calls", "", "calls of any instance's globals");
SERIES(struct probe, random, "random", "", "a random number drawn by init");
STORAGE_SERIES(struct storage, calls, "stored_calls", "", "calls of this socket");
STORAGE_SERIES_SCALED(struct storage, ack_flags, "ack_flags", "bytes", 3, 4, PER_MSS, "last in_ack_event");

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct storage);
} stg SEC(".maps");

/* Of the instance, not of the socket. */
u32 instance_calls;

static void count(struct sock *sk)
{
	struct probe *ca = inet_csk_ca(sk);
	struct storage *st = bpf_sk_storage_get(&stg, sk, NULL, BPF_SK_STORAGE_GET_F_CREATE);

	ca->now_ns = bpf_ktime_get_ns();
	ca->bias = bias;
	ca->calls = ++instance_calls;
	if (st)
		st->calls++;
}

SEC("struct_ops")
void BPF_PROG(probe_init, struct sock *sk)
{
	struct probe *ca = inet_csk_ca(sk);

	ca->random = bpf_get_prandom_u32();
	count(sk);
}

SEC("struct_ops")
void BPF_PROG(probe_release, struct sock *sk)
{
	count(sk);
}

SEC("struct_ops")
u32 BPF_PROG(probe_ssthresh, struct sock *sk)
{
	count(sk);
	return small;
}

SEC("struct_ops")
void BPF_PROG(probe_cong_control, struct sock *sk, u32 ack, int flag, const struct rate_sample *rs)
{
	count(sk);
	tcp_sk(sk)->snd_cwnd = window_pkts;
	tcp_sk(sk)->snd_ssthresh = ack + flag + rs->acked_sacked + rs->is_ack_delayed;
	sk->sk_pacing_rate = large;
}

SEC("struct_ops")
void BPF_PROG(probe_pkts_acked, struct sock *sk, const struct ack_sample *sample)
{
	count(sk);
	tcp_sk(sk)->snd_cwnd = sample->pkts_acked + sample->rtt_us + sample->in_flight;
}

SEC("struct_ops")
void BPF_PROG(probe_set_state, struct sock *sk, u8 new_state)
{
	struct probe *ca = inet_csk_ca(sk);

	count(sk);
	/* The state left, then the state entered. */
	ca->state = inet_csk(sk)->icsk_ca_state * 16 + new_state;
}

SEC("struct_ops")
void BPF_PROG(probe_cwnd_event, struct sock *sk, enum tcp_ca_event ev)
{
	struct probe *ca = inet_csk_ca(sk);

	count(sk);
	ca->event = ev;
}

SEC("struct_ops")
void BPF_PROG(probe_in_ack_event, struct sock *sk, u32 flags)
{
	struct storage *st = bpf_sk_storage_get(&stg, sk, NULL, 0);

	count(sk);
	if (st)
		st->ack_flags = flags;
}

SEC("struct_ops")
u32 BPF_PROG(probe_min_tso_segs, struct sock *sk)
{
	count(sk);
	return 2;
}

SEC("struct_ops")
u32 BPF_PROG(probe_sndbuf_expand, struct sock *sk)
{
	count(sk);
	return 3;
}

SEC("struct_ops")
u32 BPF_PROG(probe_undo_cwnd, struct sock *sk)
{
	count(sk);
	return tcp_reno_undo_cwnd(sk);
}

SEC(".struct_ops")
struct tcp_congestion_ops probe = {
	.init		= (void *)probe_init,
	.release	= (void *)probe_release,
	.ssthresh	= (void *)probe_ssthresh,
	.cong_control	= (void *)probe_cong_control,
	.pkts_acked	= (void *)probe_pkts_acked,
	.set_state	= (void *)probe_set_state,
	.cwnd_event	= (void *)probe_cwnd_event,
	.in_ack_event	= (void *)probe_in_ack_event,
	.min_tso_segs	= (void *)probe_min_tso_segs,
	.sndbuf_expand	= (void *)probe_sndbuf_expand,
	.undo_cwnd	= (void *)probe_undo_cwnd,
	.name		= "probe",
};
