/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the guest kernel and dumbbell's library say to each other. The library is a shared object of the host that
 * runs in the process of the guest; crates/guest/src/lib.rs has the same structures. The kernel calls it. The other way
 * round there are only queue disciplines, for which it changes back to the kernel's stack.
 */
#ifndef DUMBBELL_H
#define DUMBBELL_H

#define DUMBBELL_ABI 4
#define DUMBBELL_CC_BYTES 16
/* The signal that asks which program computes, and the file with the answer. */
#define DUMBBELL_ASK SIGUSR2
#define DUMBBELL_CURRENT "current"
/* No limit, or never. */
#define DUMBBELL_NONE (~0ull)

struct dumbbell_queued;

struct dumbbell_run {
	unsigned int hosts;
	unsigned int flows;
	unsigned long long duration_ns;
	/* Between samples of the flows. */
	unsigned long long sample_interval_ns;
	/* Bytes of the largest packet of a host, its virtio-net header included. */
	unsigned int largest_bytes;
	/* Congestion control algorithms of the library, which the kernel calls by their number. */
	unsigned int ccs;
	/* From the kernel: what it is, and where its sockets have the fields that an algorithm sees. */
	char release[64];
	const struct dumbbell_field *fields;
	unsigned int field_count;
	unsigned int hz;
	/* Of the user, in the hosts. */
	unsigned int programs;
	/* Queue disciplines of the kernel, at devices of their own. */
	unsigned int qdiscs;
	/* From the kernel: what the library calls. */
	void (*enqueue)(struct dumbbell_queued *queued);
	void (*dequeue)(struct dumbbell_queued *queued);
};

/* A queue discipline of the kernel. */
struct dumbbell_qdisc {
	/* The program that makes it, and its arguments, which end in a null pointer. */
	const char *program;
	const char *const *argv;
	const char *device;
};

/* What a queue discipline does. */
struct dumbbell_queued {
	unsigned int qdisc;
	/* The packet that arrives, or that has left; DUMBBELL_NO_PACKET: none has. */
	unsigned int number;
	/* Of one that arrives: its IP packet. */
	const void *packet;
	unsigned int bytes;
	/* What its IP header is to say, or says. */
	unsigned int ecn;
	/* The numbers of those that were dropped. */
	unsigned int *dropped;
	unsigned int room;
	unsigned int drops;
};

#define DUMBBELL_NO_PACKET (~0u)

/* A field of a socket. */
struct dumbbell_field {
	const char *name;
	/* From the socket. */
	unsigned int offset;
	unsigned int bytes;
};

/* The callbacks of an algorithm, in the order of crates/cc-abi/src/ops.rs. */
enum dumbbell_op {
	DUMBBELL_SSTHRESH,
	DUMBBELL_CONG_AVOID,
	DUMBBELL_SET_STATE,
	DUMBBELL_CWND_EVENT,
	DUMBBELL_CWND_EVENT_TX_START,
	DUMBBELL_IN_ACK_EVENT,
	DUMBBELL_PKTS_ACKED,
	DUMBBELL_MIN_TSO_SEGS,
	DUMBBELL_CONG_CONTROL,
	DUMBBELL_UNDO_CWND,
	DUMBBELL_SNDBUF_EXPAND,
	DUMBBELL_INIT,
	DUMBBELL_RELEASE,
};

/* An algorithm of the library. */
struct dumbbell_cc {
	/* A bit for each callback that it has. */
	unsigned int callbacks;
	/* The kernel's TCP_CONG_*. */
	unsigned int flags;
	char name[DUMBBELL_CC_BYTES];
};

/* struct rate_sample of crates/cc-abi. */
struct dumbbell_rate_sample {
	unsigned long long prior_mstamp;
	unsigned int prior_delivered;
	unsigned int prior_delivered_ce;
	int delivered;
	int delivered_ce;
	long long interval_us;
	unsigned int snd_interval_us;
	unsigned int rcv_interval_us;
	long long rtt_us;
	int losses;
	unsigned int acked_sacked;
	unsigned int prior_in_flight;
	unsigned int last_end_seq;
	unsigned char is_app_limited;
	unsigned char is_retrans;
	unsigned char is_ack_delayed;
	unsigned char is_ece;
	unsigned char is_acking_tlp_retrans_seq;
	unsigned int prior_lost;
	unsigned int tx_in_flight;
	int lost;
};

/* A call of an algorithm. */
struct dumbbell_call {
	unsigned int op;
	unsigned int cc;
	/* The flow, or DUMBBELL_NO_FLOW; which flow of the library it is, from DUMBBELL_INIT on. */
	unsigned int flow;
	unsigned int handle;
	void *socket;
	/* What is no field, or one of bits: of Linux's names. */
	unsigned int jiffies32;
	unsigned char ca_state;
	unsigned char is_cwnd_limited;
	unsigned char rate_app_limited;
	unsigned char rx_opt_bits;
	/* Arguments of the callback. */
	unsigned int arguments[2];
	/* ack_sample. */
	unsigned int pkts_acked;
	int rtt_us;
	unsigned int in_flight;
	struct dumbbell_rate_sample sample;
};

#define DUMBBELL_NO_FLOW (~0u)

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
	/* Each segment is acknowledged at once, as with `ip route … quickack 1`. */
	unsigned char quick_ack;
	/* Accurate ECN without its option. */
	unsigned char no_accecn_option;
	unsigned short port;
	/* 0: no limit of the window. */
	unsigned int window_bytes;
	unsigned int rcvbuf_bytes;
	/* Of a host in which programs run; 0 in rmem and wmem: the kernel's default. */
	unsigned char runs_programs;
	unsigned char address6[16];
	/* What its sockets run unless they choose; empty: the kernel's default. */
	char cc[DUMBBELL_CC_BYTES];
	/* What programs find in /etc/hosts and /etc/resolv.conf. */
	const char *names;
	const char *resolver;
};

struct dumbbell_port {
	unsigned short number;
	unsigned char is_udp;
};

/* A program of the user. The words and variables end in a null pointer. */
struct dumbbell_program {
	const char *path;
	const char *const *argv;
	const char *const *envp;
	/* The same of all. */
	const char *directory;
	unsigned int host;
	/* It starts before the run, and the next when its ports are open. */
	unsigned int is_server;
	/* Of others: after the start of the run. */
	unsigned long long start_ns;
	const struct dumbbell_port *ports;
	unsigned int port_count;
	/* How long it may take until its ports are open. */
	unsigned long long ready_ns;
};

struct dumbbell_flow {
	char cc[DUMBBELL_CC_BYTES];
	/* By which the library knows it. */
	unsigned int number;
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
	/* Packets that were declared lost. */
	unsigned int lost_pkts;
	/* What the library calls the sender's algorithm; DUMBBELL_NO_FLOW: it is the kernel's own. */
	unsigned int handle;
};

/* dumbbell_user.c */
int dumbbell_open(struct dumbbell_run *run);
void dumbbell_get_host(unsigned int number, struct dumbbell_host *host);
void dumbbell_get_flow(unsigned int number, struct dumbbell_flow *flow);
void dumbbell_get_cc(unsigned int number, struct dumbbell_cc *cc);
/* The value of the callback; of DUMBBELL_INIT the handle. */
unsigned int dumbbell_call(struct dumbbell_call *call);
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
/* A signal for clients, or 0. */
unsigned int dumbbell_sampled(unsigned long long now_ns, unsigned long long instant_ns);
void dumbbell_final(unsigned int flow, const struct dumbbell_state *state);
void dumbbell_end(unsigned long long now_ns);
void dumbbell_failed(const char *what, int flow, int error);

/* Queue disciplines. */
void dumbbell_get_qdisc(unsigned int number, struct dumbbell_qdisc *qdisc);
/* One that had no packet may have one now; when the network is due next. */
unsigned long long dumbbell_qdisc_ready(unsigned long long now_ns, unsigned int number);
/* dumbbell_qdiscs_kern.c, on the kernel's stack. */
void dumbbell_enqueue(struct dumbbell_queued *queued);
void dumbbell_dequeue(struct dumbbell_queued *queued);

/* Programs. What they print and read is passed on at once; each returns a number of bytes, or an error. */
void dumbbell_get_program(unsigned int number, struct dumbbell_program *program);
long dumbbell_write(unsigned int program, unsigned int stream, const void *bytes, unsigned int length);
long dumbbell_read(unsigned int program, void *bytes, unsigned int length);
void dumbbell_program_started(unsigned long long now_ns, unsigned int program);
/* By the status of wait(2), or the error of its start; whether the run is over with it. */
unsigned int dumbbell_program_ended(unsigned long long now_ns, unsigned int program, int status, int error);
/* Its ports were not opened in time. */
void dumbbell_not_ready(unsigned int program);
/* No more is measured; when the network is due next. */
unsigned long long dumbbell_over(unsigned long long now_ns);
/* Programs are asked to end. */
void dumbbell_ending(void);

/* dumbbell_programs_kern.c: the program that computes now; empty: the kernel does. */
const char *dumbbell_current(void);

/* For arch/um/kernel/time.c: what reading the clock now takes, ns. */
unsigned long long dumbbell_clock_step(unsigned long long now_ns);

/* For arch/um/os-Linux/util.c: the guest's random numbers, which follow from a seed. */
long dumbbell_getrandom(void *buffer, unsigned long bytes, unsigned int flags);

#endif
