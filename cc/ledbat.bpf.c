// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * LEDBAT: uses what others leave. It adds at most a target to the path's delay, and so withdraws
 * from flows that fill the queue.
 *
 *	base_delay = the smallest delay of the last ten minutes
 *	queueing = the smallest of the last four delays - base_delay
 *	off_target = (target - queueing) / target
 *	each packet acknowledged: cwnd += gain off_target / cwnd
 *	a loss: cwnd / 2
 *
 * With a gain of 1 it grows as Reno at most, by a packet per round trip where nothing waits.
 *
 * References: RFC 6817, section numbers below. What the RFC leaves open follows TCP in Linux.
 *
 * Differences from the RFC:
 *  1. The delay is the RTT, not the one-way delay (§3.1): the kernel gives its congestion controls RTTs
 *     in µs. TCP's timestamps, which would say the delay of one way up to a constant, count
 *     milliseconds and include the time by which the receiver delays an ACK. Queues that ACKs
 *     meet therefore count as this flow's own.
 *  2. ALLOWED_INCREASE (§2.4.2) is TCP's own rule: the window grows only while it limits what is sent,
 *     and one that is not used decays after an RTO (RFC 2861), not at once.
 *  3. A timeout is TCP's RTO; the window then grows from MIN_CWND without slow start, as at the beginning.
 *  4. off_target is not below -256.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "bpf_tracing_net.h"
#include "dumbbell.h"

char _license[] SEC("license") = "Dual BSD/GPL";

#define DELAY_NONE_US	0xffffffffU	/* no sample yet */
#define INIT_CWND	2U		/* pkts (§2.5) */
#define MIN_CWND	2U		/* pkts (§2.5) */
#define MINUTE_US	60000000ULL
#define BASES		10		/* minutes of base delays at most */
#define SAMPLES		4		/* current delays at most */
#define RATIO_SHIFT	16		/* of off_target */
#define RATIO_MAX	(256ULL << RATIO_SHIFT)
#define CWND_SHIFT	24		/* of the window's fraction */

/* RFC 6817 §2.5: TARGET MUST be 100 ms or less, GAIN MUST be 1 or less; more is for comparison. */
PARAM(u32, target_us, 100000, 100, 1000000, "us", "queueing delay that the flow adds at most (TARGET, §2.5)");
PARAM(u32, gain_pct, 100, 1, 10000, "%", "growth per round trip without a queue, of a packet (GAIN, §2.5)");
PARAM(u32, base_history, BASES, 1, BASES, "min", "how long a base delay is remembered (BASE_HISTORY, §2.5)");
PARAM(u32, current_filter, SAMPLES, 1, SAMPLES, "", "the smallest of so many RTTs is the current one (CURRENT_FILTER, §2.5)");

struct ledbat {
	u32	base_us[BASES];		/* smallest delays of minutes, the latest first */
	u32	current_us[SAMPLES];	/* delays, the latest first */
	u32	minute;			/* of the latest base delay */
	u32	fraction;		/* of cwnd, << CWND_SHIFT */
	u32	base_delay_us;
	u32	queueing_us;
};
CA_PRIV(struct ledbat);

SERIES(struct ledbat, base_delay_us, "base_delay_us", "us", "smallest RTT of the base history");
SERIES(struct ledbat, queueing_us, "queueing_us", "us", "current RTT above the base delay; aimed at the target");

static __always_inline void ledbat_forget_current(struct ledbat *ca)
{
	u32 i;

	for (i = 0; i < SAMPLES; i++)
		ca->current_us[i] = DELAY_NONE_US;
}

SEC("struct_ops")
void BPF_PROG(ledbat_init, struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct ledbat *ca = inet_csk_ca(sk);
	u32 i;

	for (i = 0; i < BASES; i++)
		ca->base_us[i] = DELAY_NONE_US;
	ledbat_forget_current(ca);
	ca->minute = 0;
	ca->fraction = 0;
	ca->base_delay_us = 0;
	ca->queueing_us = 0;
	tp->snd_cwnd = min(tp->snd_cwnd, INIT_CWND);
	tp->snd_ssthresh = tp->snd_cwnd;
}

/* §2.4.2: each minute has its smallest delay; the earliest is forgotten when another begins. */
static __always_inline void ledbat_update_base(struct ledbat *ca, u32 minute, u32 delay_us)
{
	u32 smallest_us = DELAY_NONE_US;
	u32 i;

	if (minute != ca->minute) {
		ca->minute = minute;
		for (i = BASES - 1; i > 0; i--)
			ca->base_us[i] = ca->base_us[i - 1];
		ca->base_us[0] = delay_us;
	}
	ca->base_us[0] = min(ca->base_us[0], delay_us);
	for (i = 0; i < BASES; i++)
		if (i < base_history)
			smallest_us = min(smallest_us, ca->base_us[i]);
	ca->base_delay_us = smallest_us;
}

/*
 * §2.5: of delays of the last round trip. Half a window of ACKs comes in one, because they are delayed.
 */
static __always_inline u32 ledbat_current_us(const struct ledbat *ca, u32 cwnd)
{
	u32 count = min(current_filter, cwnd / 2);
	u32 smallest_us = ca->current_us[0];
	u32 i;

	for (i = 1; i < SAMPLES; i++)
		if (i < count)
			smallest_us = min(smallest_us, ca->current_us[i]);
	return smallest_us;
}

SEC("struct_ops")
void BPF_PROG(ledbat_pkts_acked, struct sock *sk, const struct ack_sample *sample)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct ledbat *ca = inet_csk_ca(sk);
	u32 current_us, i;

	if (sample->rtt_us < 0)
		return;
	ledbat_update_base(ca, (u32)(tp->tcp_mstamp / MINUTE_US), sample->rtt_us);
	for (i = SAMPLES - 1; i > 0; i--)
		ca->current_us[i] = ca->current_us[i - 1];
	ca->current_us[0] = sample->rtt_us;
	current_us = ledbat_current_us(ca, tp->snd_cwnd);
	/* The current delay may be older than the minute of a history of one. */
	ca->queueing_us = current_us > ca->base_delay_us ? current_us - ca->base_delay_us : 0;
}

/* gain |off_target| acked / cwnd, in packets << CWND_SHIFT */
static __always_inline u64 ledbat_step(u32 off_us, u32 acked, u32 cwnd)
{
	u64 ratio = min(((u64)off_us << RATIO_SHIFT) / target_us, RATIO_MAX);
	u64 step = ratio * gain_pct / 100 * min(acked, 65535U);		/* 2^24 * 100 * 2^16 */

	return (step << (CWND_SHIFT - RATIO_SHIFT)) / max(cwnd, 1U);
}

SEC("struct_ops")
void BPF_PROG(ledbat_cong_avoid, struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct ledbat *ca = inet_csk_ca(sk);
	u64 cwnd = ((u64)tp->snd_cwnd << CWND_SHIFT) + ca->fraction;
	u64 least = (u64)MIN_CWND << CWND_SHIFT;
	u64 most = (u64)tp->snd_cwnd_clamp << CWND_SHIFT;
	u64 step;

	if (ca->queueing_us > target_us) {
		step = ledbat_step(ca->queueing_us - target_us, acked, tp->snd_cwnd);
		cwnd = cwnd > step ? cwnd - step : 0;
	} else if (tcp_is_cwnd_limited(sk)) {
		cwnd += ledbat_step(target_us - ca->queueing_us, acked, tp->snd_cwnd);
	}
	cwnd = min(max(cwnd, least), most);
	tp->snd_cwnd = (u32)(cwnd >> CWND_SHIFT);
	ca->fraction = (u32)(cwnd & ((1ULL << CWND_SHIFT) - 1));
	/* It has no slow start, whatever TCP does with a window below ssthresh. */
	tp->snd_ssthresh = min(tp->snd_ssthresh, tp->snd_cwnd);
}

/* After an idle period the last delays are older than a round trip. */
SEC("struct_ops")
void BPF_PROG(ledbat_cwnd_event, struct sock *sk, enum tcp_ca_event ev)
{
	if (ev == CA_EVENT_TX_START)
		ledbat_forget_current(inet_csk_ca(sk));
}

/* §2.4.2: half of the window, once per round trip. */
SEC("struct_ops")
u32 BPF_PROG(ledbat_ssthresh, struct sock *sk)
{
	return max(tcp_sk(sk)->snd_cwnd / 2, MIN_CWND);
}

SEC("struct_ops")
u32 BPF_PROG(ledbat_undo_cwnd, struct sock *sk)
{
	return tcp_reno_undo_cwnd(sk);
}

SEC(".struct_ops")
struct tcp_congestion_ops ledbat = {
	.init		= (void *)ledbat_init,
	.ssthresh	= (void *)ledbat_ssthresh,
	.cong_avoid	= (void *)ledbat_cong_avoid,
	.cwnd_event	= (void *)ledbat_cwnd_event,
	.pkts_acked	= (void *)ledbat_pkts_acked,
	.undo_cwnd	= (void *)ledbat_undo_cwnd,
	.name		= "ledbat",
};
