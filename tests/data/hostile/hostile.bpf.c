// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Reno, until it has been told of some ACKs: then it does one of the things that no congestion
 * control may do. For the tests of isolation.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "bpf_tracing_net.h"
#include "dumbbell.h"

char _license[] SEC("license") = "Dual BSD/GPL";

enum deed {
	NOTHING,
	DIVIDE_BY_ZERO,
	WILD_POINTER,
	LOOP_FOR_EVER,
	CWND_ZERO,
	CWND_HUGE,
	UNDO_TO_ZERO,
	STACK_OVERFLOW,
};

PARAM(u32, deed, 0, 0, 7, "", "what it does: see the enumeration");
PARAM(u64, address, 0x40, 0, 1ULL << 62, "", "where the wild pointer points");
PARAM(u32, after_acks, 100, 0, 1000000, "ACKs", "when it does it");

struct hostile {
	u32	acks;
	u32	divisor;	/* always zero */
};

CA_PRIV(struct hostile);
SERIES(struct hostile, acks, "acks", "", "ACKs so far");

static __noinline u32 deeper(volatile u32 *above)
{
	volatile u32 here[16];

	here[0] = *above;
	return *above ? 0 : deeper(here) + here[0];
}

SEC("struct_ops")
u32 BPF_PROG(hostile_ssthresh, struct sock *sk)
{
	return max(tcp_sk(sk)->snd_cwnd >> 1, 2U);
}

SEC("struct_ops")
void BPF_PROG(hostile_cong_avoid, struct sock *sk, u32 ack, u32 acked)
{
	struct hostile *ca = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	volatile u32 zero = ca->divisor;

	tcp_reno_cong_avoid(sk, ack, acked);
	if (++ca->acks < after_acks)
		return;
	switch (deed) {
	case DIVIDE_BY_ZERO:
		tp->snd_cwnd = ack / zero;
		break;
	case WILD_POINTER:
		*(volatile u32 *)address = ack;
		break;
	case LOOP_FOR_EVER:
		while (!zero)
			zero = ca->divisor;
		break;
	case CWND_ZERO:
		tp->snd_cwnd = 0;
		break;
	case CWND_HUGE:
		tp->snd_cwnd = ~0U;
		break;
	case STACK_OVERFLOW:
		tp->snd_cwnd = deeper(&zero);
		break;
	}
}

SEC("struct_ops")
u32 BPF_PROG(hostile_undo_cwnd, struct sock *sk)
{
	return deed == UNDO_TO_ZERO ? 0 : tcp_reno_undo_cwnd(sk);
}

SEC(".struct_ops")
struct tcp_congestion_ops hostile = {
	.ssthresh	= (void *)hostile_ssthresh,
	.cong_avoid	= (void *)hostile_cong_avoid,
	.undo_cwnd	= (void *)hostile_undo_cwnd,
	.name		= "hostile",
};
