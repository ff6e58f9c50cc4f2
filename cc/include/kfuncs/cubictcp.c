// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * cubictcp_*: the kernel's CUBIC, which BPF congestion controls may call.
 * Natively these are the callbacks of cc/cubic.bpf.c, by the kernel's names.
 */
#include "renamed.h"

#define cubic			dumbbell_kfunc_cubic
#define _license		dumbbell_kfunc_cubic_license
#define cubic_init		cubictcp_init
#define cubic_ssthresh		cubictcp_recalc_ssthresh
#define cubic_cong_avoid	cubictcp_cong_avoid
#define cubic_set_state		cubictcp_state
#define cubic_cwnd_event	cubictcp_cwnd_event
#define cubic_pkts_acked	cubictcp_acked
#define cubic_undo_cwnd		dumbbell_kfunc_cubic_undo_cwnd

#include "cubic.bpf.c"

/* Since Linux 7.2. */
void cubictcp_cwnd_event_tx_start(struct sock *sk);
void cubictcp_cwnd_event_tx_start(struct sock *sk)
{
	cubictcp_cwnd_event(sk, CA_EVENT_TX_START, 0, 0);
}
