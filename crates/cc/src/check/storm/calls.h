/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Checks around every call: what the congestion control must not do. */
#ifndef STORM_CALLS_H
#define STORM_CALLS_H

#include "flow.h"
#include "reports.h"

#define MAX_CWND	(1U << 30)

static u64 calls[OP_COUNT];

static void enter(struct flow *f, enum op op)
{
	memcpy(f->before, f->tp, sizeof(*f->tp));
	calls[op]++;
	call_count++;
	current_op = op;
}

/* The fields that net/ipv4/bpf_tcp_ca.c lets a congestion control write. */
static bool writable(unsigned long byte)
{
#define IN(member)	(byte - __builtin_offsetof(struct tcp_sock, member) <	\
			 sizeof(((struct tcp_sock *)0)->member))
	return IN(inet_conn.icsk_inet.sk.sk_pacing_rate) ||
	       IN(inet_conn.icsk_inet.sk.sk_pacing_status) || IN(inet_conn.icsk_ca_priv) ||
	       IN(inet_conn.icsk_ack.pending) ||
	       IN(snd_cwnd) || IN(snd_cwnd_cnt) || IN(snd_cwnd_stamp) || IN(snd_ssthresh) ||
	       IN(ecn_flags) || IN(app_limited);
}

static void check_fields(struct flow *f)
{
#ifndef STORM_OF_MODULE		/* which may write anything */
	u8 *now = (u8 *)f->tp, *then = (u8 *)f->before;
	unsigned long state_end = __builtin_offsetof(struct tcp_sock, inet_conn.icsk_ca_priv) +
				  sizeof(f->tp->inet_conn.icsk_ca_priv);

	for (unsigned long byte = 0; byte < sizeof(*f->tp); byte++) {
		if (now[byte] == then[byte] || writable(byte))
			continue;
		if (byte >= state_end && byte < state_end + 16)
			report(BEYOND_STATE, byte - state_end);
		else
			report(FOREIGN_FIELD, byte);
		now[byte] = then[byte];
	}
#endif
}

static void leave(struct flow *f)
{
	struct tcp_sock *tp = f->tp;

	check_fields(f);
	if (tp->snd_cwnd == 0) {
		report(CWND_ZERO, 0);
		tp->snd_cwnd = 1;
	} else if (tp->snd_cwnd > MAX_CWND) {
		report(CWND_HUGE, tp->snd_cwnd);
		tp->snd_cwnd = MAX_CWND;
	}
	note(tp->snd_cwnd);
	note(tp->snd_ssthresh);
	note(f->sk->sk_pacing_rate);
#ifndef STORM_OF_MODULE		/* which may keep pointers there */
	for (u32 i = 0; i < sizeof(tp->inet_conn.icsk_ca_priv) / sizeof(u64); i++)
		note(tp->inet_conn.icsk_ca_priv[i]);
	for (u64 i = 0; i < f->storage_words; i++)
		note(f->storage[i]);
#endif
	current_op = OP_COUNT;
}

#define CALL(f, op, name, args...) do {		\
	if ((f)->ops->name) {			\
		enter(f, op);			\
		(f)->ops->name(args);		\
		leave(f);			\
	}					\
} while (0)

static u32 call_ssthresh(struct flow *f)
{
	u32 ssthresh;

	enter(f, SSTHRESH);
	ssthresh = f->ops->ssthresh(f->sk);
	if (ssthresh == 0)
		report(SSTHRESH_ZERO, 0);
	leave(f);
	note(ssthresh);
	return max(ssthresh, 1U);
}

static u32 call_undo_cwnd(struct flow *f)
{
	u32 cwnd;

	enter(f, UNDO_CWND);
	cwnd = f->ops->undo_cwnd(f->sk);
	if (cwnd == 0)
		report(UNDO_ZERO, 0);
	else if (cwnd > MAX_CWND)
		report(UNDO_HUGE, cwnd);
	leave(f);
	note(cwnd);
	return clamp(cwnd, 1U, MAX_CWND);
}

static u32 call_min_tso_segs(struct flow *f)
{
	u32 segs = 2;

	if (f->ops->min_tso_segs) {
		enter(f, MIN_TSO_SEGS);
		segs = f->ops->min_tso_segs(f->sk);
		leave(f);
		note(segs);
	}
	return segs;
}

static void call_sndbuf_expand(struct flow *f)
{
	if (f->ops->sndbuf_expand) {
		enter(f, SNDBUF_EXPAND);
		note(f->ops->sndbuf_expand(f->sk));
		leave(f);
	}
}

static void set_state(struct flow *f, u8 state)
{
	CALL(f, SET_STATE, set_state, f->sk, state);
	f->tp->inet_conn.icsk_ca_state = state;
}

#endif /* STORM_CALLS_H */
