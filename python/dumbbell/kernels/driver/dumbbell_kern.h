/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the driver's files for the kernel use of each other. */
#ifndef DUMBBELL_KERN_H
#define DUMBBELL_KERN_H

#include "dumbbell.h"

struct net;
struct net_device;

/* dumbbell_kern.c */
unsigned int dumbbell_flow_of(const void *socket);
struct net *dumbbell_net_of(unsigned int host);
/* The network is due then. */
void dumbbell_arm(unsigned long long due_ns);
void dumbbell_sleep_until(unsigned long long at_ns);
/* The run ends now, before its time. */
void dumbbell_end_early(void);

/* dumbbell_cc_kern.c */
extern const struct dumbbell_field dumbbell_fields[];
extern const unsigned int dumbbell_field_count;
int dumbbell_register_ccs(unsigned int count);
unsigned int dumbbell_handle_of(const void *socket);

/* dumbbell_routes_kern.c */
int dumbbell_set_routes(struct net *net, struct net_device *device, const struct dumbbell_host *host);
int dumbbell_acknowledge_at_once(struct net *net, struct net_device *device);

/* dumbbell_qdiscs_kern.c */
int dumbbell_make_qdiscs(unsigned int count);

/* dumbbell_clock_kern.c: from now on a program's readings of the clock cost more the more it reads without a pause. */
void dumbbell_charge_for_readings(void);

/* Where streams and names of programs are, which do not look for them. */
#define DUMBBELL_PLACE "/dev/dumbbell"

/* dumbbell_streams_kern.c: makes devices; opens those of a program as this thread's standard streams. */
int dumbbell_make_streams(unsigned int programs);
int dumbbell_open_streams(unsigned int program);

/* dumbbell_files_kern.c */
int dumbbell_mount_files(const char *directory);
int dumbbell_make_place(void);
int dumbbell_write_names(unsigned int number, const struct dumbbell_host *host);
/* Lets this thread see what is its host's. */
int dumbbell_mount_own(unsigned int host);

/* dumbbell_programs_kern.c */
int dumbbell_make_programs(unsigned int count, const struct dumbbell_host *(*host_of)(unsigned int));
void dumbbell_start_servers(void);
void dumbbell_start_clients(unsigned long long epoch_ns);
void dumbbell_signal_clients(int signal);
void dumbbell_end_programs(void);

#endif
