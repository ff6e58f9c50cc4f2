/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The errors that BPF helpers return, negative. The same on all architectures that run BPF. */
#ifndef __DUMBBELL_ERRNO_H__
#define __DUMBBELL_ERRNO_H__

#define EPERM		1
#define ENOENT		2
#define E2BIG		7
#define ENOMEM		12
#define EBUSY		16
#define EEXIST		17
#define EINVAL		22
#define EOPNOTSUPP	95

#endif /* __DUMBBELL_ERRNO_H__ */
