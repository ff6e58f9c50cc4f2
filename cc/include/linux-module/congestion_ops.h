/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A kernel module's table of callbacks. It starts as the table of vmlinux.h, which is
 * what the host reads (crates/cc-abi/src/ops.rs); what only the kernel uses comes last.
 *
 * Kernels patched for BBRv2 and BBRv3 have tso_segs() and skb_marked_lost() too. tso_segs_goal() was
 * min_tso_segs()' predecessor until Linux 4.16, and kernels with TCP Prague have max_tso_segs():
 * module.c lets tso_segs() call them.
 *
 * pkts_acked() got its sample with Linux 4.7 (DUMBBELL_PKTS_ACKED_RTT: the RTT itself).
 * cong_control() got the acknowledgment and its flags with Linux 6.10. The host compiles
 * a source with DUMBBELL_CONG_CONTROL_RS when it has the older two parameters.
 */
#ifndef __DUMBBELL_CONGESTION_OPS_H__
#define __DUMBBELL_CONGESTION_OPS_H__

#define TCP_CA_NAME_MAX		16
#define TCP_CA_UNSPEC		0
#define TCP_CONG_NON_RESTRICTED	(1 << 0)
#define TCP_CONG_NEEDS_ECN	(1 << 1)
/* Since Linux 7.0, with the names of kernels with TCP Prague. */
#define TCP_CONG_NEEDS_ACCECN	(1 << 2)
#define TCP_CONG_ECT_1_NEGOTIATION (1 << 3)
#define TCP_CONG_WANTS_ECT_1	TCP_CONG_ECT_1_NEGOTIATION
#define TCP_CONG_NO_FALLBACK_RFC3168 (1 << 4)	/* both ends have AccECN here */
/* Of the receiver's side, which is not the module's here. */
#define TCP_CONG_WANTS_CE_EVENTS (1 << 5)

struct module;
struct sk_buff;
union tcp_cc_info;

struct tcp_congestion_ops {
	u32	(*ssthresh)(struct sock *sk);
	void	(*cong_avoid)(struct sock *sk, u32 ack, u32 acked);
	void	(*set_state)(struct sock *sk, u8 new_state);
	void	(*cwnd_event)(struct sock *sk, enum tcp_ca_event ev);
	/* Since Linux 7.2: CA_EVENT_TX_START, which is then not passed to cwnd_event(). */
	void	(*cwnd_event_tx_start)(struct sock *sk);
	void	(*in_ack_event)(struct sock *sk, u32 flags);
#ifdef DUMBBELL_PKTS_ACKED_RTT
	void	(*__pkts_acked)(struct sock *sk, const struct ack_sample *sample);
#else
	void	(*pkts_acked)(struct sock *sk, const struct ack_sample *sample);
#endif
	u32	(*min_tso_segs)(struct sock *sk);
#ifdef DUMBBELL_CONG_CONTROL_RS
	void	(*__cong_control)(struct sock *sk, u32 ack, int flag, const struct rate_sample *rs);
#else
	void	(*cong_control)(struct sock *sk, u32 ack, int flag, const struct rate_sample *rs);
#endif
	u32	(*undo_cwnd)(struct sock *sk);
	u32	(*sndbuf_expand)(struct sock *sk);
	void	(*init)(struct sock *sk);
	void	(*release)(struct sock *sk);
	u32	flags;
	char	name[TCP_CA_NAME_MAX];
	u32	(*tso_segs)(struct sock *sk, unsigned int mss_now);
	void	(*skb_marked_lost)(struct sock *sk, const struct sk_buff *skb);
	u32	(*tso_segs_goal)(struct sock *sk);
	u32	(*max_tso_segs)(struct sock *sk);
#ifdef DUMBBELL_PKTS_ACKED_RTT
	void	(*pkts_acked)(struct sock *sk, u32 num_acked, s32 rtt_us);
#endif
#ifdef DUMBBELL_CONG_CONTROL_RS
	void	(*cong_control)(struct sock *sk, const struct rate_sample *rs);
#endif
	size_t	(*get_info)(struct sock *sk, u32 ext, int *attr, union tcp_cc_info *info);
	struct module *owner;
	struct list_head list;
	u32	key;
};

int tcp_register_congestion_control(struct tcp_congestion_ops *ops);
void tcp_unregister_congestion_control(struct tcp_congestion_ops *ops);

#endif /* __DUMBBELL_CONGESTION_OPS_H__ */
