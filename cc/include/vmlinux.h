/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The part of the kernel's types that a congestion control sees.
 *
 * One declaration serves two builds. For BPF, libbpf relocates every access by
 * field name (CO-RE), so layout and completeness do not matter; natively the
 * layout below is the layout, and crates/cc-abi/src/sock.rs mirrors it
 * (cc/include/native.c exports the offsets, the host compares them on load).
 *
 * A field is const unless the kernel lets a BPF congestion control write it
 * (net/ipv4/bpf_tcp_ca.c), so that a forbidden write fails in both builds.
 * Units: windows and counters in packets unless named otherwise, times in µs.
 */
#ifndef __VMLINUX_H__
#define __VMLINUX_H__

typedef unsigned char		__u8;
typedef signed char		__s8;
typedef unsigned short		__u16;
typedef signed short		__s16;
typedef unsigned int		__u32;
typedef signed int		__s32;
typedef unsigned long long	__u64;
typedef signed long long	__s64;
typedef __u8			u8;
typedef __s8			s8;
typedef __u16			u16;
typedef __s16			s16;
typedef __u32			u32;
typedef __s32			s32;
typedef __u64			u64;
typedef __s64			s64;
typedef __u16			__be16;
typedef __u32			__be32;
typedef __u32			__wsum;
typedef unsigned long		size_t;
typedef _Bool			bool;

enum { false = 0, true = 1 };

#ifndef NULL
#define NULL ((void *)0)
#endif

enum tcp_ca_state {
	TCP_CA_Open	= 0,
	TCP_CA_Disorder	= 1,
	TCP_CA_CWR	= 2,
	TCP_CA_Recovery	= 3,
	TCP_CA_Loss	= 4,
};

enum tcp_ca_event {
	CA_EVENT_TX_START,	/* first transmit when no packets are in flight */
	CA_EVENT_CWND_RESTART,	/* cwnd restart after idle */
	CA_EVENT_COMPLETE_CWR,	/* end of cwnd reduction */
	CA_EVENT_LOSS,		/* retransmission timeout */
	CA_EVENT_ECN_NO_CE,
	CA_EVENT_ECN_IS_CE,
};

enum tcp_ca_ack_event_flags {
	CA_ACK_SLOWPATH		= (1 << 0),
	CA_ACK_WIN_UPDATE	= (1 << 1),
	CA_ACK_ECE		= (1 << 2),
};

enum sk_pacing {
	SK_PACING_NONE		= 0,
	SK_PACING_NEEDED	= 1,
	SK_PACING_FQ		= 2,
};

/* Bits of icsk_ack.pending. */
enum inet_csk_ack_state_t {
	ICSK_ACK_SCHED	= 1,
	ICSK_ACK_TIMER	= 2,
	ICSK_ACK_NOW	= 16,	/* send the next ACK at once */
};

/* Of bpf_map_update_elem(): in any case, only if the key is new, only if it exists. */
enum {
	BPF_ANY = 0,
	BPF_NOEXIST = 1,
	BPF_EXIST = 2,
};

enum {
	BPF_LOCAL_STORAGE_GET_F_CREATE = 1,
	BPF_SK_STORAGE_GET_F_CREATE = 1,
};

enum bpf_map_type {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_SK_STORAGE = 24,
};

enum {
	BPF_F_NO_PREALLOC = 1,
};

#ifdef __bpf__
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
#endif

struct tcp_congestion_ops;

struct minmax_sample {
	u32	t;
	u32	v;
};

struct minmax {
	struct minmax_sample s[3];
};

/* Before Linux 4.13 modules had a type for times. */
#ifndef __mstamp
#define __mstamp		u64
#endif

#ifdef MODULE
struct in6_addr {
	u8	s6_addr[16];
};
#endif

struct sock {
	unsigned long	sk_pacing_rate;			/* bytes per second */
	const unsigned long sk_max_pacing_rate;		/* bytes per second */
	u32		sk_pacing_status;		/* enum sk_pacing */
	const u32	sk_gso_max_size;		/* bytes */
	const u16	sk_gso_max_segs;
	const u8	sk_pacing_shift;		/* TSO bursts last 1 s >> this */
	const volatile u8 sk_state;			/* TCP_ESTABLISHED (1) while a congestion control runs */
	const u16	sk_family;			/* AF_INET */
	const __be16	sk_dport;
	const __be32	sk_daddr;
	const __be32	sk_rcv_saddr;
	const __be16	__sk_sport;
	const u16	sk_num;				/* the source port */
	const u32	__sk_reserved;
#ifdef MODULE
	struct in6_addr	__sk_v6_rcv_saddr[0];
	struct in6_addr	__sk_v6_daddr[0];
#endif
};

struct inet_sock {
	struct sock	sk;
};

struct inet_connection_sock {
	struct inet_sock icsk_inet;
	const u32	icsk_rto;			/* jiffies in the kernel, unused natively */
	const u8	icsk_ca_state:5,		/* enum tcp_ca_state */
			icsk_ca_initialized:1;
	const u8	icsk_retransmits;
	const u8	icsk_backoff;
	const u8	__icsk_reserved;
	u64		icsk_ca_priv[13];
	struct tcp_congestion_ops *icsk_ca_ops;		/* a kernel module's own table */
	struct {
		u8		pending;		/* no data arrives at a sender, so no ACK is due: 0 */
		const u8	quick;
		const u16	rcv_mss;	/* bytes; 536 as no data arrives */
		const u32	ato;			/* jiffies */
	} icsk_ack;
};

struct tcp_options_received {
	const u32	rcv_tsval;			/* the receiver's clock, ms */
	const u32	rcv_tsecr;			/* our clock as echoed by it, ms */
	const u16	saw_tstamp:1,			/* timestamps are always in use */
			tstamp_ok:1,
			sack_ok:3;
	const u16	__rx_reserved;
};

struct tcp_sock {
	struct inet_connection_sock inet_conn;
	const u64	bytes_acked;
	const u64	bytes_sent;
	const __mstamp	tcp_mstamp;			/* now, µs */
	const u64	tcp_clock_cache;		/* now, ns */
	const u64	tcp_wstamp_ns;			/* departure of the next packet (EDT), ns */
	const __mstamp	delivered_mstamp;		/* µs */
	const __mstamp	first_tx_mstamp;		/* µs */
	struct minmax	rtt_min;			/* µs over tcp_min_rtt_wlen */
	const u32	srtt_us;			/* smoothed RTT << 3, µs */
	const u32	mdev_us;
	const u32	rttvar_us;
	const u32	mss_cache;			/* bytes */
	const u32	advmss;				/* bytes */
	const u32	snd_una;			/* bytes */
	const u32	snd_nxt;			/* bytes */
	const u32	write_seq;			/* bytes */
	const u32	high_seq;			/* bytes */
	const u32	snd_wnd;			/* bytes */
	u32		snd_cwnd;
	u32		snd_cwnd_cnt;
	u32		snd_cwnd_stamp;
	u32		snd_ssthresh;
	const u32	snd_cwnd_clamp;
	const u32	snd_cwnd_used;
	const u32	prior_cwnd;
	const u32	prior_ssthresh;
	const u32	packets_out;
	const u32	retrans_out;
	const u32	sacked_out;
	const u32	lost_out;
	const u32	max_packets_out;
	const u32	cwnd_usage_seq;
	const u32	prr_delivered;
	const u32	prr_out;
	const u32	delivered;
	const u32	delivered_ce;
	const u32	lost;
	u32		app_limited;
	const u32	rate_delivered;
	const u32	rate_interval_us;
	const u32	total_retrans;
	const u32	data_segs_out;
	const u32	reordering;
	const u32	undo_marker;
	const s32	undo_retrans;
	const u32	lsndtime;			/* last data sent, ms */
	const u8	is_cwnd_limited:1,
			rate_app_limited:1,
			tlp_orig_data_app_limited:1;	/* in kernels patched for BBRv2 and BBRv3 */
	u8		ecn_flags;
#ifdef MODULE
	u8		fast_ack_mode;		/* of the ACKs that this side sends: there are none */
	u8		is_sack_reneg;		/* no receiver reneges: 0 */
#else
	const u16	__tp_reserved;
#endif
	const struct tcp_options_received rx_opt;
#ifdef MODULE
	union {
		const u32 rcv_nxt;			/* bytes; a sender receives none */
		const u32 received_ce;			/* packets, nor these */
		const u32 received_ce_tx;
	};
#else
	const u32	rcv_nxt;			/* bytes; a sender receives none */
#endif
	const u32	rcv_tstamp;			/* last ACK received, jiffies (1 ms) */
	const u32	retrans_stamp;			/* first retransmission of the episode, ms; 0: none */
	const u32	bytes_retrans;			/* bytes, modulo 2^32 */
	const u32	reord_seen;			/* times that reordering was seen */
	const u32	__highest_sack;			/* bytes, for kernel modules */
	u32		__host_requests;		/* a kernel function's requests to the host */
	const u64	__host_storage;			/* native host's: bpf_sk_storage_get(), see maps.c */
};

struct ack_sample {
	u32	pkts_acked;
	s32	rtt_us;
	u32	in_flight;		/* when the acknowledged packet left, bytes */
};

struct rate_sample {
	__mstamp prior_mstamp;		/* µs */
	u32	prior_delivered;
	u32	prior_delivered_ce;
	s32	delivered;		/* packets delivered over the interval; -1: no sample */
	s32	delivered_ce;
	long	interval_us;
	u32	snd_interval_us;
	u32	rcv_interval_us;
	long	rtt_us;			/* of the last (s)acked packet; -1: none */
	int	losses;			/* packets marked lost by this ACK */
	u32	acked_sacked;		/* packets newly (s)acked by this ACK */
	u32	prior_in_flight;
	u32	last_end_seq;		/* bytes */
	bool	is_app_limited;
	bool	is_retrans;
	bool	is_ack_delayed;
#if defined(MODULE) || defined(DUMBBELL_HOST)
	/* Only in kernels patched for BBRv2 and BBRv3. */
	bool	is_ece;
	bool	is_acking_tlp_retrans_seq;	/* of a loss probe, or of its original */
	u32	prior_lost;			/* tp->lost when the segment left */
	u32	tx_in_flight;			/* packets in flight then, it included */
	s32	lost;				/* packets marked lost since */
#endif
};

#ifndef MODULE	/* a module's table has more: linux-module/congestion_ops.h */
#include "tcp_congestion_ops.h"
#endif

#ifdef __bpf__
#pragma clang attribute pop
#endif

#endif /* __VMLINUX_H__ */
