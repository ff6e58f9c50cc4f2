// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A kernel module for the tests: additive increase, multiplicative decrease,
 * and a use of everything that a module may need from the kernel.
 */
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/win_minmax.h>
#include <linux/btf.h>
#include <net/tcp.h>

static int increase_pkts __read_mostly = 1;
module_param(increase_pkts, int, 0644);
MODULE_PARM_DESC(increase_pkts, "growth of cwnd per round trip");

static bool gives_way __read_mostly;
module_param(gives_way, bool, 0444);

static unsigned int kept_shift __read_mostly = 1;

static int kept_shift_set(const char *value, const struct kernel_param *kp)
{
	return param_set_uint_minmax(value, kp, 1, 4);
}

static const struct kernel_param_ops kept_shift_ops = {
	.set = kept_shift_set,
	.get = param_get_uint,
};
module_param_cb(kept_shift, &kept_shift_ops, &kept_shift, 0644);
MODULE_PARM_DESC(kept_shift, "a loss takes cwnd >> this away");

/*
 * Derived from a parameter when the module starts, as in the kernel's modules.
 */
static u32 started_with __read_mostly;

struct aimd {
	struct minmax	rtt;
	u32		*memory;	/* on the kernel's heap */
	u32		draw;
	u32		started_ms;
	u32		started_with;
	u32		sending_starts;
};

static struct tcp_congestion_ops aimd_fallback;

static void aimd_init(struct sock *sk)
{
	struct aimd *ca = inet_csk_ca(sk);

	ca->memory = kzalloc_objs(*ca->memory, 4, GFP_KERNEL | __GFP_NOWARN);
	if (!ca->memory || gives_way) {
		WRITE_ONCE(inet_csk(sk)->icsk_ca_ops, &aimd_fallback);
		return;
	}
	minmax_reset(&ca->rtt, tcp_jiffies32, ~0U);
	ca->draw = get_random_u32_below(1000);
	ca->started_ms = jiffies_to_msecs(jiffies);
	ca->started_with = started_with;
	cmpxchg(&sk->sk_pacing_status, SK_PACING_NONE, SK_PACING_NEEDED);
}

static void aimd_release(struct sock *sk)
{
	struct aimd *ca = inet_csk_ca(sk);

	kfree(ca->memory);
}

static u32 aimd_ssthresh(struct sock *sk)
{
	const u32 cwnd = tcp_snd_cwnd(tcp_sk(sk));

	return max(cwnd - (cwnd >> kept_shift), 2U);
}

static void aimd_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (!tcp_is_cwnd_limited(sk))
		return;
	if (tcp_in_slow_start(tp)) {
		acked = tcp_slow_start(tp, acked);
		if (!acked)
			return;
	}
	tcp_cong_avoid_ai(tp, max(tcp_snd_cwnd(tp) / (u32)max(increase_pkts, 1), 1U), acked);
}

/* As of Linux 7.2. */
static void aimd_cwnd_event_tx_start(struct sock *sk)
{
	struct aimd *ca = inet_csk_ca(sk);

	ca->sending_starts += tcp_ecn_mode_any(tcp_sk(sk)) ? 100 : 1;
}

static void aimd_pkts_acked(struct sock *sk, const struct ack_sample *sample)
{
	struct aimd *ca = inet_csk_ca(sk);

	if (sample->rtt_us > 0)
		minmax_running_min(&ca->rtt, msecs_to_jiffies(10000), tcp_jiffies32, sample->rtt_us);
	/* Like a delay-based one: a queue of more than twice the path. */
	if (sample->rtt_us > 3 * (s64)minmax_get(&ca->rtt))
		tcp_enter_cwr(sk);
}

static struct tcp_congestion_ops aimd_fallback __read_mostly = {
	.ssthresh	= tcp_reno_ssthresh,
	.cong_avoid	= tcp_reno_cong_avoid,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.owner		= THIS_MODULE,
	.name		= "aimd-reno",
};

static struct tcp_congestion_ops aimd __read_mostly = {
	.init		= aimd_init,
	.release	= aimd_release,
	.ssthresh	= aimd_ssthresh,
	.cong_avoid	= aimd_cong_avoid,
	.cwnd_event_tx_start = aimd_cwnd_event_tx_start,
	.pkts_acked	= aimd_pkts_acked,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.owner		= THIS_MODULE,
	.name		= "aimd",
};

static int __init aimd_register(void)
{
	BUILD_BUG_ON(sizeof(struct aimd) > ICSK_CA_PRIV_SIZE);
	started_with = increase_pkts;
	if (increase_pkts == 666)
		return -EINVAL;
	return tcp_register_congestion_control(&aimd);
}

static void __exit aimd_unregister(void)
{
	tcp_unregister_congestion_control(&aimd);
}

module_init(aimd_register);
module_exit(aimd_unregister);

MODULE_AUTHOR("dumbbell");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_DESCRIPTION("Additive increase, multiplicative decrease");
