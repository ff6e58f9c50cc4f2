// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * Two maps of socket storage with values of one size, the first of which is declared as the
 * state. What it sees goes to icsk_ca_priv, where the tests of crates/cc look.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "bpf_tracing_net.h"
#include "dumbbell.h"

char _license[] SEC("license") = "Dual BSD/GPL";

struct pair {
	u32	count;
	u64	last;
};

STORAGE(struct pair);
STORAGE_SERIES(struct pair, count, "count", "", "calls since its map had a value");

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct pair);
} first SEC(".maps"), second SEC(".maps");

struct seen {
	u32	first;
	u32	second;
	u32	before_creation;
	u32	deleted;
	u32	deleted_again;
};

/* Created with an initial value, which is used only that once. */
static u32 count(void *map, struct sock *sk, u32 initial)
{
	struct pair begin = { .count = initial };
	struct pair *pair;

	if (map == &first)
		pair = bpf_sk_storage_get(&first, sk, &begin, BPF_SK_STORAGE_GET_F_CREATE);
	else
		pair = bpf_sk_storage_get(&second, sk, &begin, BPF_SK_STORAGE_GET_F_CREATE);
	return pair ? ++pair->count : 0;
}

SEC("struct_ops")
void BPF_PROG(two_init, struct sock *sk)
{
	struct seen *seen = inet_csk_ca(sk);

	seen->before_creation = !!bpf_sk_storage_get(&first, sk, NULL, 0) +
				!!bpf_sk_storage_get(&second, sk, NULL, 0);
	seen->deleted_again = -bpf_sk_storage_delete(&first, sk);
}

SEC("struct_ops")
u32 BPF_PROG(two_ssthresh, struct sock *sk)
{
	struct seen *seen = inet_csk_ca(sk);

	seen->first = count(&first, sk, 10);
	seen->second = count(&second, sk, 200);
	return 2;
}

/* Only one of the two is deleted. */
SEC("struct_ops")
u32 BPF_PROG(two_undo_cwnd, struct sock *sk)
{
	struct seen *seen = inet_csk_ca(sk);

	seen->deleted = !bpf_sk_storage_delete(&first, sk) + !bpf_sk_storage_get(&first, sk, NULL, 0) +
			!!bpf_sk_storage_get(&second, sk, NULL, 0);
	return 2;
}

SEC("struct_ops")
void BPF_PROG(two_cong_avoid, struct sock *sk, u32 ack, u32 acked)
{
}

SEC(".struct_ops")
struct tcp_congestion_ops two = {
	.init		= (void *)two_init,
	.ssthresh	= (void *)two_ssthresh,
	.cong_avoid	= (void *)two_cong_avoid,
	.undo_cwnd	= (void *)two_undo_cwnd,
	.name		= "two",
};
