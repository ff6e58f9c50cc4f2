// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * In the style of the kernel's selftests since Linux 6.9: its own shorthands,
 * kernel functions and CONFIG_HZ as externs, maps of several kinds. What it sees
 * goes to icsk_ca_priv, where the tests of crates/cc look.
 */
#include "bpf_tracing_net.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#define min(a, b) ((a) < (b) ? (a) : (b))
#define max(a, b) ((a) > (b) ? (a) : (b))
#define USEC_PER_SEC 1000000UL
#define after(a, b) before(b, a)

char _license[] SEC("license") = "GPL";

extern unsigned long CONFIG_HZ __kconfig;
extern __u32 tcp_slow_start(struct tcp_sock *tp, __u32 acked) __ksym;
extern void tcp_cong_avoid_ai(struct tcp_sock *tp, __u32 w, __u32 acked) __ksym;
extern __u32 tcp_reno_undo_cwnd(struct sock *sk) __ksym;

static bool before(__u32 a, __u32 b)
{
	return (__s32)(a - b) < 0;
}

struct seen {
	__u32 losses;		/* counted in socket storage */
	__u32 all_losses;	/* of all flows, counted in an array */
	__u32 known;		/* windows at a loss that were seen before, by a hash */
	__u32 hz;
	__u32 jiffies;
	__u32 no_storage_yet;
	__u32 wrapped;
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, __u32);
} per_socket SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 2);
	__type(key, __u32);
	__type(value, __u32);
} totals SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 3);
	__type(key, __u32);
	__type(value, __u64);
} windows SEC(".maps");

SEC("struct_ops")
void BPF_PROG(style_init, struct sock *sk)
{
	struct seen *seen = inet_csk_ca(sk);

	seen->hz = CONFIG_HZ;
	seen->jiffies = tcp_jiffies32;
	seen->no_storage_yet = !bpf_sk_storage_get(&per_socket, sk, NULL, 0);
	seen->wrapped = after(5, 0xfffffff0);
}

static void count_loss(struct sock *sk, struct seen *seen)
{
	__u32 *mine = bpf_sk_storage_get(&per_socket, sk, NULL, BPF_SK_STORAGE_GET_F_CREATE);
	__u32 key = 1, outside = 2;
	__u32 *all = bpf_map_lookup_elem(&totals, &key);

	if (mine)
		seen->losses = ++*mine;
	if (all && !bpf_map_lookup_elem(&totals, &outside))
		seen->all_losses = ++*all;
}

SEC("struct_ops")
__u32 BPF_PROG(style_ssthresh, struct sock *sk)
{
	struct seen *seen = inet_csk_ca(sk);
	__u32 cwnd = tcp_sk(sk)->snd_cwnd;
	__u64 one = 1;

	count_loss(sk, seen);
	if (bpf_map_update_elem(&windows, &cwnd, &one, BPF_NOEXIST))
		seen->known++;
	if (cwnd == 1)
		bpf_map_delete_elem(&windows, &cwnd);
	return max(cwnd >> 1U, 2U);
}

SEC("struct_ops")
void BPF_PROG(style_cong_avoid, struct sock *sk, __u32 ack, __u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (!tcp_is_cwnd_limited(sk))
		return;
	if (tcp_in_slow_start(tp)) {
		acked = tcp_slow_start(tp, acked);
		if (!acked)
			return;
	}
	tcp_cong_avoid_ai(tp, min(tp->snd_cwnd, 1U << 20), acked);
}

SEC("struct_ops")
__u32 BPF_PROG(style_undo_cwnd, struct sock *sk)
{
	return tcp_reno_undo_cwnd(sk);
}

SEC(".struct_ops.link")
struct tcp_congestion_ops style = {
	.init		= (void *)style_init,
	.ssthresh	= (void *)style_ssthresh,
	.cong_avoid	= (void *)style_cong_avoid,
	.undo_cwnd	= (void *)style_undo_cwnd,
	.name		= "style",
};
