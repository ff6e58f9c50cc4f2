// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A kernel module for the tests in the style of Linux 5.10 to 5.16:
 * cong_control() with two parameters, and functions for BPF as they were
 * registered then.
 */
#include <linux/btf.h>
#include <linux/btf_ids.h>
#include <linux/module.h>
#include <linux/random.h>
#include <net/tcp.h>

static void rate_main(struct sock *sk, const struct rate_sample *rs)
{
	tcp_sk(sk)->snd_cwnd = rs->acked_sacked + prandom_u32_max(1);
}

static u32 rate_ssthresh(struct sock *sk)
{
	return TCP_INFINITE_SSTHRESH;
}

static struct tcp_congestion_ops rate __read_mostly = {
	.ssthresh	= rate_ssthresh,
	.cong_control	= rate_main,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.owner		= THIS_MODULE,
	.name		= "rate",
};

BTF_SET_START(rate_kfunc_ids)
#ifdef CONFIG_X86
BTF_ID(func, rate_main)
#endif
BTF_SET_END(rate_kfunc_ids)

static DEFINE_KFUNC_BTF_ID_SET(&rate_kfunc_ids, rate_kfunc_btf_set);

static int __init rate_register(void)
{
	int ret = tcp_register_congestion_control(&rate);

	if (ret)
		return ret;
	register_kfunc_btf_id_set(&bpf_tcp_ca_kfunc_list, &rate_kfunc_btf_set);
	return 0;
}

module_init(rate_register);
MODULE_LICENSE("Dual BSD/GPL");
