// SPDX-License-Identifier: MIT OR Apache-2.0
/* Passes every callback to the kernel's own CUBIC, which BPF may call. */
#include "vmlinux.h"
#include <bpf/bpf_tracing.h>

char _license[] SEC("license") = "GPL";

extern void cubictcp_init(struct sock *sk) __ksym;
extern u32 cubictcp_recalc_ssthresh(struct sock *sk) __ksym;
extern void cubictcp_cong_avoid(struct sock *sk, u32 ack, u32 acked) __ksym;
extern void cubictcp_state(struct sock *sk, u8 new_state) __ksym;
extern void cubictcp_cwnd_event(struct sock *sk, enum tcp_ca_event event) __ksym;
extern void cubictcp_acked(struct sock *sk, const struct ack_sample *sample) __ksym;
extern u32 tcp_reno_undo_cwnd(struct sock *sk) __ksym;

/* Our cubic has functions and variables of these names, too. */
int hystart = 7;

SEC("struct_ops") void BPF_PROG(cubic_init, struct sock *sk) { cubictcp_init(sk); }
SEC("struct_ops") u32 BPF_PROG(cubic_ssthresh, struct sock *sk) { return cubictcp_recalc_ssthresh(sk); }
SEC("struct_ops") void BPF_PROG(cubic_cong_avoid, struct sock *sk, u32 ack, u32 acked)
{ cubictcp_cong_avoid(sk, ack, acked); }
SEC("struct_ops") void BPF_PROG(cubic_set_state, struct sock *sk, u8 state) { cubictcp_state(sk, state); }
SEC("struct_ops") void BPF_PROG(cubic_cwnd_event, struct sock *sk, enum tcp_ca_event event)
{ cubictcp_cwnd_event(sk, event); }
SEC("struct_ops") void BPF_PROG(cubic_pkts_acked, struct sock *sk, const struct ack_sample *sample)
{ cubictcp_acked(sk, sample); }
SEC("struct_ops") u32 BPF_PROG(cubic_undo_cwnd, struct sock *sk) { return tcp_reno_undo_cwnd(sk); }

SEC(".struct_ops")
struct tcp_congestion_ops cubic = {
	.init		= (void *)cubic_init,
	.ssthresh	= (void *)cubic_ssthresh,
	.cong_avoid	= (void *)cubic_cong_avoid,
	.set_state	= (void *)cubic_set_state,
	.cwnd_event	= (void *)cubic_cwnd_event,
	.pkts_acked	= (void *)cubic_pkts_acked,
	.undo_cwnd	= (void *)cubic_undo_cwnd,
	.name		= "calls_cubic",
};
