// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * IPv6 addresses, default routes of a host of programs, and routes with metrics. Linux has no functions for them, so they
 * are requested as programs request them: by messages of rtnetlink.
 */
#include <linux/file.h>
#include <linux/if_addr.h>
#include <linux/inet.h>
#include <linux/net.h>
#include <linux/netdevice.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/net_namespace.h>
#include <net/sock.h>
#include "dumbbell_kern.h"

struct new_address {
	struct nlmsghdr header;
	struct ifaddrmsg fixed;
	struct rtattr local;
	unsigned char address[16];
	struct rtattr flags;
	u32 value;
};

struct new_route {
	struct nlmsghdr header;
	struct rtmsg fixed;
	struct rtattr oif;
	u32 index;
};

struct new_quick_route {
	struct nlmsghdr header;
	struct rtmsg fixed;
	struct rtattr dst;
	__be32 network;
	struct rtattr oif;
	u32 index;
	struct rtattr metrics;
	struct rtattr quick_ack;
	u32 value;
};

/* Sends a message and returns what the kernel answers: 0 or an error. */
static int request(struct net *net, struct nlmsghdr *header, u16 type, u32 bytes)
{
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	struct msghdr message = { .msg_name = &kernel, .msg_namelen = sizeof(kernel) };
	struct kvec vector = { .iov_base = header, .iov_len = bytes };
	struct {
		struct nlmsghdr header;
		struct nlmsgerr error;
	} answer;
	struct socket *socket;
	struct file *file;
	int error;

	header->nlmsg_len = bytes;
	header->nlmsg_type = type;
	header->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL;
	error = sock_create_kern(net, AF_NETLINK, SOCK_RAW, NETLINK_ROUTE, &socket);
	if (error)
		return error;
	/* Privileges are those of who opened its file. */
	file = sock_alloc_file(socket, 0, NULL);
	if (IS_ERR(file))
		return PTR_ERR(file); /* The socket was released. */
	error = kernel_sendmsg(socket, &message, &vector, 1, bytes);
	if (error >= 0) {
		struct msghdr received = {};

		vector = (struct kvec){ .iov_base = &answer, .iov_len = sizeof(answer) };
		error = kernel_recvmsg(socket, &received, &vector, 1, sizeof(answer), MSG_DONTWAIT);
		if (error >= 0)
			error = error < (int)sizeof(answer) ? -EPROTO : answer.error.error;
	}
	fput(file);
	return error;
}

static int add_address6(struct net *net, int index, const unsigned char *address)
{
	struct new_address message = {
		.fixed = { .ifa_family = AF_INET6, .ifa_prefixlen = 128, .ifa_index = index },
		.local = { .rta_len = RTA_LENGTH(16), .rta_type = IFA_LOCAL },
		.flags = { .rta_len = RTA_LENGTH(4), .rta_type = IFA_FLAGS },
		/* It may be used at once: no other host can have it. */
		.value = IFA_F_NOPREFIXROUTE | IFA_F_NODAD,
	};

	memcpy(message.address, address, sizeof(message.address));
	return request(net, &message.header, RTM_NEWADDR, sizeof(message));
}

static int add_default_route(struct net *net, int index, unsigned char family)
{
	struct new_route message = {
		.fixed = {
			.rtm_family = family,
			.rtm_table = RT_TABLE_MAIN,
			.rtm_protocol = RTPROT_STATIC,
			.rtm_scope = RT_SCOPE_LINK,
			.rtm_type = RTN_UNICAST,
		},
		.oif = { .rta_len = RTA_LENGTH(4), .rta_type = RTA_OIF },
		.index = index,
	};

	return request(net, &message.header, RTM_NEWROUTE, sizeof(message));
}

int dumbbell_set_routes(struct net *net, struct net_device *device, const struct dumbbell_host *host)
{
	int error = add_default_route(net, device->ifindex, AF_INET);

	if (error || !IS_ENABLED(CONFIG_IPV6))
		return error;
	return add_address6(net, device->ifindex, host->address6) ?:
	       add_default_route(net, device->ifindex, AF_INET6);
}

/* Does what `ip route add … quickack 1` does, for all hosts: by two routes that are narrower than the device's own. */
int dumbbell_acknowledge_at_once(struct net *net, struct net_device *device)
{
	static const u32 networks[] = { 0x0a000000, 0x0a800000 };
	unsigned int i;
	int error = 0;

	for (i = 0; i < ARRAY_SIZE(networks) && !error; i++) {
		struct new_quick_route message = {
			.fixed = {
				.rtm_family = AF_INET,
				.rtm_dst_len = 9,
				.rtm_table = RT_TABLE_MAIN,
				.rtm_protocol = RTPROT_STATIC,
				.rtm_scope = RT_SCOPE_LINK,
				.rtm_type = RTN_UNICAST,
			},
			.dst = { .rta_len = RTA_LENGTH(4), .rta_type = RTA_DST },
			.network = htonl(networks[i]),
			.oif = { .rta_len = RTA_LENGTH(4), .rta_type = RTA_OIF },
			.index = device->ifindex,
			.metrics = { .rta_len = RTA_LENGTH(RTA_LENGTH(4)), .rta_type = RTA_METRICS },
			.quick_ack = { .rta_len = RTA_LENGTH(4), .rta_type = RTAX_QUICKACK },
			.value = 1,
		};

		error = request(net, &message.header, RTM_NEWROUTE, sizeof(message));
	}
	return error;
}
