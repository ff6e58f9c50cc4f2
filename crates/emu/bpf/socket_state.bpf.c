// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Reads what TCP_INFO does not report about our sender sockets, all of them at once and in any
 * namespace: a BPF iterator over the storage map in which each is tagged with its flow number. A
 * second one does the same over the storage map of a congestion control that keeps its state in
 * one. crates/emu/src/bpf/state_reader.rs has the other side of both records.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

char _license[] SEC("license") = "Dual BSD/GPL";

#define CA_PRIV_WORDS	13

/* Helper numbers are the kernel's user-space ABI (uapi/linux/bpf.h). */
static long (*const bpf_seq_write)(void *seq, const void *data, u32 len) = (void *)127;
static void *(*const bpf_skc_to_tcp_sock)(void *sk) = (void *)137;

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct bpf_iter_meta {
	void	*seq;
};

struct bpf_iter__bpf_sk_storage_map {
	struct bpf_iter_meta *meta;
	void	*map;
	struct sock *sk;
	void	*value;
};

struct tcp_rack {
	u32	rtt_us;
};

/* A flavour of struct tcp_sock (what follows ___ is not part of the name). */
struct tcp_sock___rack {
	struct tcp_rack rack;
};

#pragma clang attribute pop

/* Flow number of each socket. */
struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, u32);
} flows SEC(".maps");

/* Number of bytes of a value that the storage iterator writes; set when loaded. */
const volatile u32 storage_bytes = 8;

struct socket_state {
	u64	time_ns;		/* CLOCK_MONOTONIC */
	u32	flow;
	u32	lost_pkts;		/* ever marked lost */
	u32	rack_rtt_us;		/* latest RTT sample of RACK */
	u32	pacing_status;		/* enum sk_pacing */
	u64	ca_priv[CA_PRIV_WORDS];
};

SEC("iter/bpf_sk_storage_map")
int sockets(struct bpf_iter__bpf_sk_storage_map *ctx)
{
	struct sock *sk = ctx->sk;
	u32 *flow = ctx->value;
	struct socket_state state = {};
	struct tcp_sock *tp;

	if (!sk || !flow)
		return 0;
	tp = bpf_skc_to_tcp_sock(sk);
	if (!tp)
		return 0;
	state.time_ns = bpf_ktime_get_ns();
	state.flow = *flow;
	state.lost_pkts = tp->lost;
	state.rack_rtt_us = ((struct tcp_sock___rack *)tp)->rack.rtt_us;
	state.pacing_status = sk->sk_pacing_status;
	/* The verifier accepts only constant indices. */
#pragma clang loop unroll(full)
	for (int i = 0; i < CA_PRIV_WORDS; i++)
		state.ca_priv[i] = tp->inet_conn.icsk_ca_priv[i];
	bpf_seq_write(ctx->meta->seq, &state, sizeof(state));
	return 0;
}

SEC("iter/bpf_sk_storage_map")
int storage(struct bpf_iter__bpf_sk_storage_map *ctx)
{
	void *value = ctx->value;
	struct sock *sk = ctx->sk;
	u64 flow;
	u32 *tag;

	if (!sk || !value)
		return 0;
	tag = bpf_sk_storage_get(&flows, sk, NULL, 0);
	if (!tag)
		return 0;
	flow = *tag;
	bpf_seq_write(ctx->meta->seq, &flow, sizeof(flow));
	bpf_seq_write(ctx->meta->seq, value, storage_bytes);
	return 0;
}
