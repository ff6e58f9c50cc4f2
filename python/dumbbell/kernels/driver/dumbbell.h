/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the guest kernel and dumbbell's library say to each other. The library is a shared object of the host that
 * runs in the process of the guest; crates/guest/src/lib.rs has the same structures. The kernel calls it and never the
 * other way round, so no kernel code runs on the library's stack.
 */
#ifndef DUMBBELL_H
#define DUMBBELL_H

#define DUMBBELL_ABI 1
#define DUMBBELL_CC_BYTES 16
/* No limit, or never. */
#define DUMBBELL_NONE (~0ull)

struct dumbbell_run {
	unsigned int hosts;
	unsigned int flows;
	unsigned long long duration_ns;
	/* Between samples of the flows. */
	unsigned long long sample_interval_ns;
	/* Bytes of the largest packet of a host, its virtio-net header included. */
	unsigned int largest_bytes;
	/* From the kernel: what it is. */
	char release[64];
};

/* A network namespace with one device. */
struct dumbbell_host {
	/* In the order of the network. */
	unsigned int address;
	unsigned int mtu;
	/* 0: as many as the kernel likes. */
	unsigned int gso_max_segs;
	int rmem[3];
	int wmem[3];
	unsigned char slow_start_after_idle;
	unsigned char ecn;
	/* It has sockets that listen, which are given these. */
	unsigned char listens;
	unsigned char dscp;
	unsigned short port;
	/* 0: no limit of the window. */
	unsigned int window_bytes;
	unsigned int rcvbuf_bytes;
};

struct dumbbell_flow {
	char cc[DUMBBELL_CC_BYTES];
	unsigned int sender;
	unsigned int receiver;
	unsigned short port;
	unsigned char nodelay;
	unsigned char dscp;
	/* After the start of the run. */
	unsigned long long start_ns;
	unsigned long long stop_ns;
	unsigned long long size_bytes;
	/* Of the socket; 0: the namespace's. */
	unsigned int sndbuf_bytes;
	unsigned int notsent_lowat_bytes;
	unsigned int write_bytes;
	/* What is read as it arrives, and how much must have arrived after that before the reader is woken. */
	unsigned int prompt_bytes;
	unsigned int low_water_bytes;
};

/* An answer of TCP_INFO or TCP_CC_INFO. */
struct dumbbell_answer {
	const void *bytes;
	unsigned int length;
};

struct dumbbell_state {
	struct dumbbell_answer sender;
	struct dumbbell_answer receiver;
	struct dumbbell_answer cc;
	/* The algorithm that the sender runs. */
	const char *name;
	unsigned long long written_bytes;
};

/* dumbbell_user.c */
int dumbbell_open(struct dumbbell_run *run);
void dumbbell_get_host(unsigned int number, struct dumbbell_host *host);
void dumbbell_get_flow(unsigned int number, struct dumbbell_flow *flow);
void dumbbell_begin(unsigned long long now_ns, unsigned long long epoch_ns);
/* Each returns when the network is due next. */
unsigned long long dumbbell_enter(unsigned long long now_ns, unsigned int host, const void *frame,
				  unsigned int bytes);
unsigned long long dumbbell_advance(unsigned long long now_ns);
/* A frame that leaves the network: its length, 0 if there is none. */
unsigned int dumbbell_take(unsigned int *host, const void **frame);
void dumbbell_established(unsigned long long now_ns, unsigned int flow, struct dumbbell_answer info);
void dumbbell_finished(unsigned long long now_ns, unsigned int flow);
void dumbbell_sample(unsigned long long now_ns, unsigned int flow, const struct dumbbell_state *state);
void dumbbell_sampled(unsigned long long now_ns, unsigned long long instant_ns);
void dumbbell_final(unsigned int flow, const struct dumbbell_state *state);
void dumbbell_end(unsigned long long now_ns);
void dumbbell_failed(const char *what, int flow, int error);

/* For arch/um/os-Linux/util.c: the guest's random numbers, which follow from a seed. */
long dumbbell_getrandom(void *buffer, unsigned long bytes, unsigned int flags);

#endif
