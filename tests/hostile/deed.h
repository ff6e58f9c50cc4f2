/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the hostile congestion controls share: Reno, system calls without a C library, and a way to
 * show that a deed succeeded. Each file defines `deed()` and says when it is done: IN_OP,
 * IN_CONSTRUCTOR, IN_DESTRUCTOR.
 *
 * A deed that succeeds calls succeeded(), which writes to an address that the crash message shows.
 * One that is refused by an error number returns, and the run goes on as Reno's.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "bpf_tracing_net.h"
#include "dumbbell.h"
#include "syscalls.h"

char _license[] SEC("license") = "Dual BSD/GPL";

struct hostile {
	u32	acks;
};

CA_PRIV(struct hostile);

static __attribute__((unused)) void deed(void);

SEC("struct_ops")
u32 BPF_PROG(hostile_ssthresh, struct sock *sk)
{
	return max(tcp_sk(sk)->snd_cwnd >> 1, 2U);
}

SEC("struct_ops")
u32 BPF_PROG(hostile_undo_cwnd, struct sock *sk)
{
	return tcp_reno_undo_cwnd(sk);
}

/* At the 50th ACK. */
#define IN_OP								\
	SEC("struct_ops")						\
	void BPF_PROG(hostile_cong_avoid, struct sock *sk, u32 ack, u32 acked) \
	{								\
		struct hostile *ca = inet_csk_ca(sk);			\
									\
		tcp_reno_cong_avoid(sk, ack, acked);			\
		if (++ca->acks == 50)					\
			deed();						\
	}								\
	TABLE

/* Before anything is called. */
#define IN_CONSTRUCTOR							\
	static __attribute__((constructor)) void at_the_start(void) { deed(); } \
	GOOD_OPS

/* When the object is unloaded. */
#define IN_DESTRUCTOR							\
	static __attribute__((destructor)) void at_the_end(void) { deed(); } \
	GOOD_OPS

#define GOOD_OPS							\
	SEC("struct_ops")						\
	void BPF_PROG(hostile_cong_avoid, struct sock *sk, u32 ack, u32 acked) \
	{								\
		tcp_reno_cong_avoid(sk, ack, acked);			\
	}								\
	TABLE

#define TABLE								\
	SEC(".struct_ops")						\
	struct tcp_congestion_ops hostile = {				\
		.ssthresh	= (void *)hostile_ssthresh,		\
		.cong_avoid	= (void *)hostile_cong_avoid,		\
		.undo_cwnd	= (void *)hostile_undo_cwnd,		\
		.name		= "hostile",				\
	}
