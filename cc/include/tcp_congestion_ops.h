/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The table of callbacks: the part of the kernel's that BPF may implement. libbpf matches members
 * by name, so their order and omissions do not matter to any kernel; natively
 * crates/cc-abi/src/ops.rs mirrors it.
 */
#ifndef __TCP_CONGESTION_OPS_H__
#define __TCP_CONGESTION_OPS_H__

union tcp_cc_info;

struct tcp_congestion_ops {
	u32	(*ssthresh)(struct sock *sk);
	void	(*cong_avoid)(struct sock *sk, u32 ack, u32 acked);
	void	(*set_state)(struct sock *sk, u8 new_state);
	void	(*cwnd_event)(struct sock *sk, enum tcp_ca_event ev);
	/* Since Linux 7.2: CA_EVENT_TX_START, which is then not passed to cwnd_event(). */
	void	(*cwnd_event_tx_start)(struct sock *sk);
	void	(*in_ack_event)(struct sock *sk, u32 flags);
	void	(*pkts_acked)(struct sock *sk, const struct ack_sample *sample);
	u32	(*min_tso_segs)(struct sock *sk);
	void	(*cong_control)(struct sock *sk, u32 ack, int flag, const struct rate_sample *rs);
	u32	(*undo_cwnd)(struct sock *sk);
	u32	(*sndbuf_expand)(struct sock *sk);
	void	(*init)(struct sock *sk);
	void	(*release)(struct sock *sk);
	u32	flags;
	char	name[16];
};

#endif /* __TCP_CONGESTION_OPS_H__ */
