/* SPDX-License-Identifier: MIT */
/*
 * multicast -s|-c|--both -a ADDRESS [-p PORT]
 *
 * The server is a member of a group and receives, the client sends to it: joined to
 * send only, joined again after leaving. A group by IPv6 is refused by the kernel for
 * RoCE v2, with an errno of its own (524): then just that is checked.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <rdma/rdma_verbs.h>
#include "check.h"
#include "endpoint.h"
#include "events.h"

enum { messages = 4, not_supported = 524 };

static struct sockaddr *group(const struct party *party, struct sockaddr_storage *storage, int last)
{
	char text[40];

	memset(storage, 0, sizeof *storage);
	storage->ss_family = party->address.ss_family;
	if (storage->ss_family == AF_INET) {
		snprintf(text, sizeof text, "239.7.7.%d", last);
		inet_pton(AF_INET, text, &((struct sockaddr_in *)storage)->sin_addr);
	} else {
		snprintf(text, sizeof text, "ff0e::7:%d", last);
		inet_pton(AF_INET6, text, &((struct sockaddr_in6 *)storage)->sin6_addr);
	}
	return (struct sockaddr *)storage;
}

/* Takes the event of a join; what is needed to send to the group. */
static struct rdma_ud_param joined(struct rdma_event_channel *channel, struct rdma_cm_id *id, const void *context)
{
	struct rdma_cm_event *event = expect(channel, RDMA_CM_EVENT_MULTICAST_JOIN, 10000);
	struct rdma_ud_param group_of = event->param.ud;

	check(event->id == id && event->status == 0, "the event names the id", "status %d", event->status);
	check(group_of.private_data == context, "the join's context comes back", "another came");
	check(group_of.qp_num == 0xffffff && group_of.qkey == RDMA_UDP_QKEY && group_of.ah_attr.is_global, "the group's QP and address",
		"QP %#x, Q_Key %#x", group_of.qp_num, group_of.qkey);
	MUST(rdma_ack_cm_event(event));
	return group_of;
}

static struct rdma_cm_id *bound(struct rdma_event_channel *channel, struct party *party, uint16_t port)
{
	struct sockaddr_storage storage;
	struct rdma_cm_id *id;

	MUST(rdma_create_id(channel, &id, NULL, RDMA_PS_UDP));
	MUST(rdma_bind_addr(id, party_address(party, RDMA_PS_UDP, port, &storage)));
	return id;
}

static void receive(struct endpoint *end, const char *name)
{
	struct ibv_wc wc;
	unsigned right = 0;

	meet(name);
	for (unsigned i = 0; i < messages; i++) {
		if (!endpoint_receive(end, i, &wc, 5000))
			break;
		right++;
		endpoint_post_receive(end);
		meet("next");
	}
	check(right == messages, name, "%u of %d", right, messages);
}

static void send_all(struct endpoint *end, const struct rdma_ud_param *to, const char *name)
{
	struct ibv_ah *ah = HAVE(ibv_create_ah(end->id->pd, (struct ibv_ah_attr *)&to->ah_attr));

	meet(name);
	for (unsigned i = 0; i < messages; i++) {
		if (!endpoint_send_to(end, i, ah, to->qp_num, to->qkey))
			break;
		meet("next");
	}
	MUST(ibv_destroy_ah(ah));
}

static void member(struct rdma_event_channel *channel, struct party *party, struct endpoint *end)
{
	static int first_context, second_context;
	struct sockaddr_storage storage, other;
	struct ibv_wc wc;

	MUST(rdma_join_multicast(end->id, group(party, &storage, 1), &first_context));
	joined(channel, end->id, &first_context);
	receive(end, "messages come to a member");
	/* Of two groups one is left. */
	MUST(rdma_join_multicast(end->id, group(party, &other, 2), &second_context));
	joined(channel, end->id, &second_context);
	MUST(rdma_leave_multicast(end->id, (struct sockaddr *)&storage));
	check(rdma_leave_multicast(end->id, (struct sockaddr *)&storage) == -1 && errno == EADDRNOTAVAIL, "a group is left once", "it is not EADDRNOTAVAIL");
	meet("left");
	meet("sent to those who left");
	check(!endpoint_receive(end, 0, &wc, 300), "none comes after leaving", "one came");
	MUST(rdma_join_multicast(end->id, (struct sockaddr *)&storage, &second_context));
	joined(channel, end->id, &second_context);
	receive(end, "and again after joining again");
	MUST(rdma_leave_multicast(end->id, (struct sockaddr *)&storage));
	/* The other group is left by destroying the id. */
}

static void sender(struct rdma_event_channel *channel, struct party *party, struct endpoint *end)
{
	static int context;
	struct sockaddr_storage storage;
	struct rdma_cm_join_mc_attr_ex attr = {
		.comp_mask = RDMA_CM_JOIN_MC_ATTR_ADDRESS | RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS,
		.join_flags = RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER,
		.addr = group(party, &storage, 1),
	};
	struct rdma_ud_param to;
	struct ibv_ah *ah;

	MUST(rdma_join_multicast_ex(end->id, &attr, &context));
	to = joined(channel, end->id, &context);
	send_all(end, &to, "messages come to a member");
	meet("left");
	ah = HAVE(ibv_create_ah(end->id->pd, &to.ah_attr));
	endpoint_send_to(end, 0, ah, to.qp_num, to.qkey);
	MUST(ibv_destroy_ah(ah));
	meet("sent to those who left");
	send_all(end, &to, "and again after joining again");
	MUST(rdma_leave_multicast(end->id, attr.addr));
}

static int run(struct party *party)
{
	struct rdma_event_channel *channel = HAVE(rdma_create_event_channel());
	struct sockaddr_storage storage;
	struct endpoint end = {.id = bound(channel, party, (uint16_t)(party->port + party->is_server))};

	check_prefix("multicast: %s, %s: ", party->address_text, party->name);
	endpoint_qp(&end, IBV_QPT_UD, 0);
	endpoint_memory(&end);
	if (party->address.ss_family == AF_INET6) {
		check(rdma_join_multicast(end.id, group(party, &storage, 1), NULL) == -1 && errno == not_supported, "an IPv6 group is ENOTSUPP", "it is not");
		check(rdma_leave_multicast(end.id, (struct sockaddr *)&storage) == -1 && errno == EADDRNOTAVAIL, "a join that failed leaves nothing",
			"it is not EADDRNOTAVAIL");
	} else if (party->is_server) {
		member(channel, party, &end);
	} else {
		sender(channel, party, &end);
	}
	endpoint_end(&end);
	check(rdma_destroy_id(end.id) == 0, "the id is destroyed", "it is not");
	rdma_destroy_event_channel(channel);
	return check_status();
}

int main(int argc, char **argv) { return party_run(argc, argv, "", run); }
