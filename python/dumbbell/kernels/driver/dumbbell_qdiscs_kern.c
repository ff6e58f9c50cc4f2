// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Queue disciplines of this kernel as queues of dumbbell's links. Each is the root of a device that nothing is sent to:
 * dumbbell's link puts packets in and takes them out. tc(8) makes it, as it does everywhere.
 */
#include <linux/etherdevice.h>
#include <linux/if_arp.h>
#include <linux/if_ether.h>
#include <linux/init.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/netdevice.h>
#include <linux/slab.h>
#include <linux/umh.h>
#include <net/dsfield.h>
#include <net/inet_ecn.h>
#include <net/ipv6.h>
#include <net/pkt_sched.h>
#include <net/sch_generic.h>
#include "dumbbell_kern.h"
#include "dumbbell_tree.h"

struct qdisc {
	struct net_device *device;
	struct Qdisc *is;
};

static struct qdisc *qdiscs;
static unsigned int qdisc_count;
/* The call that the library makes now, and the packet that arrives in it. */
static struct dumbbell_queued *call;
static const struct sk_buff *arriving;

static void note_drop(const struct sk_buff *skb)
{
	if (call && call->drops < call->room)
		call->dropped[call->drops++] = skb->mark;
}

/* A packet is freed that was not taken out. One that arrives is not: a discipline detaches it from its socket (fq). */
static void note_free(struct sk_buff *skb)
{
	if (skb != arriving)
		note_drop(skb);
}

/* What was dropped while a packet was taken out, which newer kernels (7.3) free when the queue is unlocked. */
static void free_dropped(struct Qdisc *is)
{
#ifdef TCQ_F_DEQUEUE_DROPS
	struct sk_buff *dropped;

	if (is->flags & TCQ_F_DEQUEUE_DROPS) {
		dropped = is->to_free;
		is->to_free = NULL;
		kfree_skb_list(dropped);
	}
#endif
}

/*
 * The device's own queue asks for a packet because the discipline's timer said so. It gets none, and dumbbell's link
 * asks instead.
 */
static struct sk_buff *refer_to_link(struct Qdisc *is)
{
	unsigned long flags;
	unsigned int i;

	for (i = 0; i < qdisc_count; i++) {
		if (qdiscs[i].is != is)
			continue;
		local_irq_save(flags);
		dumbbell_arm(dumbbell_qdisc_ready(ktime_get_ns(), i));
		local_irq_restore(flags);
	}
	return NULL;
}

static void write_ecn(struct sk_buff *skb, unsigned int ecn)
{
	if (skb->protocol == htons(ETH_P_IPV6))
		ipv6_change_dsfield(ipv6_hdr(skb), (u8)~INET_ECN_MASK, ecn);
	else
		ipv4_change_dsfield(ip_hdr(skb), (u8)~INET_ECN_MASK, ecn);
}

static unsigned int ecn_of(const struct sk_buff *skb)
{
	if (skb->protocol == htons(ETH_P_IPV6))
		return ipv6_get_dsfield(ipv6_hdr(skb)) & INET_ECN_MASK;
	return ip_hdr(skb)->tos & INET_ECN_MASK;
}

/* A packet of the library with an Ethernet header, as a forwarding host has it. */
static struct sk_buff *packet_of(struct net_device *device, const struct dumbbell_queued *queued)
{
	struct sk_buff *skb = alloc_skb(LL_MAX_HEADER + queued->bytes, GFP_ATOMIC);

	if (!skb)
		return NULL;
	skb_reserve(skb, LL_MAX_HEADER);
	skb_put_data(skb, queued->packet, queued->bytes);
	skb->dev = device;
	skb->protocol = htons(*skb->data >> 4 == 6 ? ETH_P_IPV6 : ETH_P_IP);
	skb_reset_network_header(skb);
	skb_probe_transport_header(skb);
	eth_header(skb, device, ntohs(skb->protocol), NULL, NULL, queued->bytes);
	skb_reset_mac_header(skb);
	write_ecn(skb, queued->ecn);
	qdisc_skb_cb(skb)->pkt_len = skb->len;
#ifdef DUMBBELL_HAS_PKT_SEGS
	qdisc_skb_cb(skb)->pkt_segs = 1;
#endif
	skb->mark = queued->number;
	skb->destructor = note_free;
	return skb;
}

void dumbbell_enqueue(struct dumbbell_queued *queued)
{
	struct qdisc *qdisc = &qdiscs[queued->qdisc];
	struct sk_buff *skb = packet_of(qdisc->device, queued), *to_free = NULL, *each;

	call = queued;
	if (skb) {
		arriving = skb;
		spin_lock(qdisc_lock(qdisc->is));
		qdisc->is->enqueue(skb, qdisc->is, &to_free);
		spin_unlock(qdisc_lock(qdisc->is));
		arriving = NULL;
		for (each = to_free; each; each = each->next)
			if (!each->destructor)
				note_drop(each);
		kfree_skb_list(to_free);
	} else if (queued->room) {
		queued->dropped[queued->drops++] = queued->number;
	}
	call = NULL;
}

void dumbbell_dequeue(struct dumbbell_queued *queued)
{
	struct qdisc *qdisc = &qdiscs[queued->qdisc];
	struct sk_buff *skb;

	call = queued;
	spin_lock(qdisc_lock(qdisc->is));
	skb = qdisc->is->ops->dequeue(qdisc->is);
	spin_unlock(qdisc_lock(qdisc->is));
	free_dropped(qdisc->is);
	queued->number = DUMBBELL_NO_PACKET;
	if (skb) {
		queued->number = skb->mark;
		queued->ecn = ecn_of(skb);
		skb->destructor = NULL;
		consume_skb(skb);
	}
	call = NULL;
}

static netdev_tx_t discard(struct sk_buff *skb, struct net_device *device)
{
	kfree_skb(skb);
	return NETDEV_TX_OK;
}

static const struct net_device_ops device_ops = {
	.ndo_start_xmit = discard,
};

static void set_up(struct net_device *device)
{
	ether_setup(device);
	device->netdev_ops = &device_ops;
	device->flags = IFF_NOARP;
	device->needs_free_netdev = true;
	eth_hw_addr_random(device);
}

static int __init make_qdisc(struct qdisc *qdisc, const struct dumbbell_qdisc *planned)
{
	static const char *const environment[] = { "PATH=/usr/sbin:/usr/bin:/sbin:/bin", NULL };
	int error;

	qdisc->device = alloc_netdev(0, planned->device, NET_NAME_USER, set_up);
	if (!qdisc->device)
		return -ENOMEM;
	error = register_netdev(qdisc->device) ?:
		call_usermodehelper(planned->program, (char **)planned->argv, (char **)environment, UMH_WAIT_PROC);
	if (error)
		/* A program's status is no number of an error. */
		return error < 0 ? error : -EINVAL;
	rtnl_lock();
	error = dev_change_flags(qdisc->device, qdisc->device->flags | IFF_UP, NULL);
	qdisc->is = rtnl_dereference(netdev_get_tx_queue(qdisc->device, 0)->qdisc);
	qdisc->is->dequeue = refer_to_link;
	rtnl_unlock();
	return error;
}

int __init dumbbell_make_qdiscs(unsigned int count)
{
	struct dumbbell_qdisc planned;
	unsigned long flags;
	unsigned int i;
	int error = 0;

	qdiscs = kcalloc(count, sizeof(*qdiscs), GFP_KERNEL);
	if (!qdiscs)
		return -ENOMEM;
#if IS_ENABLED(CONFIG_IPV6)
	/* Or a device would announce itself. */
	init_net.ipv6.devconf_dflt->disable_ipv6 = 1;
#endif
	for (i = 0; i < count && !error; i++) {
		local_irq_save(flags);
		dumbbell_get_qdisc(i, &planned);
		local_irq_restore(flags);
		error = make_qdisc(&qdiscs[i], &planned);
	}
	qdisc_count = count;
	return error;
}
