/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* TCP as seen by congestion controls: constants, the socket's accessors, diagnostics. */
#ifndef __DUMBBELL_TCP_H__
#define __DUMBBELL_TCP_H__

#define TCP_INFINITE_SSTHRESH	0x7fffffff
#define TCP_INIT_CWND		10
#define TCP_MAX_WSCALE		14U
#define TCP_TS_HZ		1000
#define TCP_RTO_MAX		(120U * HZ)
#define TCP_RTO_MIN		(HZ / 5U)
#define TCP_TIMEOUT_INIT	(1U * HZ)
#define TCP_ATO_MIN		(HZ / 25U)
#define TCP_DELACK_MIN		(HZ / 25U)
#define TCP_DELACK_MAX		(HZ / 5U)
#define MAX_TCP_HEADER		320
#define GSO_MAX_SIZE		65536
#define GSO_LEGACY_MAX_SIZE	65536U
#define GSO_MAX_SEGS		65535
#define BITS_PER_U32		32
/*
 * The state: 104 bytes, unless the host compiles the source with another size, that of its tree or
 * what it needs. That state lies in the flow's storage, of which module_init() declares the size.
 */
#ifdef DUMBBELL_STATE_BYTES
#define ICSK_CA_PRIV_SIZE	(DUMBBELL_STATE_BYTES)
#else
#define ICSK_CA_PRIV_SIZE	sizeof_field(struct inet_connection_sock, icsk_ca_priv)
#endif
#define MAX_TCP_WINDOW		32767U

#define INET_ADDRSTRLEN		16
#define INET6_ADDRSTRLEN	48
#define AF_INET			2
#define AF_INET6		10
#define IPPROTO_TCP		6
/* struct inet_sock has its socket's addresses. */
#define inet_daddr		sk.sk_daddr
#define inet_saddr		sk.sk_rcv_saddr
#define inet_rcv_saddr		sk.sk_rcv_saddr
#define inet_dport		sk.sk_dport
#define inet_sport		sk.__sk_sport
#define inet_num		sk.sk_num
/* Never of IPv6. */
#define sk_v6_rcv_saddr		__sk_v6_rcv_saddr[0]
#define sk_v6_daddr		__sk_v6_daddr[0]

/* sk_state: a module sees the first one only. */
#define TCP_ESTABLISHED		1
#define TCP_SYN_SENT		2
#define TCP_SYN_RECV		3
#define TCP_FIN_WAIT1		4
#define TCP_FIN_WAIT2		5
#define TCP_TIME_WAIT		6
#define TCP_CLOSE		7
#define TCP_CLOSE_WAIT		8
#define TCP_LAST_ACK		9
#define TCP_LISTEN		10
#define TCP_CLOSING		11
#define TCP_NEW_SYN_RECV	12
#define TCPF_ESTABLISHED	(1 << TCP_ESTABLISHED)
#define TCPF_SYN_SENT		(1 << TCP_SYN_SENT)
#define TCPF_SYN_RECV		(1 << TCP_SYN_RECV)
#define TCPF_FIN_WAIT1		(1 << TCP_FIN_WAIT1)
#define TCPF_FIN_WAIT2		(1 << TCP_FIN_WAIT2)
#define TCPF_CLOSE		(1 << TCP_CLOSE)
#define TCPF_CLOSE_WAIT		(1 << TCP_CLOSE_WAIT)
#define TCPF_LISTEN		(1 << TCP_LISTEN)
/* A sender of bulk data sends no segments without. */
#define segs_out		data_segs_out

/* tcp_sock.ecn_flags */
#define TCP_ECN_OK		1
#define TCP_ECN_QUEUE_CWR	2
#define TCP_ECN_DEMAND_CWR	4
#define TCP_ECN_SEEN		8
/* Kernels patched for BBRv3: a route's feature, which no route has, and ECT on retransmissions. */
#define TCP_ECN_LOW		(1 << 5)
#define TCP_ECN_ECT_PERMANENT	(1 << 6)
/* Kernels with TCP Prague: packets are ECT(1). Here TCP_CONG_ECT_1_NEGOTIATION decides that. */
#define TCP_ECN_ECT_1		(1 << 7)
/* Since Linux 6.18: AccECN, in addition to RFC 3168's. */
#define TCP_ECN_MODE_RFC3168	TCP_ECN_OK
#define TCP_ECN_MODE_ACCECN	16
#define TCP_ECN_MODE_ANY	(TCP_ECN_MODE_RFC3168 | TCP_ECN_MODE_ACCECN)
#define tcp_ecn_mode_any(tp)	(((tp)->ecn_flags & TCP_ECN_MODE_ANY) != 0)
#define tcp_ecn_mode_rfc3168(tp) \
	(((tp)->ecn_flags & TCP_ECN_MODE_ANY) == TCP_ECN_MODE_RFC3168)
#define tcp_ecn_mode_accecn(tp)	\
	(((tp)->ecn_flags & TCP_ECN_MODE_ANY) == TCP_ECN_MODE_ACCECN)
#define tcp_ecn_status(tp)	((tp)->ecn_flags & TCP_ECN_MODE_ANY)
#define tcp_ecn_ok(tp)		tcp_ecn_mode_any(tp)
#define tcp_ecn_disabled(tp)	(!tcp_ecn_mode_any(tp))

/* inet_connection_sock.icsk_ack.pending */
#define ICSK_ACK_SCHED		1
#define ICSK_ACK_TIMER		2
#define ICSK_ACK_PUSHED		4
#define ICSK_ACK_PUSHED2	8
#define ICSK_ACK_NOW		16

/* inet_connection_sock.icsk_ca_state as a mask */
#define TCPF_CA_Open		(1 << TCP_CA_Open)
#define TCPF_CA_Disorder	(1 << TCP_CA_Disorder)
#define TCPF_CA_CWR		(1 << TCP_CA_CWR)
#define TCPF_CA_Recovery	(1 << TCP_CA_Recovery)
#define TCPF_CA_Loss		(1 << TCP_CA_Loss)

/* cc/include/native.c */
u32 tcp_slow_start(struct tcp_sock *tp, u32 acked);
void tcp_cong_avoid_ai(struct tcp_sock *tp, u32 w, u32 acked);
u32 tcp_reno_ssthresh(struct sock *sk);
void tcp_reno_cong_avoid(struct sock *sk, u32 ack, u32 acked);
u32 tcp_reno_undo_cwnd(struct sock *sk);

/* Bits of tcp_sock.__host_requests. */
enum {
	DUMBBELL_ENTER_CWR	= 1,
};
/* Reduces the window as an ECN mark would, once cong_avoid() or cong_control() has returned. */
void tcp_enter_cwr(struct sock *sk);

static inline struct tcp_sock *tcp_sk(const struct sock *sk)
{
	return (struct tcp_sock *)sk;
}

static inline struct inet_sock *inet_sk(const struct sock *sk)
{
	return (struct inet_sock *)sk;
}

static inline struct inet_connection_sock *inet_csk(const struct sock *sk)
{
	return (struct inet_connection_sock *)sk;
}

static inline void *inet_csk_ca(const struct sock *sk)
{
#ifdef DUMBBELL_STATE_BYTES
	return (void *)(uintptr_t)tcp_sk(sk)->__host_storage;
#else
	return inet_csk(sk)->icsk_ca_priv;
#endif
}

static inline u32 tcp_snd_cwnd(const struct tcp_sock *tp)
{
	return tp->snd_cwnd;
}

static inline void tcp_snd_cwnd_set(struct tcp_sock *tp, u32 cwnd)
{
	tp->snd_cwnd = cwnd;
}

static inline bool tcp_in_slow_start(const struct tcp_sock *tp)
{
	return tp->snd_cwnd < tp->snd_ssthresh;
}

static inline bool tcp_in_initial_slowstart(const struct tcp_sock *tp)
{
	return tp->snd_ssthresh >= TCP_INFINITE_SSTHRESH;
}

/* In slow start cwnd may grow to twice what was ever used of it. */
static inline bool tcp_is_cwnd_limited(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	if (tp->is_cwnd_limited)
		return true;
	return tcp_in_slow_start(tp) && tp->snd_cwnd < 2 * tp->max_packets_out;
}

static inline u32 tcp_left_out(const struct tcp_sock *tp)
{
	return tp->sacked_out + tp->lost_out;
}

static inline u32 tcp_packets_in_flight(const struct tcp_sock *tp)
{
	return tp->packets_out - tcp_left_out(tp) + tp->retrans_out;
}

static inline bool tcp_in_cwnd_reduction(const struct sock *sk)
{
	return (TCPF_CA_CWR | TCPF_CA_Recovery) >> inet_csk(sk)->icsk_ca_state & 1;
}

/* ssthresh without a loss: at least three quarters of cwnd. */
static inline u32 tcp_current_ssthresh(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	if (tcp_in_cwnd_reduction(sk))
		return tp->snd_ssthresh;
	return max(tp->snd_ssthresh, (tp->snd_cwnd >> 1) + (tp->snd_cwnd >> 2));
}

static inline u32 tcp_min_rtt(const struct tcp_sock *tp)
{
	return tp->rtt_min.s[0].v;
}

/* Bytes of a packet: IPv4 and TCP headers, with timestamps, and the payload. */
#define tcp_mss_to_mtu(sk, mss)	((void)(sk), (int)(mss) + 20 + 20 + 12)

/* Does TCP itself pace? Otherwise a queueing discipline would. */
static inline bool tcp_needs_internal_pacing(const struct sock *sk)
{
	return sk->sk_pacing_status == SK_PACING_NEEDED;
}

static inline bool tcp_ca_needs_ecn(const struct sock *sk)
{
	return inet_csk(sk)->icsk_ca_ops->flags & TCP_CONG_NEEDS_ECN;
}

/* Packets of a burst that lasts 1 s >> sk_pacing_shift, at least `min_segs`. */
static inline u32 tcp_tso_autosize(const struct sock *sk, unsigned int mss_now, int min_segs)
{
	u64 bytes = min((u64)sk->sk_pacing_rate >> sk->sk_pacing_shift, (u64)sk->sk_gso_max_size);

	return max((u32)(bytes / mss_now), (u32)min_segs);
}

static inline u32 tcp_stamp32_us_delta(u32 t1, u32 t0)
{
	return max((s32)(t1 - t0), 0);
}

static inline u32 tcp_stamp_us_delta(u64 t1, u64 t0)
{
	return max((s64)(t1 - t0), (s64)0);
}

#define tcp_clock_ns()		dumbbell_now_ns
#define tcp_clock_us()		(dumbbell_now_ns / NSEC_PER_USEC)
#define tcp_clock_ms()		(dumbbell_now_ns / NSEC_PER_MSEC)
#define tcp_mstamp_refresh(tp)	((void)(tp))
/* Timestamps count milliseconds. */
#ifndef DUMBBELL_BEFORE_4_13
#define tcp_time_stamp(tp)	((u32)((tp)->tcp_mstamp / (USEC_PER_SEC / TCP_TS_HZ)))
#endif
#define tcp_time_stamp_ts(tp)	tcp_time_stamp(tp)
#define tcp_time_stamp_ms(tp)	tcp_time_stamp(tp)
#define tcp_time_stamp_raw()	((u32)tcp_clock_ms())

/* Every ACK counts the marks since the start, from 0. */
#define TCP_ACCECN_CEP_INIT	0

/* Whether everything that the application wrote was sent; the head of what was not is not seen. */
#define tcp_write_queue_empty(sk) (tcp_sk(sk)->write_seq == tcp_sk(sk)->snd_nxt)

/* The next segment to be sent; NULL: the application has written no more. */
static inline struct sk_buff *tcp_send_head(const struct sock *sk)
{
	static struct sk_buff head;

	if (tcp_write_queue_empty(sk))
		return NULL;
	head.len = tcp_sk(sk)->mss_cache;
	head.__cb.seq = tcp_sk(sk)->snd_nxt;
	head.__cb.end_seq = head.__cb.seq + head.len;
	head.__cb.__pcount = 1;
	return &head;
}

/* The highest sequence number that was SACKed. */
static inline u32 tcp_highest_sack_seq(const struct tcp_sock *tp)
{
	return tp->sacked_out ? tp->__highest_sack : tp->snd_una;
}

static inline bool ipv4_is_loopback(__be32 address)
{
	return be32_to_cpu(address) >> 24 == 127;
}

/* Debugging is not enabled on any socket. */
#define SOCK_DBG		0
#define sock_flag(sk, flag)	((void)(sk), (void)(flag), false)

/* A sender's socket receives no data, so it has no ACK to send. */
#define TCP_MAX_QUICKACKS	16U
#define tcp_enter_quickack_mode(sk, n) ((void)(sk), (void)(n))
#define __tcp_send_ack(sk, rcv_nxt, ...) ((void)(sk), (void)(rcv_nxt))
#define tcp_send_ack(sk)	((void)(sk))
/* ECT is not set by the socket here; a socket without ECN sends none. */
#define INET_ECN_xmit(sk)	((void)(sk))
#define INET_ECN_dontxmit(sk)	((void)(sk))

static inline u32 tcp_wnd_end(const struct tcp_sock *tp)
{
	return tp->snd_una + tp->snd_wnd;
}

/* Calls the socket's BPF program; there is none. */
#define tcp_call_bpf(sk, ...)	((void)(sk), -1)
#define tcp_call_bpf_2arg(sk, ...) tcp_call_bpf(sk)

/* Protective load balancing: off, as with net.ipv4.tcp_plb_enabled=0, the default. */
#define TCP_PLB_SCALE		8
struct tcp_plb_state {
	u8	consec_cong_rounds:5,
		enabled:1,
		unused:2;
	u32	pause_until;
} __attribute__((packed));
#define tcp_plb_init(sk, plb)	((void)(sk), (void)((plb)->consec_cong_rounds = 0, (plb)->pause_until = 0))
#define tcp_plb_update_state(sk, plb, ratio) ((void)(sk), (void)(plb), (void)(ratio))
#define tcp_plb_check_rehash(sk, plb) ((void)(sk), (void)(plb))
#define tcp_plb_update_state_upon_rto(sk, plb) ((void)(sk), (void)(plb))

/* Filled in by get_info(), which is not called. */
enum {
	INET_DIAG_VEGASINFO	= 3,
	INET_DIAG_DCTCPINFO	= 9,
	INET_DIAG_BBRINFO	= 16,
	INET_DIAG_PRAGUEINFO	= 19,
};

struct tcpvegas_info {
	__u32	tcpv_enabled;
	__u32	tcpv_rttcnt;
	__u32	tcpv_rtt;
	__u32	tcpv_minrtt;
};

struct tcp_dctcp_info {
	__u16	dctcp_enabled;
	__u16	dctcp_ce_state;
	__u32	dctcp_alpha;
	__u32	dctcp_ab_ecn;
	__u32	dctcp_ab_tot;
};

struct tcp_bbr_info {
	__u32	bbr_bw_lo;
	__u32	bbr_bw_hi;
	__u32	bbr_min_rtt;
	__u32	bbr_pacing_gain;
	__u32	bbr_cwnd_gain;
	__u32	bbr_bw_hi_lsb;	/* this and what follows in kernels patched for BBRv3 */
	__u32	bbr_bw_hi_msb;
	__u32	bbr_bw_lo_lsb;
	__u32	bbr_bw_lo_msb;
	__u8	bbr_mode;
	__u8	bbr_phase;
	__u8	unused1;
	__u8	bbr_version;
	__u32	bbr_inflight_lo;
	__u32	bbr_inflight_hi;
	__u32	bbr_extra_acked;
};

struct tcp_bbr2_info {
	__u32	bbr_bw_lsb, bbr_bw_msb;
	__u32	bbr_min_rtt;
	__u32	bbr_pacing_gain, bbr_cwnd_gain;
	__u32	bbr_bw_hi_lsb, bbr_bw_hi_msb;
	__u32	bbr_bw_lo_lsb, bbr_bw_lo_msb;
	__u8	bbr_mode, bbr_phase, unused1, bbr_version;
	__u32	bbr_inflight_lo, bbr_inflight_hi;
	__u32	bbr_extra_acked;
};

/* The same phases under two names. */
#define __db_bbr_phases(prefix)						\
	prefix##_INVALID, prefix##_STARTUP, prefix##_DRAIN, prefix##_PROBE_RTT, \
	prefix##_PROBE_BW_UP, prefix##_PROBE_BW_DOWN, prefix##_PROBE_BW_CRUISE, \
	prefix##_PROBE_BW_REFILL
enum tcp_bbr_phase { __db_bbr_phases(BBR_PHASE) };
enum tcp_bbr2_phase { __db_bbr_phases(BBR2_PHASE) };


struct tcp_prague_info {
	__u64	prague_alpha;
	__u64	prague_frac_cwnd;
	__u64	prague_rate_bytes;
	__u32	prague_max_burst;
	__u32	prague_round;
	__u32	prague_rtt_target;
	__u32	prague_rtt_transition;
	bool	prague_enabled;
};

union tcp_cc_info {
	struct tcpvegas_info	vegas;
	struct tcp_dctcp_info	dctcp;
	struct tcp_bbr_info	bbr;
	struct tcp_bbr2_info	bbr2;
	struct tcp_prague_info	prague;
};

#endif /* __DUMBBELL_TCP_H__ */
