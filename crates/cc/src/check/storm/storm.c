// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * A storm: random but legal calls into one congestion control, for `dumbbell cc check`.
 *
 * The program holds no TCP. It keeps the counters of a socket consistent as Linux's would be, draws
 * what happens next (ACKs with and without SACKs, losses, timeouts, reordering that is undone, ECN
 * echoes, idle times, changes of MSS, windows, RTTs and rates from one extreme to the other) and
 * calls the ops in the order in which net/ipv4/tcp_input.c, tcp_output.c and tcp_timer.c would.
 * After each call it checks what the congestion control has done.
 *
 *	storm SEED FLOWS STEPS STORAGE_BYTES [PARAMETER=VALUE ...]
 *
 * Output, a line each:
 *
 *	problem <kind> <op> <flow> <step> <value>
 *	calls <op> <count>
 *	trace <digest of everything that was written>
 *
 * It is compiled with -Dconst=, because the sender's side writes what an algorithm must
 * not, and uses no header of libc, whose types are not the kernel's. For a kernel module
 * -DSTORM_OF_MODULE, else -DOPS_TABLE= the variable.
 */
#include "acks.h"
#include "settings.h"

/* Seconds for one call. */
#define CALL_LIMIT_S	3

extern u64 dumbbell_random_state;
extern u64 dumbbell_storage_bytes;
extern void dumbbell_forget_socket(u64 cookie);

#ifdef STORM_OF_MODULE
extern struct tcp_congestion_ops *dumbbell_registered;
extern int dumbbell_load_module(void);
#else
extern struct tcp_congestion_ops OPS_TABLE;
#endif

/* The table of the congestion control; NULL: a kernel module that does not start. */
static struct tcp_congestion_ops *registered_ops(void)
{
#ifdef STORM_OF_MODULE
	return dumbbell_load_module() ? NULL : dumbbell_registered;
#else
	return &OPS_TABLE;
#endif
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

static void prepare(struct flow *f, struct tcp_congestion_ops *ops, u64 storage_bytes)
{
	struct tcp_sock *tp = calloc(1, sizeof(*tp));

	f->ops = ops;
	f->tp = tp;
	f->sk = (struct sock *)tp;
	f->before = calloc(1, sizeof(*tp));
	f->storage_words = (storage_bytes + 7) / 8;
	/* A further word, in which maps.c records whether the value exists. */
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

/* In init a kernel module may give its socket another table. */
static void start(struct flow *f)
{
#ifdef STORM_OF_MODULE
	f->tp->inet_conn.icsk_ca_ops = f->ops;
#endif
	CALL(f, INIT, init, f->sk);
#ifdef STORM_OF_MODULE
	f->ops = f->tp->inet_conn.icsk_ca_ops;
#endif
}

static void run_flow(struct tcp_congestion_ops *ops, u32 steps, u64 storage_bytes)
{
	struct flow f = {};

	prepare(&f, ops, storage_bytes);
	start(&f);
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
 * Ends that the storm does not cause itself.
 */
static void say_where(char *what, int number)
{
	printf("%s %d %s %u %u\n", what, number,
	       current_op < OP_COUNT ? op_names[current_op] : "none", current_flow, current_step);
	fflush(NULL);
}

/* AddressSanitizer handles some of these itself, by its options. */
static void crashed(int number)
{
	say_where("crash", number);
	_exit(1);
}

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
	int crashes[] = { SIGILL, SIGTRAP, SIGABRT, SIGFPE, SIGSEGV, SIGBUS };
	struct tcp_congestion_ops *ops;
	u64 number[4];

	if (argc < 5)
		return 2;
	for (int i = 0; i < 4; i++)
		number[i] = strtoul(argv[i + 1], NULL, 10);
	for (u32 i = 0; i < sizeof(crashes) / sizeof(int); i++)
		signal(crashes[i], crashed);
	signal(SIGALRM, look);
	alarm(1);
	random_state = dumbbell_random_state = number[0];
	dumbbell_storage_bytes = number[3];
	for (int i = 5; i < argc; i++)
		if (!set(argv[i]))
			return 2;
	ops = registered_ops();
	if (!ops)
		return 2;
	for (current_flow = 0; current_flow < number[1]; current_flow++) {
		/* From a socket of a host just booted to one that has run for half a year. */
		dumbbell_now_ns = magnitude(20, 53);
		run_flow(ops, (u32)number[2], number[3]);
	}
	for (u32 op = 0; op < OP_COUNT; op++)
		printf("calls %s %llu\n", op_names[op], calls[op]);
	printf("trace %016llx\n", trace);
	return 0;
}
