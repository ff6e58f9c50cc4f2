/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Services of the kernel for its modules: errors, messages, memory, random numbers, statistics. */
#ifndef __DUMBBELL_SERVICES_H__
#define __DUMBBELL_SERVICES_H__

#define EPERM		1
#define ENOENT		2
#define ENOMEM		12
#define EFAULT		14
#define EEXIST		17
#define EINVAL		22
#define ERANGE		34
#define EOPNOTSUPP	95
#define ENOBUFS		105
#define ENOTSUPP	524

/* Messages are discarded, but their arguments are checked and evaluated. */
#define KERN_ERR
#define KERN_WARNING
#define KERN_NOTICE
#define KERN_INFO
#define KERN_DEBUG
__attribute__((format(printf, 1, 2)))
static inline void __db_printk(const char *format, ...) { (void)format; }
#define printk(...)			__db_printk(__VA_ARGS__)
#define pr_emerg(...)			__db_printk(__VA_ARGS__)
#define pr_err(...)			__db_printk(__VA_ARGS__)
#define pr_warn(...)			__db_printk(__VA_ARGS__)
#define pr_notice(...)			__db_printk(__VA_ARGS__)
#define pr_info(...)			__db_printk(__VA_ARGS__)
#define pr_debug(...)			do { if (0) __db_printk(__VA_ARGS__); } while (0)
#define pr_err_once(...)		__db_printk(__VA_ARGS__)
#define pr_err_ratelimited(...)		__db_printk(__VA_ARGS__)
#define pr_warn_once(...)		__db_printk(__VA_ARGS__)
#define pr_warn_ratelimited(...)	__db_printk(__VA_ARGS__)
#define pr_info_once(...)		__db_printk(__VA_ARGS__)
#define pr_info_ratelimited(...)	__db_printk(__VA_ARGS__)
#define net_dbg_ratelimited(...)	pr_debug(__VA_ARGS__)
#define trace_printk(...)		pr_debug(__VA_ARGS__)

/* From the process's C library; the kernel's own conversions (%pI4) print as pointers. */
extern int snprintf(char *text, size_t bytes, const char *format, ...);
extern int sprintf(char *text, const char *format, ...);
#define scnprintf(text, bytes, ...) ({					\
	int __wanted = snprintf(text, bytes, __VA_ARGS__);		\
	__wanted < (int)(bytes) ? __wanted : (int)(bytes) - 1;		\
})
#define strncmp(a, b, bytes)	__builtin_strncmp(a, b, bytes)
#define strscpy(to, from, bytes) snprintf(to, bytes, "%s", from)
#define strlcpy(to, from, bytes) snprintf(to, bytes, "%s", from)
#define memmove(to, from, bytes) __builtin_memmove(to, from, bytes)
#define memset(p, byte, bytes)	__builtin_memset(p, byte, bytes)
#define memcpy(to, from, bytes)	__builtin_memcpy(to, from, bytes)
#define memcmp(a, b, bytes)	__builtin_memcmp(a, b, bytes)
#define strcmp(a, b)		__builtin_strcmp(a, b)
#define strlen(s)		__builtin_strlen(s)

/* From the process's C library, which is loaded before the object. */
extern void *calloc(size_t count, size_t bytes);
extern void free(void *p);
#define GFP_KERNEL			0
#define GFP_ATOMIC			0
#define GFP_NOWAIT			0
#define __GFP_NOWARN			0
#define __GFP_ZERO			0
#define kcalloc(count, bytes, flags)	((void)(flags), calloc(count, bytes))
#define kmalloc_array(count, bytes, flags) kcalloc(count, bytes, flags)
#define kzalloc(bytes, flags)		kcalloc(1, bytes, flags)
#define kmalloc(bytes, flags)		kcalloc(1, bytes, flags)
#define kvzalloc(bytes, flags)		kcalloc(1, bytes, flags)
#define vmalloc(bytes)			calloc(1, bytes)
#define vzalloc(bytes)			calloc(1, bytes)
#define vfree(p)			kfree(p)
#define kvmalloc(bytes, flags)		kcalloc(1, bytes, flags)
#define kvcalloc(count, bytes, flags)	kcalloc(count, bytes, flags)
/* Newer kernels name what is allocated by its type. */
#define kzalloc_obj(P, flags...)	((__typeof__(P) *)calloc(1, sizeof(P)))
#define kzalloc_objs(P, count, flags...) ((__typeof__(P) *)calloc(count, sizeof(P)))
#define kmalloc_obj(P, flags...)	kzalloc_obj(P)
#define kmalloc_objs(P, count, flags...) kzalloc_objs(P, count)
#define kfree(p)			free((void *)(p))
#define kvfree(p)			kfree(p)

/* Of this instance and seeded by the run's seed. */
u32 bpf_get_prandom_u32(void);
void get_random_bytes(void *p, size_t bytes);
#define get_random_u32()		bpf_get_prandom_u32()
#define get_random_u64()		((u64)bpf_get_prandom_u32() << 32 | bpf_get_prandom_u32())
#define get_random_u16()		((u16)bpf_get_prandom_u32())
#define get_random_u8()			((u8)bpf_get_prandom_u32())
#define get_random_int()		bpf_get_prandom_u32()
#define prandom_u32()			bpf_get_prandom_u32()
#define prandom_bytes(p, bytes)		get_random_bytes(p, bytes)
/* Below `ceiling`, each value equally likely up to 2^-32 * ceiling. */
#define get_random_u32_below(ceiling)	((u32)((u64)bpf_get_prandom_u32() * (u32)(ceiling) >> 32))
#define prandom_u32_max(ceiling)	get_random_u32_below(ceiling)
#define get_random_u32_inclusive(floor, ceiling) \
	((floor) + get_random_u32_below((ceiling) - (floor) + 1))

/* Statistics of the whole system, which are not read here. */
struct net {
	/* net.ipv4.*, with Linux's defaults, which the simulated TCP has too. */
	struct {
		u8	sysctl_tcp_ecn;
		u8	sysctl_tcp_min_tso_segs;
		u8	sysctl_tcp_tso_rtt_log;
		u8	sysctl_tcp_slow_start_after_idle;
		u8	sysctl_tcp_plb_enabled;
		int	sysctl_tcp_reordering;
		int	sysctl_tcp_pacing_ss_ratio;
		int	sysctl_tcp_pacing_ca_ratio;
	} ipv4;
};
static struct net init_net __attribute__((unused)) = {
	.ipv4 = {
		.sysctl_tcp_ecn = 2,
		.sysctl_tcp_min_tso_segs = 2,
		.sysctl_tcp_tso_rtt_log = 9,
		.sysctl_tcp_slow_start_after_idle = 1,
		.sysctl_tcp_reordering = 3,
		.sysctl_tcp_pacing_ss_ratio = 200,
		.sysctl_tcp_pacing_ca_ratio = 120,
	},
};
#define sock_net(sk)			((void)(sk), &init_net)
#define NET_INC_STATS(net, counter)	((void)(net))
#define NET_ADD_STATS(net, counter, n)	((void)(net), (void)(n))
#define __NET_INC_STATS(net, counter)	((void)(net))
/* Until Linux 4.6. */
#define NET_INC_STATS_BH(net, counter)	NET_INC_STATS(net, counter)
#define NET_INC_STATS_USER(net, counter) NET_INC_STATS(net, counter)
#define NET_ADD_STATS_BH(net, counter, n) NET_ADD_STATS(net, counter, n)
#define TCP_INC_STATS(net, counter)	NET_INC_STATS(net, counter)
#define TCP_INC_STATS_BH(net, counter)	NET_INC_STATS(net, counter)
/* For sources that pass a counter on. */
enum {
	LINUX_MIB_TCPHYSTARTTRAINDETECT = 1,
	LINUX_MIB_TCPHYSTARTTRAINCWND,
	LINUX_MIB_TCPHYSTARTDELAYDETECT,
	LINUX_MIB_TCPHYSTARTDELAYCWND,
};

/* The path has no routes with features or metrics. */
struct dst_entry;
#define __sk_dst_get(sk)		((void)(sk), (struct dst_entry *)0)
#define dst_feature(dst, feature)	((void)(dst), (void)(feature), 0U)
#define dst_metric(dst, metric)		((void)(dst), (void)(metric), 0U)
#define RTAX_FEATURE_ECN		1
#define RTAX_FEATURE_ECN_LOW		32

/* An instance runs on one thread. */
typedef struct { } spinlock_t;
#define DEFINE_SPINLOCK(name)		spinlock_t name __attribute__((unused))
#define spin_lock_init(lock)		((void)(lock))
#define spin_lock(lock)			((void)(lock))
#define spin_unlock(lock)		((void)(lock))
#define spin_lock_bh(lock)		((void)(lock))
#define spin_unlock_bh(lock)		((void)(lock))
#define spin_lock_irqsave(lock, flags)	((void)(lock), (void)((flags) = 0))
#define spin_unlock_irqrestore(lock, flags) ((void)(lock), (void)(flags))
#define preempt_disable()		do { } while (0)
#define preempt_enable()		do { } while (0)
#define in_interrupt()			0
typedef struct { int counter; } atomic_t;
#define ATOMIC_INIT(v)			{ (v) }
#define atomic_read(p)			READ_ONCE((p)->counter)
#define atomic_set(p, v)		WRITE_ONCE((p)->counter, v)
#define atomic_inc(p)			((void)((p)->counter++))
#define atomic_dec(p)			((void)((p)->counter--))
#define atomic_add(v, p)		((void)((p)->counter += (v)))
#define atomic_inc_return(p)		(++(p)->counter)
#define atomic_dec_return(p)		(--(p)->counter)

#define rcu_read_lock()			do { } while (0)
#define rcu_read_unlock()		do { } while (0)
#define rcu_dereference(p)		READ_ONCE(p)
#define local_bh_disable()		do { } while (0)
#define local_bh_enable()		do { } while (0)

#endif /* __DUMBBELL_SERVICES_H__ */
