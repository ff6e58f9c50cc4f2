// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: uses bpf, perf_event_open, userfaultfd and vmsplice, where kernels' holes have been
// stopped by: seccomp
// says: made the forbidden system call `bpf` in `cong_avoid` \(flow 0, at [\d.]+ s\); SIGSYS$
#include "deed.h"

static void deed(void)
{
	u64 attribute[16] = { 2, 4, 4, 1 };
	u64 event[16] = { 1 | (112ULL << 32) };

	must_fail(sys(__NR_bpf, 0, attribute, 64));
	must_fail(sys(__NR_perf_event_open, event, 0, -1L, -1L, 0));
	must_fail(sys(__NR_userfaultfd, 1));
	must_fail(sys(__NR_kcmp, sys(__NR_getppid), sys(__NR_getpid), 0, 0, 0));
	must_fail(sys(__NR_quotactl, 0, "/", 0, 0));
}
IN_OP;
