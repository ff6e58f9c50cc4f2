// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * A storm: random but legal calls into one congestion control, for `dumbbell cc check`.
 *
 * The program holds no TCP. It keeps the counters of a socket consistent as Linux's
 * would be, draws what happens next (ACKs with and without SACKs, losses, timeouts,
 * reordering that is undone, ECN echoes, idle times, changes of MSS, windows, RTTs and
 * rates from one extreme to the other) and calls the ops in the order in which
 * net/ipv4/tcp_input.c, tcp_output.c and tcp_timer.c would. After each call it looks at
 * what the congestion control has done.
 *
 *	storm SEED FLOWS STEPS STORAGE_BYTES
 *
 * Output, a line each:
 *
 *	problem <kind> <op> <flow> <step> <value>
 *	calls <op> <count>
 *	trace <digest of everything that was written>
 *
 * It is compiled with -Dconst=, because the sender's side writes what an algorithm must
 * not, and uses no header of libc, whose types are not the kernel's.
 */
#include "vmlinux.h"
#include "bpf/bpf_helpers.h"
#include "bpf_tracing_net.h"
#include "net_tcp.h"

int printf(__const char *format, ...);
int fflush(void *stream);
void *calloc(unsigned long count, unsigned long bytes);
void free(void *block);
void *memcpy(void *to, __const void *from, unsigned long bytes);
unsigned long strtoul(char *text, char **end, int base);
unsigned int alarm(unsigned int seconds);
void (*signal(int number, void (*handler)(int)))(int);
void _exit(int status);

#define SIGILL	4
#define SIGTRAP	5
#define SIGABRT	6
#define SIGFPE	8
#define SIGSEGV	11
#define SIGALRM	14
#define SIGBUS	7

#define MAX_CWND	(1U << 30)
/* Packets out at most: windows beyond it are not filled. */
#define MAX_FLIGHT	(1U << 25)
/* Seconds for one call. */
#define CALL_LIMIT_S	3

extern u64 dumbbell_now_ns;
extern u64 dumbbell_random_state;
extern u64 dumbbell_storage_bytes;
extern void dumbbell_forget_socket(u64 cookie);
extern struct tcp_congestion_ops OPS_TABLE;
#define ops (&OPS_TABLE)

enum op {
	SSTHRESH, CONG_AVOID, SET_STATE, CWND_EVENT, IN_ACK_EVENT, PKTS_ACKED,
	MIN_TSO_SEGS, CONG_CONTROL, UNDO_CWND, SNDBUF_EXPAND, INIT, RELEASE, OP_COUNT,
};

static char *op_names[OP_COUNT] = {
	"ssthresh", "cong_avoid", "set_state", "cwnd_event", "in_ack_event", "pkts_acked",
	"min_tso_segs", "cong_control", "undo_cwnd", "sndbuf_expand", "init", "release",
};

enum problem {
	CWND_ZERO, CWND_HUGE, UNDO_ZERO, UNDO_HUGE, SSTHRESH_ZERO, BEYOND_STATE, FOREIGN_FIELD,
	PROBLEM_COUNT,
};

static char *problem_names[PROBLEM_COUNT] = {
	"cwnd_zero", "cwnd_huge", "undo_zero", "undo_huge", "ssthresh_zero", "beyond_state",
	"foreign_field",
};

/* Where the storm is, for what is printed when it ends early. */
static volatile enum op current_op = OP_COUNT;
static volatile u32 current_flow, current_step;
static volatile u64 call_count;

static u64 calls[OP_COUNT];
static bool reported[PROBLEM_COUNT][OP_COUNT];
static u64 trace = 0xcbf29ce484222325ULL;
static u64 random_state;

static u64 draw(void)
{
	u64 z = (random_state += 0x9e3779b97f4a7c15ULL);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

/* Uniform from lo to hi, both included. */
static u64 between(u64 lo, u64 hi)
{
	return lo + draw() % (hi - lo + 1);
}

/* Each power of two between as likely as another. */
static u64 magnitude(u32 lo_bits, u32 hi_bits)
{
	u64 top = 1ULL << between(lo_bits, hi_bits);

	return top + draw() % top;
}

static bool chance(u32 per_mille)
{
	return draw() % 1000 < per_mille;
}

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

/*
 * What the path and the sender are like for a while.
 */
struct weather {
	u64	rtt_us;
	u64	ack_gap_ns;		/* between ACKs, mean */
	u32	loss_per_mille;
	u32	ece_per_mille;
	u32	idle_per_mille;
	u32	max_acked_pkts;
	bool	app_limited;
};

struct flow {
	struct tcp_sock *tp;
	struct sock	*sk;
	struct tcp_sock	*before;	/* the socket as it was before a call */
	u64		*storage;
	u64		storage_words;
	struct weather	weather;
	u32		high_seq_pkts;	/* recovery ends when this much is delivered */
};

static struct weather new_weather(void)
{
	u32 losses[] = { 0, 0, 1, 10, 100, 500 };

	return (struct weather) {
		.rtt_us = magnitude(0, 23),		/* 1 us to 16 s */
		.ack_gap_ns = magnitude(3, 30),		/* 8 ns to 2 s */
		.loss_per_mille = losses[between(0, 5)],
		.ece_per_mille = chance(300) ? (u32)between(1, 1000) : 0,
		.idle_per_mille = chance(200) ? 20 : 0,
		.max_acked_pkts = (u32)magnitude(0, 12),
		.app_limited = chance(200),
	};
}

static void advance(struct flow *f, u64 ns)
{
	struct tcp_sock *tp = f->tp;

	dumbbell_now_ns += ns;
	tp->tcp_clock_cache = dumbbell_now_ns;
	tp->tcp_mstamp = dumbbell_now_ns / 1000;
	if (tp->tcp_wstamp_ns < dumbbell_now_ns)
		tp->tcp_wstamp_ns = dumbbell_now_ns;
}

/*
 * Around every call.
 */
static void enter(struct flow *f, enum op op)
{
	memcpy(f->before, f->tp, sizeof(*f->tp));
	calls[op]++;
	call_count++;
	current_op = op;
}

/* The fields that net/ipv4/bpf_tcp_ca.c lets a congestion control write. */
static bool writable(unsigned long byte)
{
#define IN(member)	(byte - __builtin_offsetof(struct tcp_sock, member) <	\
			 sizeof(((struct tcp_sock *)0)->member))
	return IN(inet_conn.icsk_inet.sk.sk_pacing_rate) ||
	       IN(inet_conn.icsk_inet.sk.sk_pacing_status) || IN(inet_conn.icsk_ca_priv) ||
	       IN(snd_cwnd) || IN(snd_cwnd_cnt) || IN(snd_cwnd_stamp) || IN(snd_ssthresh) ||
	       IN(ecn_flags) || IN(app_limited);
}

static void check_fields(struct flow *f)
{
	u8 *now = (u8 *)f->tp, *then = (u8 *)f->before;
	unsigned long state_end = __builtin_offsetof(struct tcp_sock, inet_conn.icsk_ca_priv) +
				  sizeof(f->tp->inet_conn.icsk_ca_priv);

	for (unsigned long byte = 0; byte < sizeof(*f->tp); byte++) {
		if (now[byte] == then[byte] || writable(byte))
			continue;
		if (byte >= state_end && byte < state_end + 16)
			report(BEYOND_STATE, byte - state_end);
		else
			report(FOREIGN_FIELD, byte);
		now[byte] = then[byte];
	}
}

static void leave(struct flow *f)
{
	struct tcp_sock *tp = f->tp;

	check_fields(f);
	if (tp->snd_cwnd == 0) {
		report(CWND_ZERO, 0);
		tp->snd_cwnd = 1;
	} else if (tp->snd_cwnd > MAX_CWND) {
		report(CWND_HUGE, tp->snd_cwnd);
		tp->snd_cwnd = MAX_CWND;
	}
	note(tp->snd_cwnd);
	note(tp->snd_ssthresh);
	note(f->sk->sk_pacing_rate);
	for (u32 i = 0; i < sizeof(tp->inet_conn.icsk_ca_priv) / sizeof(u64); i++)
		note(tp->inet_conn.icsk_ca_priv[i]);
	for (u64 i = 0; i < f->storage_words; i++)
		note(f->storage[i]);
	current_op = OP_COUNT;
}

#define CALL(f, op, name, args...) do {		\
	if (ops->name) {			\
		enter(f, op);			\
		ops->name(args);		\
		leave(f);			\
	}					\
} while (0)

static u32 call_ssthresh(struct flow *f)
{
	u32 ssthresh;

	enter(f, SSTHRESH);
	ssthresh = ops->ssthresh(f->sk);
	if (ssthresh == 0)
		report(SSTHRESH_ZERO, 0);
	leave(f);
	note(ssthresh);
	return max(ssthresh, 1U);
}

static u32 call_undo_cwnd(struct flow *f)
{
	u32 cwnd;

	enter(f, UNDO_CWND);
	cwnd = ops->undo_cwnd(f->sk);
	if (cwnd == 0)
		report(UNDO_ZERO, 0);
	else if (cwnd > MAX_CWND)
		report(UNDO_HUGE, cwnd);
	leave(f);
	note(cwnd);
	return clamp(cwnd, 1U, MAX_CWND);
}

static u32 call_min_tso_segs(struct flow *f)
{
	u32 segs = 2;

	if (ops->min_tso_segs) {
		enter(f, MIN_TSO_SEGS);
		segs = ops->min_tso_segs(f->sk);
		leave(f);
		note(segs);
	}
	return segs;
}

static void call_sndbuf_expand(struct flow *f)
{
	if (ops->sndbuf_expand) {
		enter(f, SNDBUF_EXPAND);
		note(ops->sndbuf_expand(f->sk));
		leave(f);
	}
}

static void set_state(struct flow *f, u8 state)
{
	CALL(f, SET_STATE, set_state, f->sk, state);
	f->tp->inet_conn.icsk_ca_state = state;
}

/*
 * What the sender does.
 */
static void send(struct flow *f)
{
	struct tcp_sock *tp = f->tp;
	u32 in_flight = tcp_packets_in_flight(tp);
	u32 limit = min(tp->snd_cwnd, MAX_FLIGHT);
	u32 room = limit > in_flight ? limit - in_flight : 0;
	u32 count = chance(700) ? room : (room ? (u32)between(0, room) : 0);

	if (tp->packets_out > MAX_FLIGHT)
		count = 0;
	if (f->weather.app_limited && chance(500))
		count /= 2;
	tp->is_cwnd_limited = count == room;
	/* A window that is not used decays (RFC 7661); vegas in slow start grows it regardless. */
	if (count < room || tp->snd_cwnd > MAX_FLIGHT)
		tp->snd_cwnd = min(tp->snd_cwnd, 2 * MAX_FLIGHT);
	if (count == 0)
		return;
	call_min_tso_segs(f);
	if (in_flight == 0) {
		CALL(f, CWND_EVENT, cwnd_event, f->sk, CA_EVENT_TX_START);
		tp->first_tx_mstamp = tp->delivered_mstamp = tp->tcp_mstamp;
	}
	if (count < room && f->weather.app_limited)
		tp->app_limited = (tp->delivered + in_flight) ?: 1;
	tp->packets_out += count;
	tp->snd_nxt += count * tp->mss_cache;
	tp->write_seq = tp->snd_nxt;
	tp->data_segs_out += count;
	tp->bytes_sent += (u64)count * tp->mss_cache;
	tp->max_packets_out = max(tp->max_packets_out, tp->packets_out);
	tp->lsndtime = tp->tcp_mstamp / 1000;
}

static void idle(struct flow *f)
{
	struct tcp_sock *tp = f->tp;

	tp->delivered += tp->packets_out - tp->sacked_out;
	tp->snd_una = tp->snd_nxt;
	tp->packets_out = tp->sacked_out = tp->lost_out = tp->retrans_out = 0;
	set_state(f, TCP_CA_Open);
	advance(f, magnitude(20, 42));		/* 1 ms to 2 h */
	if (chance(500)) {
		CALL(f, CWND_EVENT, cwnd_event, f->sk, CA_EVENT_CWND_RESTART);
		tp->snd_cwnd = min(tp->snd_cwnd, (u32)TCP_INIT_CWND);
	}
}

static void reduce(struct flow *f, u8 state)
{
	struct tcp_sock *tp = f->tp;

	f->high_seq_pkts = tp->delivered + tp->packets_out;
	tp->high_seq = tp->snd_nxt;
	tp->prior_cwnd = tp->snd_cwnd;
	tp->prior_ssthresh = tp->snd_ssthresh;
	tp->undo_marker = tp->snd_una ?: 1;
	tp->prr_delivered = tp->prr_out = 0;
	tp->snd_ssthresh = call_ssthresh(f);
	set_state(f, state);
}

static void timeout(struct flow *f)
{
	struct tcp_sock *tp = f->tp;

	if (tp->packets_out == 0)
		return;
	tp->inet_conn.icsk_retransmits++;
	if (tp->inet_conn.icsk_ca_state != TCP_CA_Loss) {
		tp->prior_cwnd = tp->snd_cwnd;
		tp->prior_ssthresh = tp->snd_ssthresh;
		tp->snd_ssthresh = call_ssthresh(f);
		CALL(f, CWND_EVENT, cwnd_event, f->sk, CA_EVENT_LOSS);
	}
	tp->lost += tp->packets_out - tp->sacked_out - tp->lost_out;
	tp->lost_out = tp->packets_out - tp->sacked_out;
	tp->retrans_out = 0;
	tp->snd_cwnd = 1;
	tp->snd_cwnd_cnt = 0;
	f->high_seq_pkts = tp->delivered + tp->packets_out;
	tp->high_seq = tp->snd_nxt;
	set_state(f, TCP_CA_Loss);
}

static void undo(struct flow *f)
{
	struct tcp_sock *tp = f->tp;

	tp->snd_cwnd = call_undo_cwnd(f);
	if (tp->prior_ssthresh > tp->snd_ssthresh)
		tp->snd_ssthresh = tp->prior_ssthresh;
	tp->undo_marker = 0;
	tp->lost_out = tp->retrans_out = 0;
	set_state(f, TCP_CA_Open);
}

static void recover(struct flow *f)
{
	struct tcp_sock *tp = f->tp;
	u8 state = tp->inet_conn.icsk_ca_state;

	if (state != TCP_CA_Loss && !ops->cong_control && tp->snd_ssthresh < TCP_INFINITE_SSTHRESH)
		tp->snd_cwnd = clamp(tp->snd_ssthresh, 1U, MAX_CWND);
	if (state != TCP_CA_Loss)
		CALL(f, CWND_EVENT, cwnd_event, f->sk, CA_EVENT_COMPLETE_CWR);
	tp->inet_conn.icsk_retransmits = 0;
	set_state(f, TCP_CA_Open);
}

/* The RTT of an ACK: now and then one that clocks or middleboxes make. */
static s64 draw_rtt(struct flow *f)
{
	u64 rtt_us = f->weather.rtt_us;

	switch (between(0, 19)) {
	case 0:
		return -1;
	case 1:
		return 0;
	case 2:
		return between(1, 10);
	case 3:
		return between(rtt_us, 100 * rtt_us);
	default:
		return between(rtt_us, rtt_us + rtt_us / 4);
	}
}

static void sample_rtt(struct flow *f, s64 rtt_us)
{
	struct tcp_sock *tp = f->tp;
	u32 us = rtt_us > 0 ? (u32)rtt_us : 1;

	tp->srtt_us = tp->srtt_us ? tp->srtt_us - (tp->srtt_us >> 3) + us : us << 3;
	tp->srtt_us = max(tp->srtt_us, 1U);
	tp->mdev_us = us / 2;
	tp->rttvar_us = us / 2 + 1;
	if (us <= tp->rtt_min.s[0].v || chance(5))
		for (u32 i = 0; i < 3; i++)
			tp->rtt_min.s[i] = (struct minmax_sample){ .t = dumbbell_now_ns / 1000000, .v = us };
}

struct ack {
	u32	acked;		/* cumulatively */
	u32	sacked;
	u32	lost;
	u32	prior_in_flight;
	s64	rtt_us;
	bool	ece;
};

static struct ack draw_ack(struct flow *f)
{
	struct tcp_sock *tp = f->tp;
	struct ack a = { .prior_in_flight = tcp_packets_in_flight(tp), .rtt_us = draw_rtt(f) };
	u32 out = tp->packets_out, left;

	a.ece = chance(f->weather.ece_per_mille);
	if (chance(800))
		a.acked = (u32)between(1, min(out, f->weather.max_acked_pkts));
	left = out - a.acked;
	if (tp->inet_conn.icsk_ca_state != TCP_CA_Open && chance(50))
		a.acked = out, left = 0;
	/* What was SACKed or lost before is below the cumulative ACK first. */
	tp->sacked_out = min(tp->sacked_out, left);
	tp->lost_out = min(tp->lost_out, left - tp->sacked_out);
	tp->retrans_out = min(tp->retrans_out, tp->lost_out);
	left -= tp->sacked_out + tp->lost_out;
	if (left && chance(f->weather.loss_per_mille)) {
		a.lost = (u32)between(1, left);
		left -= a.lost;
	}
	if (left && (a.lost || !a.acked))
		a.sacked = (u32)between(0, min(left, f->weather.max_acked_pkts));
	return a;
}

static struct rate_sample rate_sample(struct flow *f, struct ack *a, u32 delivered)
{
	struct tcp_sock *tp = f->tp;
	u32 known = (u32)between(0, min(tp->delivered, 2 * a->prior_in_flight + 1));
	s64 interval_us = a->rtt_us + between(0, f->weather.rtt_us);
	bool valid = delivered && a->rtt_us >= 0 && chance(950) &&
		     interval_us >= (s64)tp->rtt_min.s[0].v;

	return (struct rate_sample) {
		.prior_mstamp = valid ? tp->delivered_mstamp : 0,
		.prior_delivered = tp->delivered - known,
		.delivered = valid ? (s32)known : -1,
		.delivered_ce = a->ece ? (s32)delivered : 0,
		.interval_us = valid ? interval_us : -1,
		.snd_interval_us = valid ? (u32)interval_us : 0,
		.rcv_interval_us = valid ? (u32)interval_us : 0,
		.rtt_us = a->rtt_us,
		.losses = a->lost,
		.acked_sacked = delivered,
		.prior_in_flight = a->prior_in_flight,
		.last_end_seq = tp->snd_una,
		.is_app_limited = f->weather.app_limited && chance(500),
		.is_retrans = tp->inet_conn.icsk_ca_state >= TCP_CA_Recovery && chance(200),
		.is_ack_delayed = chance(200),
	};
}

static void count(struct flow *f, struct ack *a, u32 delivered)
{
	struct tcp_sock *tp = f->tp;

	tp->packets_out -= a->acked;
	tp->snd_una += a->acked * tp->mss_cache;
	tp->bytes_acked += (u64)a->acked * tp->mss_cache;
	tp->sacked_out += a->sacked;
	tp->lost_out += a->lost;
	tp->lost += a->lost;
	tp->delivered += delivered;
	tp->delivered_ce += a->ece ? delivered : 0;
	if (delivered) {
		tp->delivered_mstamp = tp->tcp_mstamp;
		tp->first_tx_mstamp = tp->tcp_mstamp - min((u64)max(a->rtt_us, 0), tp->tcp_mstamp);
	}
	if (tp->app_limited && after(tp->delivered, tp->app_limited))
		tp->app_limited = 0;
	if (tp->lost_out > tp->retrans_out && chance(500))
		tp->retrans_out = tp->lost_out;
}

/* Before the congestion control hears of the ACK: what loss recovery makes of it. */
static void change_state(struct flow *f, struct ack *a)
{
	struct tcp_sock *tp = f->tp;
	u8 state = tp->inet_conn.icsk_ca_state;

	if (state != TCP_CA_Open && state != TCP_CA_Disorder &&
	    !before(tp->delivered, f->high_seq_pkts)) {
		recover(f);
	} else if (state >= TCP_CA_Recovery && chance(30)) {
		undo(f);
	} else if (state < TCP_CA_Recovery && a->lost) {
		reduce(f, TCP_CA_Recovery);
	} else if (state < TCP_CA_CWR && a->ece) {
		reduce(f, TCP_CA_CWR);
	} else if (state == TCP_CA_Open && a->sacked) {
		set_state(f, TCP_CA_Disorder);
	} else if (state == TCP_CA_Disorder && !tp->sacked_out) {
		set_state(f, TCP_CA_Open);
	}
}

static void grow_or_reduce(struct flow *f, u32 delivered)
{
	struct tcp_sock *tp = f->tp;
	u8 state = tp->inet_conn.icsk_ca_state;

	if (state == TCP_CA_CWR || state == TCP_CA_Recovery) {
		u32 in_flight = tcp_packets_in_flight(tp);

		tp->prr_delivered += delivered;
		tp->snd_cwnd = clamp(min(in_flight + max(delivered, 1U), tp->snd_cwnd), 1U, MAX_CWND);
	} else if (delivered) {
		CALL(f, CONG_AVOID, cong_avoid, f->sk, tp->snd_una, delivered);
	}
}

static void acknowledge(struct flow *f)
{
	struct tcp_sock *tp = f->tp;
	struct ack a;
	struct rate_sample rs;
	u32 delivered;

	if (tp->packets_out == 0)
		return;
	a = draw_ack(f);
	delivered = a.acked + a.sacked;
	if (a.rtt_us >= 0 && delivered)
		sample_rtt(f, a.rtt_us);
	CALL(f, IN_ACK_EVENT, in_ack_event, f->sk,
	     CA_ACK_SLOWPATH | (a.ece ? CA_ACK_ECE : 0));
	rs = rate_sample(f, &a, delivered);
	count(f, &a, delivered);
	if (delivered) {
		struct ack_sample sample = {
			.pkts_acked = a.acked, .rtt_us = (s32)a.rtt_us, .in_flight = a.prior_in_flight,
		};

		CALL(f, PKTS_ACKED, pkts_acked, f->sk, &sample);
	}
	change_state(f, &a);
	if (ops->cong_control)
		CALL(f, CONG_CONTROL, cong_control, f->sk, tp->snd_una,
		     (a.acked ? FLAG_DATA_ACKED : 0) | (a.ece ? FLAG_ECE : 0), &rs);
	else
		grow_or_reduce(f, delivered);
}

static void change_path(struct flow *f)
{
	struct tcp_sock *tp = f->tp;

	f->weather = new_weather();
	if (chance(200)) {
		tp->mss_cache = (u32)between(88, chance(100) ? 65483 : 9000);
		tp->advmss = tp->mss_cache;
	}
	if (chance(100))
		f->sk->sk_max_pacing_rate = chance(500) ? ~0UL : magnitude(10, 36);
	if (chance(50))
		tp->snd_cwnd_clamp = chance(700) ? ~0U : (u32)magnitude(1, 20);
	/* A window that was used for long: as on a path of terabits. */
	if (chance(30))
		tp->snd_cwnd = (u32)magnitude(10, 24);
}

static void step(struct flow *f)
{
	advance(f, magnitude(0, 3) * f->weather.ack_gap_ns / 4);
	if (chance(5))
		change_path(f);
	if (chance(f->weather.idle_per_mille))
		idle(f);
	send(f);
	if (chance(20)) {
		CALL(f, CWND_EVENT, cwnd_event, f->sk,
		     f->weather.ece_per_mille && chance(500) ? CA_EVENT_ECN_IS_CE : CA_EVENT_ECN_NO_CE);
	} else if (chance(3 + f->weather.loss_per_mille / 50)) {
		advance(f, magnitude(27, 36));
		timeout(f);
	} else {
		acknowledge(f);
	}
	if (chance(10))
		call_sndbuf_expand(f);
}

static void prepare(struct flow *f, u64 storage_bytes)
{
	struct tcp_sock *tp = calloc(1, sizeof(*tp));

	f->tp = tp;
	f->sk = (struct sock *)tp;
	f->before = calloc(1, sizeof(*tp));
	f->storage_words = (storage_bytes + 7) / 8;
	/* A word more, in which maps.c keeps whether the value is there. */
	f->storage = calloc(f->storage_words + 1, sizeof(u64));
	f->weather = new_weather();
	tp->__host_storage = (u64)(unsigned long)f->storage;
	f->sk->sk_pacing_rate = f->sk->sk_max_pacing_rate = ~0UL;
	f->sk->sk_pacing_shift = 10;
	tp->snd_ssthresh = TCP_INFINITE_SSTHRESH;
	tp->snd_cwnd_clamp = ~0U;
	tp->snd_cwnd = chance(900) ? TCP_INIT_CWND : (u32)between(1, 1000);
	tp->mss_cache = tp->advmss = (u32)between(88, 9000);
	tp->snd_wnd = ~0U >> 1;
	tp->reordering = 3;
	/* Never seen before the handshake's RTT; sometimes there was none. */
	tp->rtt_min.s[0].v = tp->rtt_min.s[1].v = tp->rtt_min.s[2].v = ~0U;
	if (chance(900))
		sample_rtt(f, (s64)f->weather.rtt_us);
	advance(f, 1);
}

static void run_flow(u32 steps, u64 storage_bytes)
{
	struct flow f = {};

	prepare(&f, storage_bytes);
	CALL(&f, INIT, init, f.sk);
	f.tp->inet_conn.icsk_ca_initialized = 1;
	for (current_step = 0; current_step < steps; current_step++)
		step(&f);
	CALL(&f, RELEASE, release, f.sk);
	dumbbell_forget_socket((u64)(unsigned long)f.storage);
	free(f.storage);
	free(f.before);
	free(f.tp);
}

/*
 * Ends that are not the storm's own.
 */
static void say_where(char *what, int number)
{
	printf("%s %d %s %u %u\n", what, number,
	       current_op < OP_COUNT ? op_names[current_op] : "none", current_flow, current_step);
	fflush(NULL);
}

#ifndef __SANITIZE_ADDRESS__
static void crashed(int number)
{
	say_where("crash", number);
	_exit(1);
}
#endif

/* Called by AddressSanitizer before it reports. */
void __asan_on_error(void);
void __asan_on_error(void)
{
	say_where("crash", 0);
}

static void look(int number)
{
	static u64 seen;
	static u32 unchanged;

	unchanged = call_count == seen && current_op < OP_COUNT ? unchanged + 1 : 0;
	seen = call_count;
	if (unchanged >= CALL_LIMIT_S) {
		say_where("stuck", number);
		_exit(1);
	}
	alarm(1);
}

int main(int argc, char **argv)
{
	u64 number[4];

	if (argc != 5)
		return 2;
	for (int i = 0; i < 4; i++)
		number[i] = strtoul(argv[i + 1], NULL, 10);
#ifndef __SANITIZE_ADDRESS__
	int crashes[] = { SIGILL, SIGTRAP, SIGABRT, SIGFPE, SIGSEGV, SIGBUS };

	for (u32 i = 0; i < sizeof(crashes) / sizeof(int); i++)
		signal(crashes[i], crashed);
#endif
	signal(SIGALRM, look);
	alarm(1);
	random_state = dumbbell_random_state = number[0];
	dumbbell_storage_bytes = number[3];
	for (current_flow = 0; current_flow < number[1]; current_flow++) {
		/* From a socket of a host just booted to one that has run for half a year. */
		dumbbell_now_ns = magnitude(20, 53);
		run_flow((u32)number[2], number[3]);
	}
	for (u32 op = 0; op < OP_COUNT; op++)
		printf("calls %s %llu\n", op_names[op], calls[op]);
	printf("trace %016llx\n", trace);
	return 0;
}
