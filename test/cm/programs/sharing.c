/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include "check.h"
#include "pingpong.h"

static struct rdma_cm_id *with(struct rdma_event_channel *channel, int option, int value)
{
	struct rdma_cm_id *id;

	MUST(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
	if (option >= 0)
		MUST(rdma_set_option(id, RDMA_OPTION_ID, option, &value, sizeof value));
	return id;
}

void check_sharing(struct rdma_event_channel *channel, struct party *party, uint16_t port)
{
	struct sockaddr_storage storage;
	struct sockaddr *address = party_address(party, RDMA_PS_TCP, port, &storage);
	struct sockaddr_in6 any6 = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
	struct sockaddr_in any4 = {.sin_family = AF_INET, .sin_port = htons(port)};
	struct rdma_cm_id *first = with(channel, -1, 0), *second = with(channel, -1, 0), *third;

	MUST(rdma_bind_addr(first, address));
	check(rdma_bind_addr(second, address) == -1 && errno == EADDRINUSE, "a port is had once", "it is not EADDRINUSE");
	MUST(rdma_destroy_id(first));
	MUST(rdma_destroy_id(second));

	first = with(channel, RDMA_OPTION_ID_REUSEADDR, 1);
	second = with(channel, RDMA_OPTION_ID_REUSEADDR, 1);
	third = with(channel, -1, 0);
	MUST(rdma_bind_addr(first, address));
	check(rdma_bind_addr(second, address) == 0, "with REUSEADDR twice", "it failed");
	check(rdma_bind_addr(third, address) == -1, "but not by one without it", "it bound");
	MUST(rdma_destroy_id(first));
	MUST(rdma_destroy_id(second));
	MUST(rdma_destroy_id(third));

	/* An IPv6 wildcard is IPv4's as well, unless it is told not to be. */
	first = with(channel, RDMA_OPTION_ID_AFONLY, 0);
	second = with(channel, -1, 0);
	MUST(rdma_bind_addr(first, (struct sockaddr *)&any6));
	MUST(rdma_listen(first, 1));
	check(rdma_bind_addr(second, (struct sockaddr *)&any4) == -1, "without AFONLY the IPv6 wildcard has IPv4's port", "it has not");
	MUST(rdma_destroy_id(first));
	MUST(rdma_destroy_id(second));
	first = with(channel, RDMA_OPTION_ID_AFONLY, 1);
	second = with(channel, RDMA_OPTION_ID_AFONLY, 1);
	MUST(rdma_bind_addr(first, (struct sockaddr *)&any6));
	MUST(rdma_listen(first, 1));
	check(rdma_bind_addr(second, (struct sockaddr *)&any4) == 0, "with AFONLY it has not", "it has");
	MUST(rdma_destroy_id(first));
	MUST(rdma_destroy_id(second));
}
