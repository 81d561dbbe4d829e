/* SPDX-License-Identifier: MIT */
/*
 * refusals -s|-c|--both -a ADDRESS [-p PORT] [rejected] [refused] [nowhere] [overflow] [destroyed]
 *
 * Connections that are not made, and what the one who wants them is told.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <time.h>
#include "check.h"
#include "endpoint.h"
#include "events.h"

enum { rejected_by_consumer = 28, rejected_for_ece = 35, no_such_service = 8, most_of_reject = 148 };

static const unsigned char reason[] = "no room for you";

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* An id with a QP, and the event that its connect request brings. */
static struct rdma_cm_event *ask(struct rdma_event_channel *channel, struct party *party, uint16_t port, struct endpoint *end)
{
	struct rdma_conn_param param = {.retry_count = 1};

	memset(end, 0, sizeof *end);
	end->id = dial(channel, party, RDMA_PS_TCP, port);
	endpoint_qp(end, IBV_QPT_RC, 0);
	MUST(rdma_connect(end->id, &param));
	return event_next(channel, 20000);
}

static void let_go(struct rdma_cm_event *event, struct endpoint *end)
{
	if (event)
		MUST(rdma_ack_cm_event(event));
	endpoint_end(end);
	MUST(rdma_destroy_id(end->id));
}

static struct rdma_cm_id *request(struct rdma_event_channel *channel)
{
	struct rdma_cm_event *event = expect(channel, RDMA_CM_EVENT_CONNECT_REQUEST, 30000);
	struct rdma_cm_id *id = event->id;

	MUST(rdma_ack_cm_event(event));
	return id;
}

static void check_rejected(const struct rdma_cm_event *event, int status, size_t length)
{
	unsigned char wanted[most_of_reject] = {0};

	memcpy(wanted, reason, length);
	check(event && event->event == RDMA_CM_EVENT_REJECTED && event->status == status, "REJECTED comes, with the reason", "%s, status %d",
		event ? rdma_event_str(event->event) : "nothing", event ? event->status : 0);
	check(event && event->param.conn.private_data && event->param.conn.private_data_len == most_of_reject &&
			!memcmp(event->param.conn.private_data, wanted, sizeof wanted),
		"and the private data", "it is not what was sent");
}

/* --- rejected, by a call or by destroying the request -------------------- */

static void rejected(struct party *party, struct rdma_event_channel *channel, uint16_t port)
{
	struct rdma_cm_id *listener, *id;
	struct endpoint end;
	struct rdma_cm_event *event;

	if (party->is_server) {
		listener = answer_at(channel, party, RDMA_PS_TCP, port, 3);
		meet("listening");
		id = request(channel);
		check(rdma_reject(id, reason, sizeof reason) == 0, "reject", "it failed");
		MUST(rdma_destroy_id(id));
		meet("ece");
		id = request(channel);
		check(rdma_reject_ece(id, reason, 3) == 0, "reject_ece", "it failed");
		MUST(rdma_destroy_id(id));
		meet("over");
		MUST(rdma_destroy_id(listener));
		return;
	}
	meet("listening");
	event = ask(channel, party, port, &end);
	check_rejected(event, rejected_by_consumer, sizeof reason);
	let_go(event, &end);
	meet("ece");
	event = ask(channel, party, port, &end);
	check_rejected(event, rejected_for_ece, 3);
	let_go(event, &end);
	meet("over");
}

static void destroyed(struct party *party, struct rdma_event_channel *channel, uint16_t port)
{
	struct pollfd poll_for = {.fd = channel->fd, .events = POLLIN};
	struct rdma_cm_id *listener, *id;
	struct endpoint end = {0};
	struct rdma_cm_event *event;

	if (party->is_server) {
		listener = answer_at(channel, party, RDMA_PS_TCP, port, 3);
		meet("listening");
		MUST(rdma_destroy_id(request(channel)));
		/* A request that nobody has read goes with its listener. */
		meet("asked");
		check(poll(&poll_for, 1, 10000) == 1, "another request comes", "none came");
		MUST(rdma_destroy_id(listener));
		check(poll(&poll_for, 1, 0) == 0, "and goes with its listener", "it is still there");
		listener = answer_at(channel, party, RDMA_PS_TCP, (uint16_t)(port + 1), 3);
		meet("listening again");
		end.id = id = request(channel);
		endpoint_qp(&end, IBV_QPT_RC, 0);
		MUST(rdma_accept(id, NULL));
		expect_ack(channel, RDMA_CM_EVENT_ESTABLISHED, 20000);
		meet("established");
		endpoint_end(&end);
		check(rdma_destroy_id(id) == 0, "an established id is destroyed", "it is not");
		MUST(rdma_destroy_id(listener));
		return;
	}
	meet("listening");
	event = ask(channel, party, port, &end);
	check_rejected(event, rejected_by_consumer, 0);
	let_go(event, &end);
	memset(&end, 0, sizeof end);
	end.id = dial(channel, party, RDMA_PS_TCP, port);
	endpoint_qp(&end, IBV_QPT_RC, 0);
	MUST(rdma_connect(end.id, NULL));
	meet("asked");
	event = event_next(channel, 20000);
	check_rejected(event, rejected_by_consumer, 0);
	let_go(event, &end);
	meet("listening again");
	event = ask(channel, party, (uint16_t)(port + 1), &end);
	check(event && event->event == RDMA_CM_EVENT_ESTABLISHED, "ESTABLISHED comes", "%s came", event ? rdma_event_str(event->event) : "nothing");
	MUST(rdma_ack_cm_event(event));
	meet("established");
	check(expect_ack(channel, RDMA_CM_EVENT_DISCONNECTED, 20000) == 0, "DISCONNECTED comes when the other destroys its id", "its status is not 0");
	let_go(NULL, &end);
}

/* --- nobody there -------------------------------------------------------- */

static void refused(struct party *party, struct rdma_event_channel *channel, uint16_t port)
{
	struct endpoint end;
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;

	if (party->is_server)
		return;
	event = ask(channel, party, port, &end);
	check_rejected(event, no_such_service, 0);
	let_go(event, &end);
	/* Without a channel it is an errno. */
	memset(&end, 0, sizeof end);
	end.id = id = dial(NULL, party, RDMA_PS_TCP, port);
	endpoint_qp(&end, IBV_QPT_RC, 0);
	check(rdma_connect(id, NULL) == -1 && errno == ECONNREFUSED, "ECONNREFUSED without a channel", "it is not");
	let_go(NULL, &end);
}

static void nowhere(struct party *party, struct rdma_event_channel *channel, uint16_t port)
{
	struct sockaddr_storage storage;
	struct sockaddr_in *in = (struct sockaddr_in *)&storage;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&storage;
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;
	double start;

	if (party->is_server)
		return;
	/* On the link, but nobody's. */
	party_address(party, RDMA_PS_TCP, port, &storage);
	if (storage.ss_family == AF_INET)
		in->sin_addr.s_addr ^= htonl(0xc0);
	else
		in6->sin6_addr.s6_addr[14] ^= 0xc0;
	MUST(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
	start = seconds();
	MUST(rdma_resolve_addr(id, NULL, (struct sockaddr *)&storage, 700));
	event = event_next(channel, 10000);
	check(event && event->event == RDMA_CM_EVENT_ADDR_ERROR && event->status == -ETIMEDOUT, "ADDR_ERROR comes of a neighbour that does not answer",
		"%s, status %d", event ? rdma_event_str(event->event) : "nothing", event ? event->status : 0);
	check(seconds() - start > 0.6 && seconds() - start < 5, "at its time", "after %.1f s", seconds() - start);
	if (event)
		MUST(rdma_ack_cm_event(event));
	/* The id can be used again. */
	MUST(rdma_resolve_addr(id, NULL, party_address(party, RDMA_PS_TCP, port, &storage), 2000));
	check(expect_ack(channel, RDMA_CM_EVENT_ADDR_RESOLVED, 10000) == 0, "the same id then resolves another", "its status is not 0");
	MUST(rdma_destroy_id(id));
	/* By no route: 203.0.113.1 and 2001:db8::1 are for documents. */
	if (storage.ss_family == AF_INET)
		in->sin_addr.s_addr = htonl(0xcb007101);
	else
		inet_pton(AF_INET6, "2001:db8::1", &in6->sin6_addr);
	MUST(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
	check(rdma_resolve_addr(id, NULL, (struct sockaddr *)&storage, 700) == -1 && errno == ENETUNREACH, "ENETUNREACH without a route", "it is not");
	MUST(rdma_destroy_id(id));
	MUST(rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP));
	check(rdma_resolve_addr(id, NULL, (struct sockaddr *)&storage, 700) == -1 && errno == ENETUNREACH, "nor without a channel", "it is not");
	MUST(rdma_destroy_id(id));
}

/* --- more than the backlog ----------------------------------------------- */

enum { clients = 6 };

/* A server that does not read its requests for a while; the kernels try again. */
static void overflow(struct party *party, struct rdma_event_channel *channel, uint16_t port)
{
	struct endpoint ends[clients] = {{0}};
	struct rdma_cm_id *listener = NULL;
	int established = 0, requests = 0;
	double start = seconds();

	if (party->is_server) {
		struct timespec pause = {.tv_sec = 1};

		listener = answer_at(channel, party, RDMA_PS_TCP, port, 1);
		meet("listening");
		meet("asked");
		nanosleep(&pause, NULL);
	} else {
		meet("listening");
		for (int i = 0; i < clients; i++) {
			ends[i].id = dial(channel, party, RDMA_PS_TCP, port);
			endpoint_qp(&ends[i], IBV_QPT_RC, 0);
		}
		for (int i = 0; i < clients; i++)
			MUST(rdma_connect(ends[i].id, NULL));
		meet("asked");
	}
	while (established < clients) {
		struct rdma_cm_event *event = event_next(channel, 60000);
		struct rdma_cm_id *id;

		if (!event || (event->event != RDMA_CM_EVENT_CONNECT_REQUEST && event->event != RDMA_CM_EVENT_ESTABLISHED))
			break;
		id = event->id;
		established += event->event == RDMA_CM_EVENT_ESTABLISHED;
		if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST && requests < clients) {
			ends[requests].id = id;
			endpoint_qp(&ends[requests++], IBV_QPT_RC, 0);
			MUST(rdma_accept(id, NULL));
		}
		MUST(rdma_ack_cm_event(event));
	}
	check(established == clients, "all get through in the end", "%d of %d", established, clients);
	if (!party->is_server)
		check(seconds() - start > 3, "after the kernel tried again", "after %.1f s: the backlog was none", seconds() - start);
	meet("all there");
	for (int i = 0; i < clients; i++) {
		endpoint_end(&ends[i]);
		MUST(rdma_destroy_id(ends[i].id));
	}
	if (listener)
		MUST(rdma_destroy_id(listener));
}

static int run(struct party *party)
{
	static const struct {
		const char *name;
		void (*run)(struct party *, struct rdma_event_channel *, uint16_t port);
	} cases[] = {{"rejected", rejected}, {"refused", refused}, {"nowhere", nowhere}, {"destroyed", destroyed}, {"overflow", overflow}};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct rdma_event_channel *channel;
		int wanted = !party->argc;

		for (int word = 0; word < party->argc; word++)
			wanted |= !strcmp(party->argv[word], cases[i].name);
		if (!wanted)
			continue;
		check_prefix("refusals: %s, %s, %s: ", cases[i].name, party->address_text, party->name);
		meet(cases[i].name);
		channel = HAVE(rdma_create_event_channel());
		cases[i].run(party, channel, (uint16_t)(party->port + 2 * i));
		rdma_destroy_event_channel(channel);
	}
	return check_status();
}

int main(int argc, char **argv) { return party_run(argc, argv, "", run); }
