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
#define __kconfig	__weak
#endif

/* BTF-defined maps. */
#define __uint(name, val)	int (*name)[val]
#define __type(name, val)	__typeof__(val) *name

#ifdef __bpf__
/* Helper numbers are the kernel's user-space ABI (uapi/linux/bpf.h). */
static u64 (*const bpf_ktime_get_ns)(void) = (void *)5;
static u32 (*const bpf_get_prandom_u32)(void) = (void *)7;
static void *(*const bpf_sk_storage_get)(void *map, void *sk, void *value, u64 flags) = (void *)107;
static u64 (*const bpf_jiffies64)(void) = (void *)118;
#else
u64 bpf_ktime_get_ns(void);
u32 bpf_get_prandom_u32(void);
void *bpf_sk_storage_get(void *map, void *sk, void *value, u64 flags);
u64 bpf_jiffies64(void);
#endif

#endif /* __BPF_HELPERS_H__ */
