/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a congestion control tells dumbbell about itself: its parameters and which fields of its
 * state are time series. The declarations land in the ELF section `dumbbell_decl`, which both
 * engines read and the kernel ignores; the algorithm's code does not depend on them.
 *
 *	PARAM(u32, mode_window_rtts, 10, 1, 100, "RTTs", "how far back ...");
 *	SERIES(struct copa, velocity, "velocity_pkts", "pkts", "...");
 *	SERIES_SCALED(struct bbr, bw, "bw_bps", "bit/s", 8000000, 1 << 24, PER_MSS, "...");
 *	SERIES_STATE(struct copa, mode, "mode", "default,competitive", "...");
 *
 * A reported value is raw * mul / div, times the MSS in bytes with PER_MSS.
 */
#ifndef __DUMBBELL_H__
#define __DUMBBELL_H__

#include "vmlinux.h"
#include "net_tcp.h"

enum dumbbell_decl_kind {
	DUMBBELL_PARAM		= 1,
	DUMBBELL_SERIES		= 2,	/* a field of icsk_ca_priv */
	DUMBBELL_SERIES_STORAGE	= 3,	/* a field of the bpf_sk_storage value */
	DUMBBELL_STORAGE	= 4,	/* size of the bpf_sk_storage value */
	DUMBBELL_PARAM_DOC	= 5,	/* a kernel module's text about a parameter */
	DUMBBELL_CA_PRIV	= 6,	/* size of the state in icsk_ca_priv */
	DUMBBELL_MODULE_STATE	= 7,	/* size of a kernel module's, if it is not the kernel's 104 */
};

enum dumbbell_decl_flags {
	DUMBBELL_SIGNED		= 1,
	PER_MSS			= 2,	/* times the MSS in bytes */
	DUMBBELL_ENUM		= 4,	/* unit[] lists the names of the values 0, 1, ... */
	DUMBBELL_MODULE_PARAM	= 8,	/* default and range are the variable's own */
	DUMBBELL_BOOL		= 16,	/* takes 0 and 1 only */
};

struct dumbbell_decl {
	char	name[32];
	char	unit[64];
	char	doc[104];
	u32	kind;
	u32	flags;
	u32	offset;		/* bytes into the state */
	u32	size;		/* bytes of the value: 1, 2, 4 or 8 */
	u64	mul, div;	/* series: reported = raw * mul / div */
	s64	min, max, def;	/* parameter: range and default, inclusive */
};

#define __DB_CAT2(a, b)	a##b
#define __DB_CAT(a, b)	__DB_CAT2(a, b)
#define __DB_DECL							\
	static const struct dumbbell_decl __DB_CAT(__dumbbell_decl_, __COUNTER__) \
	__attribute__((section("dumbbell_decl"), used, aligned(8)))

#define __DB_SIGNED(type)	(((__typeof__(type))-1) < 1 ? DUMBBELL_SIGNED : 0)

/* A parameter: an integer, set by name when the instance is loaded. */
#define PARAM(type_, name_, def_, min_, max_, unit_, doc_)		\
	const volatile type_ name_ = def_;				\
	__DB_DECL = {							\
		.name = #name_, .unit = unit_, .doc = doc_,		\
		.kind = DUMBBELL_PARAM, .flags = __DB_SIGNED(type_),	\
		.size = sizeof(type_),					\
		.min = min_, .max = max_, .def = def_,			\
	}

#define __DB_SERIES(kind_, state_, field_, name_, unit_, mul_, div_, flags_, doc_) \
	__DB_DECL = {							\
		.name = name_, .unit = unit_, .doc = doc_,		\
		.kind = kind_, .flags = flags_,				\
		.offset = __builtin_offsetof(state_, field_),		\
		.size = sizeof(((state_ *)0)->field_),			\
		.mul = mul_, .div = div_,				\
	}

#define SERIES(state, field, name, unit, doc)				\
	__DB_SERIES(DUMBBELL_SERIES, state, field, name, unit, 1, 1, 0, doc)
#define SERIES_SCALED(state, field, name, unit, mul, div, flags, doc)	\
	__DB_SERIES(DUMBBELL_SERIES, state, field, name, unit, mul, div, flags, doc)
#define SERIES_STATE(state, field, name, labels, doc)			\
	__DB_SERIES(DUMBBELL_SERIES, state, field, name, labels, 1, 1, DUMBBELL_ENUM, doc)

/*
 * The same for state kept in socket storage, because icsk_ca_priv has 104 bytes. If several maps
 * have a value of that size it is the first: declare it, and use it, before others.
 */
#define STORAGE(state)							\
	__DB_DECL = {							\
		.name = "storage", .kind = DUMBBELL_STORAGE, .size = sizeof(state), \
	}
#define STORAGE_SERIES(state, field, name, unit, doc)			\
	__DB_SERIES(DUMBBELL_SERIES_STORAGE, state, field, name, unit, 1, 1, 0, doc)
#define STORAGE_SERIES_SCALED(state, field, name, unit, mul, div, flags, doc) \
	__DB_SERIES(DUMBBELL_SERIES_STORAGE, state, field, name, unit, mul, div, flags, doc)
#define STORAGE_SERIES_STATE(state, field, name, labels, doc)		\
	__DB_SERIES(DUMBBELL_SERIES_STORAGE, state, field, name, labels, 1, 1, DUMBBELL_ENUM, doc)

/* The private state: one that does not fit in icsk_ca_priv is rejected, with both sizes. */
#define CA_PRIV(state)							\
	__DB_DECL = {							\
		.name = "icsk_ca_priv", .doc = #state,			\
		.kind = DUMBBELL_CA_PRIV, .size = sizeof(state),	\
	}

#endif /* __DUMBBELL_H__ */
