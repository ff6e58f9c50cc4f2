/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sections, kernel symbols and BPF helpers, for both builds. Natively the
 * helpers are functions of cc/include/native.c, linked into every instance.
 */
#ifndef __BPF_HELPERS_H__
#define __BPF_HELPERS_H__

#define SEC(name)	__attribute__((section(name), used))

#ifndef __always_inline
#define __always_inline	inline __attribute__((always_inline))
#endif
#ifndef __noinline
#define __noinline	__attribute__((noinline))
#endif
#ifndef __weak
#define __weak		__attribute__((weak))
#endif

#ifdef __bpf__
#define __ksym		__attribute__((section(".ksyms")))
#define __kconfig	__attribute__((section(".kconfig")))
#else
#define __ksym
#define __kconfig
#endif

/* BTF-defined maps. */
#define __uint(name, val)	int (*name)[val]
#define __type(name, val)	__typeof__(val) *name

#ifndef __always_unused
#define __always_unused	__attribute__((unused))
#endif

#ifdef __bpf__
/* Helper numbers are the kernel's user-space ABI (uapi/linux/bpf.h). */
static void *(*const bpf_map_lookup_elem)(void *map, const void *key) = (void *)1;
static long (*const bpf_map_update_elem)(void *map, const void *key, const void *value,
					 u64 flags) = (void *)2;
static long (*const bpf_map_delete_elem)(void *map, const void *key) = (void *)3;
static u64 (*const bpf_ktime_get_ns)(void) = (void *)5;
static long (*const bpf_trace_printk)(const char *fmt, u32 size, ...) = (void *)6;
static u32 (*const bpf_get_prandom_u32)(void) = (void *)7;
static long (*const bpf_setsockopt)(void *sk, int level, int option, void *value,
				    int size) = (void *)49;
static long (*const bpf_getsockopt)(void *sk, int level, int option, void *value,
				    int size) = (void *)57;
static void *(*const bpf_sk_storage_get)(void *map, void *sk, void *value, u64 flags) = (void *)107;
static long (*const bpf_sk_storage_delete)(void *map, void *sk) = (void *)108;
static long (*const bpf_tcp_send_ack)(void *tp, u32 rcv_nxt) = (void *)116;
static u64 (*const bpf_jiffies64)(void) = (void *)118;
static u64 (*const bpf_ktime_get_boot_ns)(void) = (void *)125;
static u64 (*const bpf_ktime_get_coarse_ns)(void) = (void *)160;

#define bpf_printk(fmt, args...) ({						\
	static const char __fmt[] = fmt;					\
	bpf_trace_printk(__fmt, sizeof(__fmt), ##args);				\
})
#else
u64 bpf_ktime_get_ns(void);
u64 bpf_ktime_get_boot_ns(void);
u64 bpf_ktime_get_coarse_ns(void);
u32 bpf_get_prandom_u32(void);
u64 bpf_jiffies64(void);
long bpf_setsockopt(void *sk, int level, int option, void *value, int size);
long bpf_getsockopt(void *sk, int level, int option, void *value, int size);
long bpf_tcp_send_ack(void *tp, u32 rcv_nxt);

/* The description of a map, which the kernel reads from BTF and the compiler from types here. */
struct dumbbell_map {
	u32	type;
	u32	max_entries;
	u32	key_bytes;
	u32	value_bytes;
};

/* cc/include/maps.c; `map` is identified by its address. */
void *dumbbell_map_lookup(const void *map, struct dumbbell_map what, const void *key);
long dumbbell_map_update(const void *map, struct dumbbell_map what, const void *key,
			 const void *value, u64 flags);
long dumbbell_map_delete(const void *map, struct dumbbell_map what, const void *key);
void *dumbbell_storage_get(const void *map, u32 value_bytes, const void *sk, const void *value,
			   u64 flags);
long dumbbell_storage_delete(const void *map, u32 value_bytes, const void *sk);

#define __db_map(map)	((struct dumbbell_map){					\
	.type = sizeof(*(map)->type) / sizeof(int),				\
	.max_entries = sizeof(*(map)->max_entries) / sizeof(int),		\
	.key_bytes = sizeof(*(map)->key), .value_bytes = sizeof(*(map)->value) })

#define bpf_map_lookup_elem(map, key)						\
	((__typeof__((map)->value))dumbbell_map_lookup(map, __db_map(map), key))
#define bpf_map_update_elem(map, key, value, flags)				\
	dumbbell_map_update(map, __db_map(map), key, value, flags)
#define bpf_map_delete_elem(map, key)	dumbbell_map_delete(map, __db_map(map), key)
#define bpf_sk_storage_get(map, sk, initial, flags)				\
	((__typeof__((map)->value))dumbbell_storage_get(map, sizeof(*(map)->value), sk, initial, flags))
#define bpf_sk_storage_delete(map, sk)						\
	dumbbell_storage_delete(map, sizeof(*(map)->value), sk)

/* Prints are discarded. */
#define bpf_printk(fmt, args...)	((void)0)
#endif

#endif /* __BPF_HELPERS_H__ */
