/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A module and its parameters. module_param() declares the variable to the host as PARAM()
 * of dumbbell.h does, under a name of its own because the variable is static; its default is
 * the variable's initial value.
 */
#ifndef __DUMBBELL_MODULE_H__
#define __DUMBBELL_MODULE_H__

#include "../dumbbell_decl.h"

struct module;
#define THIS_MODULE			((struct module *)0)
#define KBUILD_MODNAME			"dumbbell"
#define MODULE_LICENSE(text)		_Static_assert(1, "")
#define MODULE_AUTHOR(text)		_Static_assert(1, "")
#define MODULE_DESCRIPTION(text)	_Static_assert(1, "")
#define MODULE_VERSION(text)		_Static_assert(1, "")
#define MODULE_ALIAS(text)		_Static_assert(1, "")
#define MODULE_INFO(tag, text)		_Static_assert(1, "")
#define MODULE_SOFTDEP(text)		_Static_assert(1, "")
#define EXPORT_SYMBOL(symbol)		_Static_assert(1, "")
#define EXPORT_SYMBOL_GPL(symbol)	_Static_assert(1, "")

/* Kernel versions, for sources that test them. */
#define KERNEL_VERSION(a, b, c)		(((a) << 16) + ((b) << 8) + (c))

/* A state of another size than the kernel's: its bytes, and whether the source's own tree says so. */
#ifdef DUMBBELL_STATE_BYTES
#define __db_state							\
	__DB_DECL = {							\
		.name = "icsk_ca_priv", .kind = DUMBBELL_MODULE_STATE,	\
		.flags = DUMBBELL_STATE_OF_TREE,			\
		.size = ICSK_CA_PRIV_SIZE,				\
	};
#else
#define __db_state
#endif

/* The host calls this after it has set the parameters; the module registers itself in it. */
int dumbbell_module_init(void);
#ifdef DUMBBELL_DEPENDENCY	/* present for the functions that another module calls */
#define module_init(f)			__attribute__((used)) static int (*const __db_init)(void) = f;
#else
#define module_init(f)			int dumbbell_module_init(void) { return f(); } __db_state
#endif
#define module_exit(f)			__attribute__((used)) static void (*const __db_exit)(void) = f;
#define late_initcall(f)		module_init(f)
#define subsys_initcall(f)		module_init(f)

#define __db_param(name_, variable_)						\
	extern __typeof__(variable_) __dumbbell_param_##name_			\
	__attribute__((alias(#variable_)));					\
	__DB_DECL = {								\
		.name = #name_, .kind = DUMBBELL_PARAM,				\
		.flags = DUMBBELL_MODULE_PARAM | __db_param_flags(variable_),	\
		.size = sizeof(variable_),					\
	}
#define __db_param_flags(v)							\
	(__builtin_types_compatible_p(__typeof__(v), bool) ? DUMBBELL_BOOL	\
							   : __DB_SIGNED(__typeof__(v)))
#ifdef DUMBBELL_DEPENDENCY
#undef __db_param
#define __db_param(name_, variable_)	_Static_assert(1, "")
#endif
#define module_param(name, type, perm)			__db_param(name, name)
#define module_param_named(name, variable, type, perm)	__db_param(name, variable)
/* Arrays keep their initial values. */
#define module_param_array(name, type, count, perm)	_Static_assert(1, "")
#define module_param_array_named(name, array, type, count, perm) _Static_assert(1, "")
#define MODULE_PARM_DESC(name_, text_)						\
	__DB_DECL = { .name = #name_, .kind = DUMBBELL_PARAM_DOC, .doc = text_ }

/* A parameter with a callback that may reject its value; called by linux-module/module.c. */
struct kernel_param;
struct kernel_param_ops {
	unsigned int flags;
	int (*set)(const char *value, const struct kernel_param *kp);
	int (*get)(char *buffer, const struct kernel_param *kp);
	void (*free)(void *arg);
};
struct kernel_param {
	const char *name;
	const struct kernel_param_ops *ops;
	void *arg;
	u32 bytes;
};
/* The parameter behind `arg`, `&variable`, is declared under its name, which must be the variable's. */
#define module_param_cb(name_, ops_, arg_, perm)				\
	static const struct kernel_param __db_kp_##name_			\
	__attribute__((section("dumbbell_kparam"), used)) =			\
		{ #name_, ops_, arg_, sizeof(*(arg_)) };			\
	__db_param(name_, name_)

int param_set_uint_minmax(const char *value, const struct kernel_param *kp,
			  unsigned int low, unsigned int high);
int param_set_uint(const char *value, const struct kernel_param *kp);
int param_set_int(const char *value, const struct kernel_param *kp);
int param_get_uint(char *buffer, const struct kernel_param *kp);
int param_get_int(char *buffer, const struct kernel_param *kp);

/* BPF's view of a module's functions: not registered. */
struct btf_id_set8 {
	u32 cnt;
};
struct btf_kfunc_id_set {	/* Linux 5.17 and later */
	struct module *owner;
	const void *set;
	const void *check_set;
};
struct kfunc_btf_id_set {	/* before */
	struct module *owner;
	const void *set;
};
struct kfunc_btf_id_list {
	u32 cnt;
};
#define BPF_PROG_TYPE_STRUCT_OPS		27
#define __db_btf_set(name)	static const struct btf_id_set8 name __attribute__((unused)) = { 0 };
#define BTF_SET_START(name)			__db_btf_set(name)
#define BTF_SET_END(name)
#define BTF_SET8_START(name)			__db_btf_set(name)
#define BTF_SET8_END(name)
#define BTF_KFUNCS_START(name)			__db_btf_set(name)
#define BTF_KFUNCS_END(name)
#define BTF_ID(kind, name)
#define BTF_ID_FLAGS(kind, ...)
#define DEFINE_KFUNC_BTF_ID_SET(ids, name)	struct kfunc_btf_id_set name = { THIS_MODULE, ids }
#define bpf_tcp_ca_kfunc_list			__db_kfunc_list
static struct kfunc_btf_id_list __db_kfunc_list __attribute__((unused));
#define register_btf_kfunc_id_set(type, set)	((void)(type), (void)(set), 0)
#define register_kfunc_btf_id_set(list, set)	((void)(list), (void)(set))
#define unregister_kfunc_btf_id_set(list, set)	((void)(list), (void)(set))

#endif /* __DUMBBELL_MODULE_H__ */
