// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * bbr_*: the kernel's BBR, which BPF congestion controls may call. Natively
 * these are the callbacks of cc/bbr.bpf.c, by the kernel's names.
 */
#include "renamed.h"

#define bbr			dumbbell_kfunc_bbr
#define _license		dumbbell_kfunc_bbr_license
#define bbr_cong_control	bbr_main

#include "bbr.bpf.c"

/* Since Linux 7.2. */
void bbr_cwnd_event_tx_start(struct sock *sk);
void bbr_cwnd_event_tx_start(struct sock *sk)
{
	bbr_cwnd_event(sk, CA_EVENT_TX_START, 0, 0);
}
