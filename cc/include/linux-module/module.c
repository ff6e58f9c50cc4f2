// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The native side of a kernel module: its registration, and functions that cc/include/native.c does
 * not have because BPF programs must not call them.
 */
#include "environment.h"

#if defined(DUMBBELL_BEFORE_4_13) || defined(DUMBBELL_PKTS_ACKED_RTT)
#define DUMBBELL_BEFORE_4_10	/* or not much later */
#endif

/* What the module registered; the host reads it. */
struct tcp_congestion_ops *dumbbell_registered;
/* The parameter whose callback rejected the value, if any. */
const char *dumbbell_refused_param;

#ifdef DUMBBELL_CONG_CONTROL_RS
/* Linux before 6.10: two parameters. */
static void cong_control_rs(struct sock *sk, u32 ack, int flag, const struct rate_sample *rs)
{
	inet_csk(sk)->icsk_ca_ops->cong_control(sk, rs);
}
#endif

#ifdef DUMBBELL_PKTS_ACKED_RTT
/* Linux before 4.7: the RTT itself. */
static void pkts_acked_rtt(struct sock *sk, const struct ack_sample *sample)
{
	inet_csk(sk)->icsk_ca_ops->pkts_acked(sk, sample->pkts_acked, sample->rtt_us);
}
#endif

/* A goal of 0 leaves the choice to the kernel. */
static u32 tso_segs_by_goal(struct sock *sk, unsigned int mss_now)
{
	u32 goal = inet_csk(sk)->icsk_ca_ops->tso_segs_goal(sk);

	return goal ? goal : tcp_tso_autosize(sk, mss_now, 2);
}

static u32 tso_segs_to_max(struct sock *sk, unsigned int mss_now)
{
	return min(tcp_tso_autosize(sk, mss_now, 2), inet_csk(sk)->icsk_ca_ops->max_tso_segs(sk));
}

#ifdef DUMBBELL_BEFORE_4_10
/* Without the op: twice what the reduction left. */
static u32 undo_cwnd_of_old(struct sock *sk)
{
	return max(tcp_sk(sk)->snd_cwnd, tcp_sk(sk)->snd_ssthresh << 1);
}
#endif

/* One congestion control per file: a second one is rejected. */
int tcp_register_congestion_control(struct tcp_congestion_ops *ops)
{
	if (dumbbell_registered)
		return -EEXIST;
#ifdef DUMBBELL_CONG_CONTROL_RS
	if (ops->cong_control)
		ops->__cong_control = cong_control_rs;
#endif
#ifdef DUMBBELL_PKTS_ACKED_RTT
	if (ops->pkts_acked)
		ops->__pkts_acked = pkts_acked_rtt;
#endif
	if (ops->max_tso_segs)
		ops->tso_segs = tso_segs_to_max;
	if (ops->tso_segs_goal)
		ops->tso_segs = tso_segs_by_goal;
#ifdef DUMBBELL_BEFORE_4_10
	if (!ops->undo_cwnd)	/* optional before Linux 4.10 */
		ops->undo_cwnd = undo_cwnd_of_old;
#endif
	dumbbell_registered = ops;
	return 0;
}

void tcp_unregister_congestion_control(struct tcp_congestion_ops *ops)
{
	if (dumbbell_registered == ops)
		dumbbell_registered = NULL;
}

void tcp_enter_cwr(struct sock *sk)
{
	tcp_sk(sk)->__host_requests |= DUMBBELL_ENTER_CWR;
}

/* Whether the receiver's window has room for a segment. In no kernel's header: sources declare it. */
bool tcp_snd_wnd_test(const struct tcp_sock *tp, const struct sk_buff *skb, unsigned int mss)
{
	return !after(TCP_SKB_CB(skb)->seq + min(skb->len, mss), tcp_wnd_end(tp));
}

void get_random_bytes(void *p, size_t bytes)
{
	u8 *at = p;

	while (bytes--)
		*at++ = bpf_get_prandom_u32();
}

/* The value that the host wrote, in decimal; callbacks take text. */
static const char *decimal(const struct kernel_param *kp, char *end)
{
	u64 value = 0;
	bool negative = false;

	if (kp->bytes == sizeof(u32)) {
		negative = *(s32 *)kp->arg < 0 && kp->ops->set == param_set_int;
		value = negative ? -(s64)*(s32 *)kp->arg : *(u32 *)kp->arg;
	} else if (kp->bytes == sizeof(u64)) {
		value = *(u64 *)kp->arg;
	} else {
		memcpy(&value, kp->arg, kp->bytes);
	}
	*end = '\0';
	do {
		*--end = '0' + value % 10;
		value /= 10;
	} while (value);
	if (negative)
		*--end = '-';
	return end;
}

static s64 number(const char *text)
{
	bool negative = *text == '-';
	s64 value = 0;

	for (text += negative; *text >= '0' && *text <= '9'; text++)
		value = value * 10 + (*text - '0');
	return negative ? -value : value;
}

int param_set_uint_minmax(const char *value, const struct kernel_param *kp,
			  unsigned int low, unsigned int high)
{
	s64 v = number(value);

	if (v < low || v > high)
		return -EINVAL;
	*(unsigned int *)kp->arg = v;
	return 0;
}

int param_set_uint(const char *value, const struct kernel_param *kp)
{
	return param_set_uint_minmax(value, kp, 0, UINT_MAX);
}

int param_set_int(const char *value, const struct kernel_param *kp)
{
	*(int *)kp->arg = number(value);
	return 0;
}

int param_get_uint(char *buffer, const struct kernel_param *kp)
{
	return -EOPNOTSUPP;
}

int param_get_int(char *buffer, const struct kernel_param *kp)
{
	return -EOPNOTSUPP;
}

extern const struct kernel_param __start_dumbbell_kparam[] __attribute__((weak, visibility("hidden")));
extern const struct kernel_param __stop_dumbbell_kparam[] __attribute__((weak, visibility("hidden")));

/* Passes the parameters' values to their callbacks, then starts the module. */
int dumbbell_load_module(void)
{
	const struct kernel_param *kp;
	char text[24];
	int error;

	for (kp = __start_dumbbell_kparam; kp < __stop_dumbbell_kparam; kp++) {
		if (!kp->ops->set)
			continue;
		error = kp->ops->set(decimal(kp, &text[sizeof(text) - 1]), kp);
		if (error) {
			dumbbell_refused_param = kp->name;
			return error;
		}
	}
	return dumbbell_module_init();
}
