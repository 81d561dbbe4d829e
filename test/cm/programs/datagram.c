/* SPDX-License-Identifier: MIT */
/*
 * datagram -s|-c|--both -a ADDRESS [-p PORT]
 *
 * Unreliable datagrams: the client learns the server's QP and address from the
 * ESTABLISHED event, the server the client's from the message itself.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <rdma/rdma_verbs.h>
#include "check.h"
#include "endpoint.h"
#include "events.h"

enum { most_of_connect = 180, most_of_accept = 136, messages = 8 };

static struct rdma_conn_param parameters(const struct endpoint *end, size_t length, int of_server)
{
	static unsigned char data[256];
	struct rdma_conn_param param = {.private_data = data, .private_data_len = (uint8_t)length, .qp_num = end->qp->qp_num};

	private_fill(data, length, of_server);
	return param;
}

static void serve(struct party *party, struct rdma_event_channel *channel, size_t length, uint16_t port)
{
	struct rdma_cm_id *listener = answer_at(channel, party, RDMA_PS_UDP, port, 3);
	struct endpoint end = {0};
	struct rdma_conn_param param;
	struct rdma_cm_event *event;
	struct ibv_ah *ah = NULL;
	struct ibv_wc wc;
	int right = 0;

	meet("listening");
	event = expect(channel, RDMA_CM_EVENT_CONNECT_REQUEST, 20000);
	end.id = event->id;
	check(end.id->qp_type == IBV_QPT_UD && end.id->ps == RDMA_PS_UDP, "the request's id is a datagram's", "it is not");
	check(private_came(event->param.ud.private_data, event->param.ud.private_data_len, length, most_of_connect, 0), "the client's private data",
		"%d bytes", event->param.ud.private_data_len);
	MUST(rdma_ack_cm_event(event));
	endpoint_qp(&end, IBV_QPT_UD, 0);
	endpoint_memory(&end);
	param = parameters(&end, length > most_of_accept ? most_of_accept : length, 1);
	MUST(rdma_accept(end.id, &param));
	for (unsigned i = 0; i < messages; i++) {
		if (!endpoint_receive(&end, 2 * i, &wc, 10000))
			break;
		right++;
		if (!ah)
			ah = HAVE(ibv_create_ah_from_wc(end.id->pd, &wc, (struct ibv_grh *)(end.buffer + message_bytes), end.id->port_num));
		endpoint_post_receive(&end);
		endpoint_send_to(&end, 2 * i + 1, ah, wc.src_qp, RDMA_UDP_QKEY);
	}
	check(right == messages, "the client's messages come", "%d of %d", right, messages);
	meet("played");
	if (ah)
		MUST(ibv_destroy_ah(ah));
	endpoint_end(&end);
	MUST(rdma_destroy_id(end.id));
	MUST(rdma_destroy_id(listener));
	meet("nobody listens");
}

static void call(struct party *party, struct rdma_event_channel *channel, size_t length, uint16_t port)
{
	struct endpoint end = {.id = dial(channel, party, RDMA_PS_UDP, port)};
	struct rdma_conn_param param;
	struct rdma_ud_param theirs;
	struct rdma_cm_event *event;
	struct ibv_ah *ah;
	struct ibv_wc wc;
	int right = 0;

	endpoint_qp(&end, IBV_QPT_UD, 0);
	endpoint_memory(&end);
	param = parameters(&end, length, 0);
	meet("listening");
	MUST(rdma_connect(end.id, &param));
	event = expect(channel, RDMA_CM_EVENT_ESTABLISHED, 20000);
	theirs = event->param.ud;
	check(private_came(theirs.private_data, theirs.private_data_len, length > most_of_accept ? most_of_accept : length, most_of_accept, 1),
		"the server's private data", "%d bytes", theirs.private_data_len);
	check(theirs.qp_num && theirs.qkey == RDMA_UDP_QKEY && theirs.ah_attr.is_global && theirs.ah_attr.port_num == end.id->port_num,
		"the server's QP and address", "QP %#x, Q_Key %#x, port %d", theirs.qp_num, theirs.qkey, theirs.ah_attr.port_num);
	MUST(rdma_ack_cm_event(event));
	ah = HAVE(ibv_create_ah(end.id->pd, &theirs.ah_attr));
	for (unsigned i = 0; i < messages; i++) {
		endpoint_send_to(&end, 2 * i, ah, theirs.qp_num, theirs.qkey);
		if (!endpoint_receive(&end, 2 * i + 1, &wc, 10000))
			break;
		right++;
		endpoint_post_receive(&end);
	}
	check(right == messages, "the server's messages come", "%d of %d", right, messages);
	meet("played");
	MUST(ibv_destroy_ah(ah));
	endpoint_end(&end);
	MUST(rdma_destroy_id(end.id));
	meet("nobody listens");
	/* What a refusal is for datagrams. */
	memset(&end, 0, sizeof end);
	end.id = dial(channel, party, RDMA_PS_UDP, port);
	endpoint_qp(&end, IBV_QPT_UD, 0);
	MUST(rdma_connect(end.id, &param));
	event = event_next(channel, 20000);
	check(event && event->event == RDMA_CM_EVENT_UNREACHABLE && event->status == 1, "without a listener UNREACHABLE comes, status 1",
		"%s, status %d", event ? rdma_event_str(event->event) : "nothing", event ? event->status : 0);
	if (event)
		MUST(rdma_ack_cm_event(event));
	endpoint_end(&end);
	MUST(rdma_destroy_id(end.id));
}

static int run(struct party *party)
{
	static const size_t lengths[] = {0, 1, most_of_connect};

	for (int i = 0; i < 3; i++) {
		struct rdma_event_channel *channel = HAVE(rdma_create_event_channel());

		check_prefix("datagram: %zu bytes private, %s, %s: ", lengths[i], party->address_text, party->name);
		if (party->is_server)
			serve(party, channel, lengths[i], (uint16_t)(party->port + i));
		else
			call(party, channel, lengths[i], (uint16_t)(party->port + i));
		rdma_destroy_event_channel(channel);
	}
	return check_status();
}

int main(int argc, char **argv) { return party_run(argc, argv, "", run); }
