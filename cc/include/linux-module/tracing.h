/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tracepoints: those that a source defines, none of which is ever enabled. */
#ifndef __DUMBBELL_TRACING_H__
#define __DUMBBELL_TRACING_H__

#define TP_PROTO(...)		__VA_ARGS__
#define TP_ARGS(...)		__VA_ARGS__
#define __db_tracepoint(name, ...)						\
	static inline void __attribute__((unused)) trace_##name(__VA_ARGS__) { }	\
	static inline bool __attribute__((unused)) trace_##name##_enabled(void) { return false; }
#define TRACE_EVENT(name, prototype, ...)		__db_tracepoint(name, prototype)
#define TRACE_EVENT_CONDITION(name, prototype, ...)	__db_tracepoint(name, prototype)
#define DECLARE_TRACE(name, prototype, ...)		__db_tracepoint(name, prototype)
#define DECLARE_EVENT_CLASS(name, ...)
#define DEFINE_EVENT(class, name, prototype, ...)	__db_tracepoint(name, prototype)
#define EXPORT_TRACEPOINT_SYMBOL(name)		_Static_assert(1, "")
#define EXPORT_TRACEPOINT_SYMBOL_GPL(name)	_Static_assert(1, "")

#endif /* __DUMBBELL_TRACING_H__ */
