// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * dctcp_*: the kernel's DCTCP, which BPF congestion controls may call. Natively
 * these are the callbacks of cc/dctcp.bpf.c, by the kernel's names.
 */
#include "renamed.h"

#define dctcp			dumbbell_kfunc_dctcp
#define _license		dumbbell_kfunc_dctcp_license
#define dctcp_update_alpha	dumbbell_kfunc_dctcp_update_alpha
#define dctcp_in_ack_event	dumbbell_kfunc_dctcp_in_ack_event
#define dctcp_set_state		dctcp_state
#define dctcp_undo_cwnd		dctcp_cwnd_undo

#include "dctcp.bpf.c"

/* The kernel's name for the callback is used by a part of ours. */
#undef dctcp_update_alpha
void dctcp_update_alpha(struct sock *sk, u32 flags);
void dctcp_update_alpha(struct sock *sk, u32 flags)
{
	dctcp_in_ack_event(sk, flags, 0, 0);
}

/* Since Linux 7.2. */
void dctcp_cwnd_event_tx_start(struct sock *sk);
void dctcp_cwnd_event_tx_start(struct sock *sk)
{
	dctcp_cwnd_event(sk, CA_EVENT_TX_START, 0, 0);
}
