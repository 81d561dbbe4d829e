/* SPDX-License-Identifier: MIT */
/*
 * What the kernel answers by refusing the peer, and then by letting DESTROY_ID
 * sleep for a minute: none of it may reach the kernel.
 */
#include "traps.h"

static struct ends it;

/* Destroys all of it; whether that was quick. */
static int quick(void)
{
	double begin = seconds(), took;

	ends_close(&it);
	took = seconds() - begin;
	if (took > 5)
		printf("# destroying took %.1f s\n", took);
	return took < 5;
}

/* Nothing has happened to the connection: it ends by its peer's end, not before. */
static int established(void)
{
	struct rdma_cm_event *event;

	if (rdma_establish(it.active))
		return 0;
	if (!event_is(it.at_passive, RDMA_CM_EVENT_ESTABLISHED, NULL))
		return 0;
	if ((event = next_event(it.at_active, 300)) || (event = next_event(it.at_passive, 300))) {
		printf("# an unexpected %s\n", rdma_event_str(event->event));
		rdma_ack_cm_event(event);
		return 0;
	}
	MUST(rdma_disconnect(it.active));
	return event_is(it.at_passive, RDMA_CM_EVENT_DISCONNECTED, NULL);
}

static void misused_accepts(void)
{
	struct rdma_conn_param param = foreign_param(), longer = param;
	uint8_t data[255] = {1};

	longer.private_data = data;
	longer.private_data_len = 197;

	ends_listen(&it);
	ends_route(&it);
	ends_request(&it);
	check(invalid(rdma_accept(it.passive, &longer)), "5: ACCEPT with too much private data is EINVAL", "it is not");
	check(invalid(rdma_establish(it.passive)), "5: ACCEPT without parameters on the passive side is EINVAL", "it is not");
	check(invalid(rdma_establish(it.active)), "5: and before the answer on the active side", "it is not");
	check(invalid(rdma_accept(it.active, &param)), "5: ACCEPT with parameters on the connecting side is EINVAL",
	      "it is not");
	check(!rdma_accept(it.passive, &param), "5: the right ACCEPT is possible after all of these", "it is not");
	check(invalid(rdma_accept(it.passive, &param)), "5: a second ACCEPT is EINVAL", "it is not");
	check(invalid(rdma_establish(it.passive)), "5: also one without parameters", "it is not");
	must_be(it.at_active, RDMA_CM_EVENT_CONNECT_RESPONSE);
	check(invalid(rdma_accept(it.active, &param)), "5: ACCEPT with parameters on the answered side is EINVAL",
	      "it is not");
	check(established(), "5: the connection is made and lives", "it does not");
	check(quick(), "5: its ids are destroyed at once", "they are not");
}

/* After the connection is made, too. */
static void late_accepts(void)
{
	struct rdma_conn_param param = foreign_param();

	ends_listen(&it);
	ends_route(&it);
	ends_request(&it);
	ends_response(&it);
	MUST(rdma_establish(it.active));
	must_be(it.at_passive, RDMA_CM_EVENT_ESTABLISHED);
	check(invalid(rdma_accept(it.passive, &param)) && invalid(rdma_accept(it.active, &param)) &&
		      invalid(rdma_establish(it.active)) && invalid(rdma_establish(it.passive)),
	      "5: on an established connection every ACCEPT is EINVAL", "one is not");
	check(!next_event(it.at_active, 500) && !next_event(it.at_passive, 100),
	      "5: and neither side hears of it", "it ended");
	quick();
}

/* An id that was bound resolves in the kernel before its events are read: what
 * the library knows of its state is then behind. */
static void unread_events(void)
{
	struct sockaddr_in here = machine_address(0), there;
	struct rdma_conn_param param = foreign_param();
	struct rdma_cm_event *event;

	ends_listen(&it);
	there = machine_address(rdma_get_src_port(it.listener));
	MUST(rdma_create_id(it.at_active, &it.active, NULL, RDMA_PS_TCP));
	MUST(rdma_bind_addr(it.active, (struct sockaddr *)&here));
	MUST(rdma_resolve_addr(it.active, NULL, (struct sockaddr *)&there, 2000));
	usleep(300000);
	MUST(rdma_resolve_route(it.active, 2000));
	usleep(100000);
	MUST(rdma_connect(it.active, &param));
	check(invalid(rdma_establish(it.active)), "5: ACCEPT too early is EINVAL where no event was read", "it is not");
	check(invalid(rdma_reject(it.active, NULL, 0)), "6: so is REJECT", "it is not");
	must_be(it.at_active, RDMA_CM_EVENT_ADDR_RESOLVED);
	must_be(it.at_active, RDMA_CM_EVENT_ROUTE_RESOLVED);
	check(invalid(rdma_establish(it.active)) && invalid(rdma_reject(it.active, NULL, 0)),
	      "6: nor when old events are read after CONNECT", "it is not");
	event = HAVE(next_event(it.at_passive, 20000));
	it.passive = event->id;
	rdma_ack_cm_event(event);
	param = foreign_param();
	check(!rdma_accept(it.passive, &param) && event_is(it.at_active, RDMA_CM_EVENT_CONNECT_RESPONSE, NULL) &&
		      established(),
	      "5: the connection is made all the same", "it is not");
	check(quick(), "6: ids whose events were late are destroyed at once", "they are not");
}

static void refusals_that_hang(void)
{
	struct rdma_conn_param param = foreign_param();

	ends_listen(&it);
	ends_route(&it);
	ends_request(&it);
	check(invalid(rdma_reject(it.active, NULL, 0)), "6: REJECT of a connecting id is EINVAL", "it is not");
	check(quick(), "6: which is destroyed at once, with a request at the peer", "it is not");

	ends_listen(&it);
	ends_route(&it);
	ends_request(&it);
	MUST(rdma_accept(it.passive, &param));
	check(invalid(rdma_reject(it.passive, NULL, 0)), "6: REJECT of an accepted id is EINVAL", "it is not");
	must_be(it.at_active, RDMA_CM_EVENT_CONNECT_RESPONSE);
	check(established(), "6: its connection is made", "it is not");
	check(quick(), "6: and it is destroyed at once", "it is not");

	ends_listen(&it);
	ends_route(&it);
	ends_request(&it);
	MUST(rdma_accept(it.passive, &param));
	check(invalid(rdma_accept(it.passive, &param)), "6: after a second ACCEPT", "it is not refused");
	check(quick(), "6: the unanswered id is destroyed at once", "it is not");

	ends_listen(&it);
	ends_route(&it);
	ends_request(&it);
	MUST(rdma_accept(it.passive, &param));
	must_be(it.at_active, RDMA_CM_EVENT_CONNECT_RESPONSE);
	check(!rdma_reject(it.active, NULL, 0), "6: an answer may be refused", "it may not");
	check(event_is(it.at_passive, RDMA_CM_EVENT_REJECTED, NULL), "6: which the peer hears", "it does not");
	check(quick(), "6: both ids are destroyed at once", "they are not");
}

static void nothing_to_disconnect(void)
{
	struct sockaddr_in here = machine_address(0);
	struct rdma_cm_id *id;

	MUST(rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP));
	MUST(rdma_bind_addr(id, (struct sockaddr *)&here));
	MUST(rdma_listen(id, 1));
	check(invalid(rdma_disconnect(id)), "17: a synchronous id without a connection does not wait for its end",
	      "it is not EINVAL");
	MUST(rdma_destroy_id(id));
}

/* The new id has uid 0 until it is accepted: nothing tells that the peer left. */
static void peer_that_left(void)
{
	struct rdma_conn_param param = foreign_param();

	ends_listen(&it);
	ends_route(&it);
	ends_request(&it);
	MUST(rdma_destroy_id(it.active));
	it.active = NULL;
	usleep(300000);
	check(rdma_accept(it.passive, &param) == -1, "18: accepting a peer that left is an error", "it is not");
	check(quick(), "18: the id that it left is destroyed at once", "it is not");

	ends_listen(&it);
	ends_route(&it);
	MUST(rdma_connect(it.active, &param));
	usleep(300000);
	MUST(rdma_destroy_id(it.active));
	it.active = NULL;
	usleep(300000);
	must_be(it.at_passive, RDMA_CM_EVENT_CONNECT_REQUEST);
	check(quick(), "21: a request whose peer left is read, and its listener destroyed at once", "it is not");
}

void accepts(void)
{
	misused_accepts();
	late_accepts();
	refusals_that_hang();
	nothing_to_disconnect();
	peer_that_left();
	unread_events();
}
