/* SPDX-License-Identifier: MIT */
/*
 * qpattr-witness: a program that is linked with librdmacm, as people's programs are. It
 * binds an id to the first address of this machine that an RDMA device has, asks for
 * INIT's attributes, and says what came. `qpattr doctor` runs it under the preload
 * object, whose own line on standard error says who served.
 */
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/rdma_cma.h>

static int fail(const char *what)
{
	printf("%s: %s\n", what, strerror(errno));
	return 1;
}

/* Whether the id has a device now. */
static int bound(struct rdma_cm_id *id, const struct ifaddrs *to)
{
	const int family = to->ifa_addr ? to->ifa_addr->sa_family : AF_UNSPEC;

	if ((family != AF_INET && family != AF_INET6) || !(to->ifa_flags & IFF_UP) || (to->ifa_flags & IFF_LOOPBACK))
		return 0;
	return rdma_bind_addr(id, to->ifa_addr) == 0 && id->verbs;
}

int main(void)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_id *id = NULL;
	struct ifaddrs *all = NULL, *each;
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT};
	int mask = 0;

	if (!channel)
		return fail("rdma_create_event_channel");
	if (getifaddrs(&all))
		return fail("getifaddrs");
	for (each = all; each; each = each->ifa_next) {
		if (rdma_create_id(channel, &id, NULL, RDMA_PS_TCP))
			return fail("rdma_create_id");
		if (bound(id, each))
			break;
		rdma_destroy_id(id);
	}
	if (!each) {
		/* Discovery can be seen all the same; the kernel's answer is EINVAL. */
		if (rdma_create_id(channel, &id, NULL, RDMA_PS_TCP))
			return fail("rdma_create_id");
		rdma_init_qp_attr(id, &attr, &mask);
		printf("no address of this machine leads to an RDMA device\n");
		return 1;
	}
	if (rdma_init_qp_attr(id, &attr, &mask))
		return fail("rdma_init_qp_attr");
	printf("INIT on %s, mask 0x%x\n", ibv_get_device_name(id->verbs->device), (unsigned int)mask);
	rdma_destroy_id(id);
	freeifaddrs(all);
	rdma_destroy_event_channel(channel);
	return 0;
}
