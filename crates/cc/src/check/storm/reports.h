/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What is printed: problems, the storm's position, and a digest of everything written. */
#ifndef STORM_REPORTS_H
#define STORM_REPORTS_H

#include "libc.h"

enum op {
	SSTHRESH, CONG_AVOID, SET_STATE, CWND_EVENT, CWND_EVENT_TX_START, IN_ACK_EVENT,
	PKTS_ACKED, MIN_TSO_SEGS, CONG_CONTROL, UNDO_CWND, SNDBUF_EXPAND, INIT, RELEASE, OP_COUNT,
};

static char *op_names[OP_COUNT] = {
	"ssthresh", "cong_avoid", "set_state", "cwnd_event", "cwnd_event_tx_start",
	"in_ack_event", "pkts_acked", "min_tso_segs", "cong_control", "undo_cwnd",
	"sndbuf_expand", "init", "release",
};

enum problem {
	CWND_ZERO, CWND_HUGE, UNDO_ZERO, UNDO_HUGE, SSTHRESH_ZERO, BEYOND_STATE, FOREIGN_FIELD,
	PROBLEM_COUNT,
};

static char *problem_names[PROBLEM_COUNT] = {
	"cwnd_zero", "cwnd_huge", "undo_zero", "undo_huge", "ssthresh_zero", "beyond_state",
	"foreign_field",
};

/* The storm's position, printed when it ends early. */
static volatile enum op current_op = OP_COUNT;
static volatile u32 current_flow, current_step;
static volatile u64 call_count;

static bool reported[PROBLEM_COUNT][OP_COUNT];
static u64 trace = 0xcbf29ce484222325ULL;

static void note(u64 value)
{
	trace = (trace ^ value) * 0x100000001b3ULL;
}

static void report(enum problem problem, u64 value)
{
	enum op op = current_op;

	if (reported[problem][op])
		return;
	reported[problem][op] = true;
	printf("problem %s %s %u %u %llu\n", problem_names[problem], op_names[op],
	       current_flow, current_step, value);
}

#endif /* STORM_REPORTS_H */
