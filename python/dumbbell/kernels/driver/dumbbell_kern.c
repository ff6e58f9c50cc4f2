// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Runs a scenario of dumbbell on this kernel's TCP, in virtual time. Hosts are network namespaces with one device each;
 * what a device sends enters the network of dumbbell's library, and what leaves that is received by a device. Flows
 * are sockets of kernel threads: a program's system calls would take longer than all of TCP.
 */
#include <linux/etherdevice.h>
#include <linux/hrtimer.h>
#include <linux/if_arp.h>
#include <linux/inetdevice.h>
#include <linux/init.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/nsproxy.h>
#include <linux/reboot.h>
#include <linux/slab.h>
#include <linux/utsname.h>
#include <linux/version.h>
#include <linux/vmalloc.h>
#include <linux/virtio_net.h>
#include <net/net_namespace.h>
#include <net/sock.h>
#include <net/tcp.h>
#include <linux/inet_diag.h>
#include "dumbbell_kern.h"
#include "dumbbell_tree.h"

/* The host of a group of programs sends TCP over IPv6 too, and UDP in super-packets where virtio-net has them. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 2, 0)
#define OFFLOADS_OF_PROGRAMS (NETIF_F_TSO6 | NETIF_F_GSO_UDP_L4)
#else
#define OFFLOADS_OF_PROGRAMS NETIF_F_TSO6
#endif
/* From the moment that everything is ready to the start of the run. */
#define LEAD_NS (20 * NSEC_PER_MSEC)
/* PIE drops nothing in the first half of a second after it was made. */
#define LEAD_OF_QDISCS_NS (500 * NSEC_PER_MSEC)
/*
 * A run starts at a multiple of it, however long its preparation took: at the same phase of TCP's ticks (1 ms at most) and
 * of CoDel's (1024 ns).
 */
#define PHASE_NS (1024ull * NSEC_PER_MSEC)
/* What may wait between a host's TCP and the network: nothing waits, but a socket looks at it. */
#define TXQUEUELEN 65536
#define DISCARDED_BYTES (1 << 20)
#define MIN_LISTENERS 4096

struct host {
	struct dumbbell_host is;
	struct net *net;
	struct net_device *device;
	struct socket *listener;
};

struct flow {
	struct dumbbell_flow is;
	unsigned int number;
	struct socket *sender;
	struct socket *receiver;
	u64 written_bytes;
	bool is_established;
	bool has_finished;
};

static struct dumbbell_run run;
static struct host *hosts;
static struct flow *flows;
static u64 epoch_ns;
static struct hrtimer timer;
static u64 armed_ns = DUMBBELL_NONE;
static u8 *frame;
static u8 *payload;
/* The thread that ends the run, and whether that is before its time. */
static struct task_struct *sampler;
static bool has_ended_early;

static u64 now_ns(void)
{
	return ktime_get_ns();
}

/* ---- The network ---- */

void dumbbell_arm(u64 due_ns)
{
	if (due_ns >= armed_ns)
		return;
	armed_ns = due_ns;
	hrtimer_start(&timer, ns_to_ktime(due_ns), HRTIMER_MODE_ABS_SOFT);
}

/* A frame that has left the network reaches a host. */
static void receive(struct host *host, const void *bytes, unsigned int length)
{
	const struct virtio_net_hdr *header = bytes;
	unsigned int packet_bytes = length - sizeof(*header);
	struct sk_buff *skb = netdev_alloc_skb(host->device, packet_bytes);

	if (!skb) {
		host->device->stats.rx_dropped++;
		return;
	}
	skb_put_data(skb, (const u8 *)bytes + sizeof(*header), packet_bytes);
	skb->protocol = htons(*skb->data >> 4 == 6 ? ETH_P_IPV6 : ETH_P_IP);
	skb_reset_mac_header(skb);
	if (virtio_net_hdr_to_skb(skb, header, true)) {
		host->device->stats.rx_dropped++;
		kfree_skb(skb);
		return;
	}
	skb_reset_network_header(skb);
	skb_probe_transport_header(skb);
	host->device->stats.rx_packets++;
	host->device->stats.rx_bytes += packet_bytes;
	netif_receive_skb(skb);
}

static enum hrtimer_restart on_timer(struct hrtimer *unused)
{
	unsigned int host, length;
	const void *bytes;
	u64 due_ns, at_ns;
	unsigned long flags;

	armed_ns = 0; /* What hosts send meanwhile does not start the timer. */
	do {
		at_ns = now_ns();
		local_irq_save(flags);
		due_ns = dumbbell_advance(at_ns);
		length = dumbbell_take(&host, &bytes);
		local_irq_restore(flags);
		while (length) {
			receive(&hosts[host], bytes, length);
			local_irq_save(flags);
			length = dumbbell_take(&host, &bytes);
			due_ns = 0;
			local_irq_restore(flags);
		}
	} while (due_ns <= at_ns);
	armed_ns = DUMBBELL_NONE;
	if (due_ns != DUMBBELL_NONE)
		dumbbell_arm(due_ns);
	return HRTIMER_NORESTART;
}

static netdev_tx_t transmit(struct sk_buff *skb, struct net_device *device)
{
	struct host *host = *(struct host **)netdev_priv(device);
	struct virtio_net_hdr header;
	unsigned int length = sizeof(header) + skb->len;
	unsigned long flags;
	u64 due_ns;

	skb_tx_timestamp(skb);
	if (length > run.largest_bytes || virtio_net_hdr_from_skb(skb, &header, true, false, 0) ||
	    skb_copy_bits(skb, 0, frame + sizeof(header), skb->len)) {
		device->stats.tx_dropped++;
	} else {
		memcpy(frame, &header, sizeof(header));
		device->stats.tx_packets++;
		device->stats.tx_bytes += skb->len;
		local_irq_save(flags);
		due_ns = dumbbell_enter(now_ns(), host - hosts, frame, length);
		local_irq_restore(flags);
		dumbbell_arm(due_ns);
	}
	/* As a TUN device does: the socket does not wait for it. */
	consume_skb(skb);
	return NETDEV_TX_OK;
}

static const struct net_device_ops device_ops = {
	.ndo_start_xmit = transmit,
};

static void set_up(struct net_device *device)
{
	device->netdev_ops = &device_ops;
	device->type = ARPHRD_NONE;
	device->flags = IFF_NOARP;
	device->hard_header_len = 0;
	device->addr_len = 0;
	device->min_mtu = 68;
	device->max_mtu = 65535;
	device->tx_queue_len = TXQUEUELEN;
	device->priv_flags |= IFF_NO_QUEUE;
	device->features = NETIF_F_SG | NETIF_F_FRAGLIST | NETIF_F_HW_CSUM | NETIF_F_TSO | NETIF_F_TSO_ECN;
	device->hw_features = device->features;
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
	device->lltx = true;
#else
	device->features |= NETIF_F_LLTX;
#endif
	device->needs_free_netdev = true;
}

/* ---- Hosts ---- */

static int set_address(struct host *host)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	struct ifreq request = {};
	int error;

	strscpy(request.ifr_name, host->device->name, IFNAMSIZ);
	address.sin_addr.s_addr = host->is.address;
	memcpy(&request.ifr_addr, &address, sizeof(address));
	error = devinet_ioctl(host->net, SIOCSIFADDR, &request);
	if (error)
		return error;
	/* The network of all hosts, so that no route is needed. */
	address.sin_addr.s_addr = htonl(0xff000000);
	memcpy(&request.ifr_addr, &address, sizeof(address));
	return devinet_ioctl(host->net, SIOCSIFNETMASK, &request);
}

static int make_host(struct host *host)
{
	struct net *net = copy_net_ns(CLONE_NEWNET, current_user_ns(), current->nsproxy->net_ns);
	struct net_device *device;
	int error;

	if (IS_ERR(net))
		return PTR_ERR(net);
	host->net = net;
	if (host->is.rmem[2])
		memcpy(net->ipv4.sysctl_tcp_rmem, host->is.rmem, sizeof(host->is.rmem));
	if (host->is.wmem[2])
		memcpy(net->ipv4.sysctl_tcp_wmem, host->is.wmem, sizeof(host->is.wmem));
	net->ipv4.sysctl_tcp_nometrics_save = !host->is.runs_programs;
	net->ipv4.sysctl_tcp_slow_start_after_idle = host->is.slow_start_after_idle;
	net->ipv4.sysctl_tcp_ecn = host->is.ecn;
#ifdef DUMBBELL_HAS_ACCECN
	if (host->is.no_accecn_option)
		net->ipv4.sysctl_tcp_ecn_option = 0;
#endif
#if IS_ENABLED(CONFIG_IPV6)
	/* Or its device would announce itself to the network. */
	net->ipv6.devconf_all->disable_ipv6 = !host->is.runs_programs;
	net->ipv6.devconf_dflt->disable_ipv6 = !host->is.runs_programs;
	net->ipv6.devconf_dflt->addr_gen_mode = IN6_ADDR_GEN_MODE_NONE;
	net->ipv6.devconf_dflt->accept_ra = 0;
#endif
	if (host->is.runs_programs && host->is.cc[0]) {
		/* Which lets other namespaces have it. */
		error = tcp_set_default_congestion_control(&init_net, host->is.cc) ?:
			tcp_set_default_congestion_control(net, host->is.cc) ?:
			tcp_set_default_congestion_control(&init_net, CONFIG_DEFAULT_TCP_CONG);
		if (error)
			return error;
	}
	device = alloc_netdev(sizeof(struct host *), "tun0", NET_NAME_UNKNOWN, set_up);
	if (!device)
		return -ENOMEM;
	*(struct host **)netdev_priv(device) = host;
	dev_net_set(device, net);
	device->mtu = host->is.mtu;
	if (host->is.runs_programs) {
		device->features |= OFFLOADS_OF_PROGRAMS;
		device->hw_features |= OFFLOADS_OF_PROGRAMS;
	}
	error = register_netdev(device);
	if (error)
		return error;
	host->device = device;
	error = set_address(host);
	if (error)
		return error;
	rtnl_lock();
	if (host->is.gso_max_segs)
		WRITE_ONCE(device->gso_max_segs, host->is.gso_max_segs);
	error = dev_change_flags(device, device->flags | IFF_UP, NULL);
	if (!error && host->is.runs_programs)
		error = dev_change_flags(net->loopback_dev, net->loopback_dev->flags | IFF_UP, NULL);
	rtnl_unlock();
	if (!error && host->is.runs_programs)
		error = dumbbell_set_routes(net, device, &host->is);
	if (!error && host->is.quick_ack)
		error = dumbbell_acknowledge_at_once(net, device);
	return error;
}

struct net *dumbbell_net_of(unsigned int host)
{
	return hosts[host].net;
}

static const struct dumbbell_host *host_of(unsigned int host)
{
	return &hosts[host].is;
}

/* ---- Sockets ---- */

static int set_option(struct socket *socket, int level, int option, const void *value, unsigned int bytes)
{
	if (level == SOL_SOCKET)
		return sock_setsockopt(socket, level, option, KERNEL_SOCKPTR((void *)value), bytes);
	return socket->ops->setsockopt(socket, level, option, KERNEL_SOCKPTR((void *)value), bytes);
}

static int set_number(struct socket *socket, int level, int option, int value)
{
	return set_option(socket, level, option, &value, sizeof(value));
}

static int bind_to(struct socket *socket, unsigned int address, unsigned short port)
{
	struct sockaddr_in to = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = address,
	};

	sock_set_reuseaddr(socket->sk);
	return kernel_bind(socket, (void *)&to, sizeof(to));
}

static int clamp_window(struct socket *socket, unsigned int bytes)
{
	return bytes ? set_number(socket, IPPROTO_TCP, TCP_WINDOW_CLAMP, bytes) : 0;
}

static int listen_at(struct host *host)
{
	struct socket *socket;
	int error = sock_create_kern(host->net, AF_INET, SOCK_STREAM, IPPROTO_TCP, &socket);

	if (error)
		return error;
	host->listener = socket;
	if (host->is.rcvbuf_bytes)
		error = set_number(socket, SOL_SOCKET, SO_RCVBUFFORCE, host->is.rcvbuf_bytes / 2);
	if (!error)
		error = clamp_window(socket, host->is.window_bytes);
	if (!error && host->is.dscp)
		error = set_number(socket, IPPROTO_IP, IP_TOS, host->is.dscp << 2);
	if (!error)
		error = bind_to(socket, host->is.address, host->is.port);
	host->net->core.sysctl_somaxconn = MIN_LISTENERS;
	if (!error)
		error = kernel_listen(socket, MIN_LISTENERS);
	return error;
}

static int make_sender(struct flow *flow)
{
	struct host *host = &hosts[flow->is.sender];
	struct socket *socket;
	int error = sock_create_kern(host->net, AF_INET, SOCK_STREAM, IPPROTO_TCP, &socket);

	if (error)
		return error;
	flow->sender = socket;
	error = set_option(socket, IPPROTO_TCP, TCP_CONGESTION, flow->is.cc, strnlen(flow->is.cc, sizeof(flow->is.cc)));
	if (error)
		return error;
	if (flow->is.sndbuf_bytes)
		error = set_number(socket, SOL_SOCKET, SO_SNDBUFFORCE, flow->is.sndbuf_bytes / 2);
	else
		error = set_number(socket, IPPROTO_TCP, TCP_NOTSENT_LOWAT, flow->is.notsent_lowat_bytes);
	if (!error && flow->is.nodelay)
		error = set_number(socket, IPPROTO_TCP, TCP_NODELAY, 1);
	if (!error && flow->is.dscp)
		error = set_number(socket, IPPROTO_IP, IP_TOS, flow->is.dscp << 2);
	return error ?: bind_to(socket, host->is.address, flow->is.port);
}

void dumbbell_sleep_until(unsigned long long at_ns)
{
	ktime_t at = ns_to_ktime(at_ns);

	while (now_ns() < at_ns) {
		set_current_state(TASK_UNINTERRUPTIBLE);
		schedule_hrtimeout(&at, HRTIMER_MODE_ABS);
	}
}

static struct dumbbell_answer info_of(struct socket *socket, struct tcp_info *info)
{
	struct dumbbell_answer none = {};

	if (!socket)
		return none;
	tcp_get_info(socket->sk, info);
	return (struct dumbbell_answer){ .bytes = info, .length = sizeof(*info) };
}

static void note_established(struct flow *flow)
{
	struct tcp_info info;
	struct dumbbell_answer answer = info_of(flow->sender, &info);
	unsigned long flags;

	local_irq_save(flags);
	dumbbell_established(now_ns(), flow->number, answer);
	local_irq_restore(flags);
	flow->is_established = true;
}

static bool is_over(struct sock *sk)
{
	int state = READ_ONCE(sk->sk_state);

	return state == TCP_FIN_WAIT2 || state == TCP_TIME_WAIT || state == TCP_CLOSE;
}

/* Writes until the flow's end; 0 or an error. */
static int write_all(struct flow *flow)
{
	u64 stop_ns = flow->is.stop_ns == DUMBBELL_NONE ? DUMBBELL_NONE : epoch_ns + flow->is.stop_ns;
	struct sock *sk = flow->sender->sk;

	while (flow->written_bytes < flow->is.size_bytes) {
		u64 left = flow->is.size_bytes - flow->written_bytes;
		int wanted = min_t(u64, left, flow->is.write_bytes);
		struct kvec vector = { .iov_base = payload, .iov_len = wanted };
		struct msghdr message = { .msg_flags = MSG_NOSIGNAL };
		u64 at_ns = now_ns();
		int written;

		if (at_ns >= stop_ns)
			break;
		if (stop_ns != DUMBBELL_NONE)
			WRITE_ONCE(sk->sk_sndtimeo, max_t(long, 1, nsecs_to_jiffies(stop_ns - at_ns)));
		/* Counted before it can arrive. */
		flow->written_bytes += wanted;
		written = kernel_sendmsg(flow->sender, &message, &vector, 1, wanted);
		flow->written_bytes -= wanted - max(written, 0);
		if (written < 0 && written != -EAGAIN)
			return written;
	}
	return 0;
}

static void fail(const char *what, struct flow *flow, int error)
{
	unsigned long flags;

	local_irq_save(flags);
	dumbbell_failed(what, flow ? (int)flow->number : -1, error);
	local_irq_restore(flags);
	kernel_power_off();
}

static int send_flow(void *data)
{
	struct flow *flow = data;
	struct host *receiver = &hosts[flow->is.receiver];
	struct sockaddr_in to = {
		.sin_family = AF_INET,
		.sin_port = htons(receiver->is.port),
		.sin_addr.s_addr = receiver->is.address,
	};
	struct sock *sk = flow->sender->sk;
	unsigned long flags;
	int error;

	dumbbell_sleep_until(epoch_ns + flow->is.start_ns);
	error = kernel_connect(flow->sender, (void *)&to, sizeof(to), 0);
	if (error) {
		fail("could not connect", flow, error);
		return 0;
	}
	note_established(flow);
	error = write_all(flow);
	if (error) {
		fail("was cut off before its end", flow, error);
		return 0;
	}
	kernel_sock_shutdown(flow->sender, SHUT_WR);
	/* TCP wakes only who can be interrupted, which nothing does. */
	wait_event_interruptible(*sk_sleep(sk), is_over(sk));
	local_irq_save(flags);
	dumbbell_finished(now_ns(), flow->number);
	local_irq_restore(flags);
	flow->has_finished = true;
	return 0;
}

static int receive_flow(void *data)
{
	struct flow *flow = data;
	struct host *host = &hosts[flow->is.receiver];
	u64 prompt_bytes = flow->is.prompt_bytes;
	bool is_first = true;

	for (;;) {
		struct kvec vector = { .iov_base = payload, .iov_len = DISCARDED_BYTES };
		struct msghdr message = { .msg_flags = MSG_TRUNC };
		int bytes = kernel_recvmsg(flow->receiver, &message, &vector, 1, DISCARDED_BYTES, MSG_TRUNC);

		if (bytes <= 0)
			break;
		/* With the first data Linux sets the clamp again, from the size of the buffer (since 6.9). */
		if (is_first)
			clamp_window(flow->receiver, host->is.window_bytes);
		is_first = false;
		if (prompt_bytes) {
			prompt_bytes -= min_t(u64, prompt_bytes, bytes);
			if (!prompt_bytes)
				set_number(flow->receiver, SOL_SOCKET, SO_RCVLOWAT, flow->is.low_water_bytes);
		}
	}
	kernel_sock_shutdown(flow->receiver, SHUT_WR);
	return 0;
}

static struct flow *flow_of(unsigned int receiver, unsigned short port)
{
	unsigned int i;

	for (i = 0; i < run.flows; i++)
		if (flows[i].is.receiver == receiver && flows[i].is.port == port && !flows[i].receiver)
			return &flows[i];
	return NULL;
}

static int accept_flows(void *data)
{
	struct host *host = data;

	for (;;) {
		struct sockaddr_in peer = {};
		struct socket *socket;
		struct flow *flow;

		if (kernel_accept(host->listener, &socket, 0))
			return 0;
		kernel_getpeername(socket, (struct sockaddr *)&peer);
		flow = flow_of(host - hosts, ntohs(peer.sin_port));
		if (!flow) {
			sock_release(socket);
			continue;
		}
		flow->receiver = socket;
		kthread_run(receive_flow, flow, "receive-%u", flow->number);
	}
}

unsigned int dumbbell_flow_of(const void *socket)
{
	unsigned int i;

	for (i = 0; i < run.flows; i++)
		if (flows[i].sender && flows[i].sender->sk == socket)
			return flows[i].number;
	return DUMBBELL_NO_FLOW;
}

/* ---- The run ---- */

static void look_at(struct flow *flow, void (*tell)(struct flow *, const struct dumbbell_state *))
{
	static struct tcp_info sender, receiver;
	static union tcp_cc_info cc;
	const struct tcp_congestion_ops *ops = inet_csk(flow->sender->sk)->icsk_ca_ops;
	struct dumbbell_state state = {
		.sender = info_of(flow->sender, &sender),
		.receiver = info_of(flow->receiver, &receiver),
		.name = ops->name,
		.written_bytes = flow->written_bytes,
		.lost_pkts = tcp_sk(flow->sender->sk)->lost,
		.handle = dumbbell_handle_of(flow->sender->sk),
	};
	unsigned long flags;
	int attribute;

	if (ops->get_info) {
		state.cc.length = ops->get_info(flow->sender->sk, ~0U, &attribute, &cc);
		state.cc.bytes = &cc;
	}
	local_irq_save(flags);
	tell(flow, &state);
	local_irq_restore(flags);
}

static void tell_sample(struct flow *flow, const struct dumbbell_state *state)
{
	dumbbell_sample(now_ns(), flow->number, state);
}

static void tell_final(struct flow *flow, const struct dumbbell_state *state)
{
	dumbbell_final(flow->number, state);
}

/* Sleeps, unless the run ends before. */
static void await(u64 at_ns)
{
	ktime_t at = ns_to_ktime(at_ns);

	for (;;) {
		set_current_state(TASK_UNINTERRUPTIBLE);
		if (has_ended_early || now_ns() >= at_ns)
			break;
		schedule_hrtimeout(&at, HRTIMER_MODE_ABS);
	}
	__set_current_state(TASK_RUNNING);
}

void dumbbell_end_early(void)
{
	has_ended_early = true;
	wake_up_process(sampler);
}

static void sample_until_end(void)
{
	unsigned int i, signal;
	unsigned long flags;
	u64 instant_ns;

	for (instant_ns = run.sample_interval_ns; instant_ns <= run.duration_ns; instant_ns += run.sample_interval_ns) {
		await(epoch_ns + instant_ns);
		if (has_ended_early)
			break;
		for (i = 0; i < run.flows; i++)
			if (flows[i].is_established && !flows[i].has_finished)
				look_at(&flows[i], tell_sample);
		local_irq_save(flags);
		signal = dumbbell_sampled(now_ns(), instant_ns);
		local_irq_restore(flags);
		if (signal)
			dumbbell_signal_clients(signal);
	}
	await(epoch_ns + run.duration_ns);
	if (run.programs) {
		local_irq_save(flags);
		dumbbell_arm(dumbbell_over(now_ns()));
		local_irq_restore(flags);
	}
	for (i = 0; i < run.flows; i++)
		look_at(&flows[i], tell_final);
	if (run.programs)
		dumbbell_end_programs();
	local_irq_save(flags);
	dumbbell_end(now_ns());
	local_irq_restore(flags);
}

static int make_run(void)
{
	unsigned long flags;
	unsigned int i;
	int error;

	hosts = kcalloc(run.hosts, sizeof(*hosts), GFP_KERNEL);
	flows = kvcalloc(run.flows, sizeof(*flows), GFP_KERNEL);
	frame = kvmalloc(run.largest_bytes, GFP_KERNEL);
	payload = kvzalloc(DISCARDED_BYTES, GFP_KERNEL);
	if (!hosts || !flows || !frame || !payload)
		return -ENOMEM;
	for (i = 0; i < run.hosts; i++) {
		local_irq_save(flags);
		dumbbell_get_host(i, &hosts[i].is);
		local_irq_restore(flags);
		error = make_host(&hosts[i]);
		if (!error && hosts[i].is.listens)
			error = listen_at(&hosts[i]);
		if (error)
			return error;
	}
	for (i = 0; i < run.flows; i++) {
		local_irq_save(flags);
		dumbbell_get_flow(i, &flows[i].is);
		local_irq_restore(flags);
		flows[i].number = flows[i].is.number;
		error = make_sender(&flows[i]);
		if (error) {
			fail(error == -ENOENT ? "no such congestion control" : "could not be made", &flows[i], error);
			return error;
		}
	}
	return 0;
}

static int __init dumbbell_main(void)
{
	unsigned long flags;
	unsigned int i;
	int error;

	strscpy(run.release, init_utsname()->release, sizeof(run.release));
	local_irq_save(flags);
	run.fields = dumbbell_fields;
	run.field_count = dumbbell_field_count;
	run.hz = HZ;
	error = dumbbell_open(&run);
	local_irq_restore(flags);
	if (error > 0)
		return 0;
	if (error) {
		kernel_power_off();
		return error;
	}
	/* Memory of the guest is not what a run is about. */
	for (i = 0; i < 3; i++)
		sysctl_tcp_mem[i] = 1 << 30;
	/* Programs have the kernel's limits. */
	if (!run.programs)
		sysctl_wmem_max = sysctl_rmem_max = 1 << 30;
	sampler = current;
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
	hrtimer_setup(&timer, on_timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
#else
	hrtimer_init(&timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	timer.function = on_timer;
#endif
	error = dumbbell_register_ccs(run.ccs) ?: make_run();
	if (error) {
		fail("the hosts could not be made", NULL, error);
		return error;
	}
	if (run.programs) {
		error = dumbbell_make_programs(run.programs, host_of);
		if (error) {
			fail("programs cannot be run in this kernel", NULL, error);
			return error;
		}
		dumbbell_start_servers();
	}
	if (run.qdiscs) {
		error = (run.programs ? 0 : dumbbell_mount_files("/")) ?: dumbbell_make_qdiscs(run.qdiscs);
		if (error) {
			fail("queue disciplines of this kernel could not be made", NULL, error);
			return error;
		}
	}
	epoch_ns = roundup(now_ns() + (run.qdiscs ? LEAD_OF_QDISCS_NS : LEAD_NS), PHASE_NS);
	local_irq_save(flags);
	dumbbell_begin(now_ns(), epoch_ns);
	local_irq_restore(flags);
	dumbbell_arm(epoch_ns);
	for (i = 0; i < run.hosts; i++)
		if (hosts[i].listener)
			kthread_run(accept_flows, &hosts[i], "accept-%u", i);
	for (i = 0; i < run.flows; i++)
		if (flows[i].is.start_ns < run.duration_ns)
			kthread_run(send_flow, &flows[i], "send-%u", i);
	if (run.programs)
		dumbbell_start_clients(epoch_ns);
	sample_until_end();
	kernel_power_off();
	return 0;
}
late_initcall_sync(dumbbell_main);
