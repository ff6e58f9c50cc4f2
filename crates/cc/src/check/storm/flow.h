/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A socket, its path, and its congestion control. */
#ifndef STORM_FLOW_H
#define STORM_FLOW_H

#define DUMBBELL_HOST	/* rate_sample as the host fills it in */
#include "draws.h"
#include "libc.h"
#include "bpf/bpf_helpers.h"
#include "bpf_tracing_net.h"
#include "net_tcp.h"

extern u64 dumbbell_now_ns;

/* Properties of the path and the sender for a while. */
struct weather {
	u64	rtt_us;
	u64	ack_gap_ns;		/* between ACKs, mean */
	u32	loss_per_mille;
	u32	ece_per_mille;
	u32	idle_per_mille;
	u32	max_acked_pkts;
	bool	app_limited;
};

struct flow {
	/* The registered table, or that which a kernel module gave this socket in init. */
	struct tcp_congestion_ops *ops;
	struct tcp_sock *tp;
	struct sock	*sk;
	struct tcp_sock	*before;	/* the socket as it was before a call */
	u64		*storage;
	u64		storage_words;
	struct weather	weather;
	u32		high_seq_pkts;	/* recovery ends when this much is delivered */
};

static struct weather new_weather(void)
{
	u32 losses[] = { 0, 0, 1, 10, 100, 500 };

	return (struct weather) {
		.rtt_us = magnitude(0, 23),		/* 1 us to 16 s */
		.ack_gap_ns = magnitude(3, 30),		/* 8 ns to 2 s */
		.loss_per_mille = losses[between(0, 5)],
		.ece_per_mille = chance(300) ? (u32)between(1, 1000) : 0,
		.idle_per_mille = chance(200) ? 20 : 0,
		.max_acked_pkts = (u32)magnitude(0, 12),
		.app_limited = chance(200),
	};
}

static void advance(struct flow *f, u64 ns)
{
	struct tcp_sock *tp = f->tp;

	dumbbell_now_ns += ns;
	tp->tcp_clock_cache = dumbbell_now_ns;
	tp->tcp_mstamp = dumbbell_now_ns / 1000;
	if (tp->tcp_wstamp_ns < dumbbell_now_ns)
		tp->tcp_wstamp_ns = dumbbell_now_ns;
}

#endif /* STORM_FLOW_H */
