// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Congestion control algorithms of dumbbell's library, as this kernel's. A callback passes on where the socket is and
 * what is no field of it; the library reads and writes fields by their offsets. The algorithm runs in the library, on
 * its own copy of a socket with the layout that it was compiled for, so one build serves every kernel.
 */
#include <linux/kernel.h>
#include <linux/slab.h>
#include <linux/version.h>
#include <net/tcp.h>
#include "dumbbell_kern.h"
#include "dumbbell_tree.h"

#define IN_TCP(field)	{ #field, offsetof(struct tcp_sock, field), sizeof_field(struct tcp_sock, field) }
#define IN_SOCK(field)	{ #field, offsetof(struct sock, field), sizeof_field(struct sock, field) }
#define IN_ICSK(name, field) \
	{ name, offsetof(struct inet_connection_sock, field), sizeof_field(struct inet_connection_sock, field) }

/* Names of crates/cc-abi/src/sock.rs. */
const struct dumbbell_field dumbbell_fields[] = {
	IN_SOCK(sk_pacing_rate),
	IN_SOCK(sk_max_pacing_rate),
	IN_SOCK(sk_pacing_status),
	IN_SOCK(sk_gso_max_size),
	IN_SOCK(sk_gso_max_segs),
	IN_SOCK(sk_pacing_shift),
	IN_ICSK("icsk_retransmits", icsk_retransmits),
	IN_ICSK("icsk_backoff", icsk_backoff),
	IN_ICSK("icsk_ack_pending", icsk_ack.pending),
	IN_ICSK("icsk_ack_rcv_mss", icsk_ack.rcv_mss),
	IN_TCP(bytes_acked),
	IN_TCP(bytes_sent),
	IN_TCP(tcp_mstamp),
	IN_TCP(tcp_clock_cache),
	IN_TCP(tcp_wstamp_ns),
	IN_TCP(delivered_mstamp),
	IN_TCP(first_tx_mstamp),
	IN_TCP(rtt_min),
	IN_TCP(srtt_us),
	IN_TCP(mdev_us),
	IN_TCP(rttvar_us),
	IN_TCP(mss_cache),
	IN_TCP(advmss),
	IN_TCP(snd_una),
	IN_TCP(snd_nxt),
	IN_TCP(write_seq),
	IN_TCP(high_seq),
	IN_TCP(snd_wnd),
	IN_TCP(snd_cwnd),
	IN_TCP(snd_cwnd_cnt),
	IN_TCP(snd_ssthresh),
	IN_TCP(snd_cwnd_clamp),
	IN_TCP(snd_cwnd_used),
	IN_TCP(prior_cwnd),
	IN_TCP(prior_ssthresh),
	IN_TCP(packets_out),
	IN_TCP(retrans_out),
	IN_TCP(sacked_out),
	IN_TCP(lost_out),
	IN_TCP(max_packets_out),
	IN_TCP(cwnd_usage_seq),
	IN_TCP(prr_delivered),
	IN_TCP(prr_out),
	IN_TCP(delivered),
	IN_TCP(delivered_ce),
	IN_TCP(lost),
	IN_TCP(app_limited),
	IN_TCP(rate_delivered),
	IN_TCP(rate_interval_us),
	IN_TCP(total_retrans),
	IN_TCP(data_segs_out),
	IN_TCP(reordering),
	IN_TCP(undo_marker),
	IN_TCP(undo_retrans),
	IN_TCP(lsndtime),
	IN_TCP(ecn_flags),
#ifdef DUMBBELL_HAS_ACCECN
	/* By which the library knows that this kernel has Accurate ECN. */
	IN_TCP(received_ce),
#endif
	{ "rcv_tsval", offsetof(struct tcp_sock, rx_opt.rcv_tsval), 4 },
	{ "rcv_tsecr", offsetof(struct tcp_sock, rx_opt.rcv_tsecr), 4 },
	IN_TCP(rcv_nxt),
	IN_TCP(rcv_tstamp),
	IN_TCP(retrans_stamp),
	IN_TCP(reord_seen),
};
const unsigned int dumbbell_field_count = ARRAY_SIZE(dumbbell_fields);

/* An algorithm as the kernel knows it. */
struct proxy {
	struct tcp_congestion_ops ops;
	unsigned int number;
};

/* What the kernel's socket has of the library's. */
struct own {
	unsigned int handle;
	unsigned int flow;
};

static const struct proxy *proxy_of(const struct sock *sk)
{
	return container_of(inet_csk(sk)->icsk_ca_ops, struct proxy, ops);
}

static struct dumbbell_call call_of(struct sock *sk, enum dumbbell_op op)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	const struct own *own = inet_csk_ca(sk);

	return (struct dumbbell_call){
		.op = op,
		.cc = proxy_of(sk)->number,
		.flow = own->flow,
		.handle = own->handle,
		.socket = sk,
		.jiffies32 = tcp_jiffies32,
		.ca_state = inet_csk(sk)->icsk_ca_state,
		.is_cwnd_limited = tp->is_cwnd_limited,
		.rate_app_limited = tp->rate_app_limited,
		.rx_opt_bits = tp->rx_opt.saw_tstamp | tp->rx_opt.tstamp_ok << 1 | tp->rx_opt.sack_ok << 2,
	};
}

static u32 made(struct dumbbell_call *call)
{
	unsigned long flags;
	u32 value;

	local_irq_save(flags);
	value = dumbbell_call(call);
	local_irq_restore(flags);
	return value;
}

static u32 call_with(struct sock *sk, enum dumbbell_op op, u32 first, u32 second)
{
	struct dumbbell_call call = call_of(sk, op);

	call.arguments[0] = first;
	call.arguments[1] = second;
	return made(&call);
}

static u32 proxy_ssthresh(struct sock *sk)
{
	return call_with(sk, DUMBBELL_SSTHRESH, 0, 0);
}

static void proxy_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
	call_with(sk, DUMBBELL_CONG_AVOID, ack, acked);
}

static void proxy_set_state(struct sock *sk, u8 state)
{
	call_with(sk, DUMBBELL_SET_STATE, state, 0);
}

static void proxy_cwnd_event(struct sock *sk, enum tcp_ca_event event)
{
	call_with(sk, DUMBBELL_CWND_EVENT, event, 0);
}

static void proxy_in_ack_event(struct sock *sk, u32 flags)
{
	call_with(sk, DUMBBELL_IN_ACK_EVENT, flags, 0);
}

static void proxy_pkts_acked(struct sock *sk, const struct ack_sample *sample)
{
	struct dumbbell_call call = call_of(sk, DUMBBELL_PKTS_ACKED);

	call.pkts_acked = sample->pkts_acked;
	call.rtt_us = sample->rtt_us;
	call.in_flight = sample->in_flight;
	made(&call);
}

static u32 proxy_min_tso_segs(struct sock *sk)
{
	return call_with(sk, DUMBBELL_MIN_TSO_SEGS, 0, 0);
}

#ifdef DUMBBELL_HAS_TSO_SEGS
extern u32 tcp_tso_autosize(const struct sock *sk, unsigned int mss_now, int min_tso_segs);

static u32 proxy_tso_segs(struct sock *sk, unsigned int mss_now)
{
	return tcp_tso_autosize(sk, mss_now, proxy_min_tso_segs(sk));
}
#endif

#ifdef DUMBBELL_HAS_CWND_EVENT_TX_START
static void proxy_cwnd_event_tx_start(struct sock *sk)
{
	call_with(sk, DUMBBELL_CWND_EVENT_TX_START, 0, 0);
}
#endif

static void rate_control(struct sock *sk, u32 ack, int flag, const struct rate_sample *rs)
{
	struct dumbbell_call call = call_of(sk, DUMBBELL_CONG_CONTROL);

	call.arguments[0] = ack;
	call.arguments[1] = flag;
	call.sample = (struct dumbbell_rate_sample){
		.prior_mstamp = rs->prior_mstamp,
		.prior_delivered = rs->prior_delivered,
		.delivered = rs->delivered,
#ifdef DUMBBELL_HAS_DELIVERED_CE
		.prior_delivered_ce = rs->prior_delivered_ce,
		.delivered_ce = rs->delivered_ce,
#endif
		.interval_us = rs->interval_us,
		.snd_interval_us = rs->snd_interval_us,
		.rcv_interval_us = rs->rcv_interval_us,
		.rtt_us = rs->rtt_us,
		.losses = rs->losses,
		.acked_sacked = rs->acked_sacked,
		.prior_in_flight = rs->prior_in_flight,
		.last_end_seq = rs->last_end_seq,
		.is_app_limited = rs->is_app_limited,
		.is_retrans = rs->is_retrans,
		.is_ack_delayed = rs->is_ack_delayed,
	};
	made(&call);
}

#ifdef DUMBBELL_HAS_ACK_IN_CONG_CONTROL
#define proxy_cong_control rate_control
#else
static void proxy_cong_control(struct sock *sk, const struct rate_sample *rs)
{
	rate_control(sk, 0, 0, rs);
}
#endif

static u32 proxy_undo_cwnd(struct sock *sk)
{
	return call_with(sk, DUMBBELL_UNDO_CWND, 0, 0);
}

static u32 proxy_sndbuf_expand(struct sock *sk)
{
	return call_with(sk, DUMBBELL_SNDBUF_EXPAND, 0, 0);
}

static void proxy_init(struct sock *sk)
{
	struct own *own = inet_csk_ca(sk);

	own->flow = dumbbell_flow_of(sk);
	own->handle = call_with(sk, DUMBBELL_INIT, 0, 0);
}

static void proxy_release(struct sock *sk)
{
	call_with(sk, DUMBBELL_RELEASE, 0, 0);
}

unsigned int dumbbell_handle_of(const void *socket)
{
	const struct sock *sk = socket;

	if (inet_csk(sk)->icsk_ca_ops->init != proxy_init || !inet_csk(sk)->icsk_ca_initialized)
		return DUMBBELL_NO_FLOW;
	return ((const struct own *)inet_csk_ca(sk))->handle;
}

#ifdef TCP_CONG_NEEDS_ACCECN
#define KNOWN_FLAGS (TCP_CONG_NEEDS_ECN | TCP_CONG_NEEDS_ACCECN | TCP_CONG_ECT_1_NEGOTIATION)
#else
#define KNOWN_FLAGS TCP_CONG_NEEDS_ECN
#endif

#define HAS(op) (cc.callbacks & 1u << (op))

static int register_cc(unsigned int number)
{
	struct proxy *proxy = kzalloc(sizeof(*proxy), GFP_KERNEL);
	struct dumbbell_cc cc;
	unsigned long flags;

	if (!proxy)
		return -ENOMEM;
	local_irq_save(flags);
	dumbbell_get_cc(number, &cc);
	local_irq_restore(flags);
	proxy->number = number;
	strscpy(proxy->ops.name, cc.name, sizeof(proxy->ops.name));
	proxy->ops.flags = cc.flags & KNOWN_FLAGS;
	proxy->ops.owner = THIS_MODULE;
	proxy->ops.init = proxy_init;
	proxy->ops.release = proxy_release;
	proxy->ops.ssthresh = proxy_ssthresh;
	proxy->ops.undo_cwnd = proxy_undo_cwnd;
	if (HAS(DUMBBELL_CONG_AVOID))
		proxy->ops.cong_avoid = proxy_cong_avoid;
	if (HAS(DUMBBELL_SET_STATE))
		proxy->ops.set_state = proxy_set_state;
#ifdef DUMBBELL_HAS_CWND_EVENT_TX_START
	if (HAS(DUMBBELL_CWND_EVENT))
		proxy->ops.cwnd_event = proxy_cwnd_event;
	if (HAS(DUMBBELL_CWND_EVENT_TX_START))
		proxy->ops.cwnd_event_tx_start = proxy_cwnd_event_tx_start;
#else
	if (HAS(DUMBBELL_CWND_EVENT) || HAS(DUMBBELL_CWND_EVENT_TX_START))
		proxy->ops.cwnd_event = proxy_cwnd_event;
#endif
	if (HAS(DUMBBELL_IN_ACK_EVENT))
		proxy->ops.in_ack_event = proxy_in_ack_event;
	if (HAS(DUMBBELL_PKTS_ACKED))
		proxy->ops.pkts_acked = proxy_pkts_acked;
	if (HAS(DUMBBELL_MIN_TSO_SEGS))
#ifdef DUMBBELL_HAS_TSO_SEGS
		proxy->ops.tso_segs = proxy_tso_segs;
#else
		proxy->ops.min_tso_segs = proxy_min_tso_segs;
#endif
	if (HAS(DUMBBELL_CONG_CONTROL))
		proxy->ops.cong_control = proxy_cong_control;
	if (HAS(DUMBBELL_SNDBUF_EXPAND))
		proxy->ops.sndbuf_expand = proxy_sndbuf_expand;
	return tcp_register_congestion_control(&proxy->ops);
}

int dumbbell_register_ccs(unsigned int count)
{
	unsigned int number;
	int error = 0;

	for (number = 0; number < count && !error; number++)
		error = register_cc(number);
	return error;
}
