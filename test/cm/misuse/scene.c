/* SPDX-License-Identifier: MIT */
#include "scene.h"

#include "attempt.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const stage_names[STAGES] = {
	[CREATED] = "created",
	[BOUND_ANY] = "bound to wildcard",
	[BOUND] = "bound to device",
	[LISTENING_ANY] = "listening on wildcard",
	[LISTENING] = "listening on device",
	[ADDR_UNREAD] = "address resolved, event unread",
	[ADDR] = "address resolved",
	[ROUTE] = "route resolved",
	[CONNECTING] = "connecting",
	[RESPONSE] = "response received",
	[ESTABLISHED] = "established",
	[DISCONNECTING] = "disconnect sent",
	[DISCONNECTED] = "disconnected by peer",
	[REJECTED] = "rejected by peer",
	[REQUEST] = "passive, request received",
	[ACCEPTED] = "passive, accepted",
	[PASSIVE_ESTABLISHED] = "passive, established",
	[PASSIVE_DISCONNECTED] = "passive, disconnected by peer",
	[PASSIVE_REJECTED] = "passive, rejected by itself",
};

const char *setting_text(const struct setting *setting)
{
	static char text[96];

	snprintf(text, sizeof(text), "%s%s %s%s", setting->sync ? "sync " : "",
		 setting->ps == RDMA_PS_UDP ? "UD" : "RC", stage_names[setting->stage], setting->qp ? ", with qp" : "");
	return text;
}

bool setting_exists(const struct setting *setting)
{
	enum stage stage = setting->stage;

	if (setting->qp && (stage == CREATED || stage == BOUND_ANY || stage == LISTENING_ANY || stage == ADDR_UNREAD))
		return false;
	/* With a QP the library answers the response by itself. */
	if (setting->qp && stage == RESPONSE)
		return false;
	if (setting->ps == RDMA_PS_UDP && (stage == RESPONSE || stage == DISCONNECTING || stage == DISCONNECTED ||
					   stage == PASSIVE_ESTABLISHED || stage == PASSIVE_DISCONNECTED))
		return false;
	/* A sync call returns when its event has been read. */
	if (setting->sync && (stage == ADDR_UNREAD || stage == CONNECTING || stage == DISCONNECTING ||
			      stage == DISCONNECTED || stage == ACCEPTED || stage == PASSIVE_DISCONNECTED))
		return false;
	return true;
}

static struct sockaddr *address(int family, const char *variable, unsigned short port)
{
	static struct sockaddr_storage storages[4];
	static unsigned turn;
	struct sockaddr_storage *storage = &storages[turn++ % 4];
	const char *text = getenv(variable);
	struct sockaddr_in *in = (struct sockaddr_in *)storage;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)storage;

	memset(storage, 0, sizeof(*storage));
	storage->ss_family = (sa_family_t)family;
	in->sin_port = htons(port);
	if (text)
		MUST(inet_pton(family, text,
			       family == AF_INET ? (void *)&in->sin_addr : (void *)&in6->sin6_addr) == 1);
	return (struct sockaddr *)storage;
}

struct sockaddr *address_ipv4(unsigned short port)
{
	return address(AF_INET, "QPATTR_VM_IPV4", port);
}

struct sockaddr *address_ipv6(unsigned short port)
{
	return address(AF_INET6, "QPATTR_VM_IPV6", port);
}

struct sockaddr *address_nobody(void)
{
	struct sockaddr_in *beside = (struct sockaddr_in *)address_ipv4(7471);

	beside->sin_addr.s_addr ^= htonl(0x62);
	return (struct sockaddr *)beside;
}

struct sockaddr *address_any(void)
{
	static struct sockaddr_in any;

	memset(&any, 0, sizeof(any));
	any.sin_family = AF_INET;
	return (struct sockaddr *)&any;
}

void good_qp_attr(struct ibv_qp_init_attr *attr, enum ibv_qp_type type)
{
	memset(attr, 0, sizeof(*attr));
	attr->cap.max_send_wr = attr->cap.max_recv_wr = 1;
	attr->cap.max_send_sge = attr->cap.max_recv_sge = 1;
	attr->qp_type = type;
}

unsigned int unused_qp_num(void)
{
	/* Both ends ask, each in a thread. */
	static atomic_uint turn;

	/* The kernel knows connections by the peer's number: two processes must not use the same. */
	return 0x800000 | ((unsigned int)getpid() & 0xfffff) << 2 | (turn++ & 3);
}

void good_conn_param(struct rdma_conn_param *param)
{
	memset(param, 0, sizeof(*param));
	param->responder_resources = param->initiator_depth = 1;
	param->retry_count = param->rnr_retry_count = 7;
	param->qp_num = unused_qp_num();
}

static struct rdma_cm_event *next(struct rdma_event_channel *channel, enum rdma_cm_event_type type)
{
	struct rdma_cm_event *event;
	char text[128];

	MUST(!rdma_get_cm_event(channel, &event));
	if (event->event != type) {
		snprintf(text, sizeof(text), "%s instead of %s, status %d", rdma_event_str(event->event),
			 rdma_event_str(type), event->status);
		scene_fails(text);
	}
	return event;
}

void scene_expect(struct rdma_event_channel *channel, enum rdma_cm_event_type type)
{
	MUST(!rdma_ack_cm_event(next(channel, type)));
}

struct rdma_cm_id *scene_request(struct rdma_event_channel *channel)
{
	struct rdma_cm_event *event = next(channel, RDMA_CM_EVENT_CONNECT_REQUEST);
	struct rdma_cm_id *id = event->id;

	MUST(!rdma_ack_cm_event(event));
	return id;
}

void scene_await(struct rdma_event_channel *channel)
{
	struct pollfd ready = { .fd = channel->fd, .events = POLLIN };

	MUST(poll(&ready, 1, 20000) == 1);
}

const char *scene_next_event(struct rdma_event_channel *channel, int ms)
{
	struct pollfd ready = { .fd = channel->fd, .events = POLLIN };
	struct rdma_cm_event *event;

	if (poll(&ready, 1, ms) != 1)
		return "none";
	MUST(!rdma_get_cm_event(channel, &event));
	const char *name = rdma_event_str(event->event);
	MUST(!rdma_ack_cm_event(event));
	return name;
}

static enum ibv_qp_type type_of(const struct rdma_cm_id *id)
{
	return id->ps == RDMA_PS_UDP ? IBV_QPT_UD : IBV_QPT_RC;
}

static void make_qp(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr;

	good_qp_attr(&attr, type_of(id));
	MUST(!rdma_create_qp(id, NULL, &attr));
}

static void accept_it(struct rdma_cm_id *id)
{
	struct rdma_conn_param param;

	good_conn_param(&param);
	MUST(!rdma_accept(id, &param));
}

static void connect_it(struct rdma_cm_id *id)
{
	struct rdma_conn_param param;

	good_conn_param(&param);
	MUST(!rdma_connect(id, &param));
}

static struct rdma_cm_id *listen_at(struct rdma_event_channel *channel, enum rdma_port_space ps, bool qp)
{
	struct rdma_cm_id *id;

	MUST(!rdma_create_id(channel, &id, NULL, ps));
	MUST(!rdma_bind_addr(id, address_ipv4(0)));
	if (qp)
		make_qp(id);
	MUST(!rdma_listen(id, 8));
	return id;
}

/* Up to a resolved address, resolved route. */
static void resolve(struct scene *scene, struct rdma_cm_id *id, struct rdma_event_channel *channel, bool qp,
		    enum stage until)
{
	MUST(!rdma_resolve_addr(id, NULL, address_ipv4(ntohs(rdma_get_src_port(scene->listener))), 2000));
	if (until == ADDR_UNREAD) {
		scene_await(channel);
		return;
	}
	if (channel)
		scene_expect(channel, RDMA_CM_EVENT_ADDR_RESOLVED);
	if (qp)
		make_qp(id);
	if (until == ADDR)
		return;
	MUST(!rdma_resolve_route(id, 2000));
	if (channel)
		scene_expect(channel, RDMA_CM_EVENT_ROUTE_RESOLVED);
}

/* Serves the other side of a sync id, whose calls return only when it has answered. */
struct answers {
	struct rdma_event_channel *channel;
	bool reject;
};

static void *answer(void *given)
{
	const struct answers *answers = given;
	struct rdma_cm_event *event;

	while (!rdma_get_cm_event(answers->channel, &event)) {
		enum rdma_cm_event_type type = event->event;
		struct rdma_cm_id *id = event->id;

		rdma_ack_cm_event(event);
		if (type == RDMA_CM_EVENT_CONNECT_REQUEST && answers->reject) {
			MUST(!rdma_reject(id, NULL, 0));
		} else if (type == RDMA_CM_EVENT_CONNECT_REQUEST) {
			make_qp(id);
			accept_it(id);
		} else if (type == RDMA_CM_EVENT_DISCONNECTED) {
			rdma_disconnect(id);
		}
	}
	return NULL;
}

static void answer_from_now_on(struct scene *scene, bool reject)
{
	static struct answers answers;
	pthread_t thread;

	answers.channel = scene->peer_channel;
	answers.reject = reject;
	MUST(!pthread_create(&thread, NULL, answer, &answers));
}

static void set_active(struct scene *scene)
{
	const struct setting *setting = &scene->setting;
	enum stage stage = setting->stage;
	struct rdma_cm_id *id = scene->id;

	scene->listener = listen_at(scene->peer_channel, setting->ps, false);
	resolve(scene, id, scene->channel, setting->qp, stage);
	if (stage <= ROUTE)
		return;
	if (setting->sync) {
		struct rdma_conn_param param;

		answer_from_now_on(scene, stage == REJECTED);
		good_conn_param(&param);
		MUST(!rdma_connect(id, &param) == (stage != REJECTED));
		if (stage == ESTABLISHED && !setting->qp && setting->ps == RDMA_PS_TCP)
			MUST(!rdma_establish(id));
		return;
	}
	connect_it(id);
	if (stage == CONNECTING)
		return;
	scene->peer = scene_request(scene->peer_channel);
	if (stage == REJECTED) {
		MUST(!rdma_reject(scene->peer, NULL, 0));
		scene_expect(scene->channel,
			     setting->ps == RDMA_PS_UDP ? RDMA_CM_EVENT_UNREACHABLE : RDMA_CM_EVENT_REJECTED);
		return;
	}
	make_qp(scene->peer);
	accept_it(scene->peer);
	if (setting->ps == RDMA_PS_UDP) {
		scene_expect(scene->channel, RDMA_CM_EVENT_ESTABLISHED);
		return;
	}
	scene_expect(scene->channel, setting->qp ? RDMA_CM_EVENT_ESTABLISHED : RDMA_CM_EVENT_CONNECT_RESPONSE);
	if (stage == RESPONSE)
		return;
	if (!setting->qp)
		MUST(!rdma_establish(id));
	scene_expect(scene->peer_channel, RDMA_CM_EVENT_ESTABLISHED);
	if (stage == DISCONNECTING)
		MUST(!rdma_disconnect(id));
	if (stage == DISCONNECTED) {
		MUST(!rdma_disconnect(scene->peer));
		scene_expect(scene->channel, RDMA_CM_EVENT_DISCONNECTED);
	}
}

static void set_passive(struct scene *scene)
{
	const struct setting *setting = &scene->setting;
	enum stage stage = setting->stage;

	scene->listener = listen_at(scene->channel, setting->ps, false);
	MUST(!rdma_create_id(scene->peer_channel, &scene->peer, NULL, setting->ps));
	resolve(scene, scene->peer, scene->peer_channel, true, ROUTE);
	connect_it(scene->peer);
	if (setting->sync)
		MUST(!rdma_get_request(scene->listener, &scene->id));
	else
		scene->id = scene_request(scene->channel);
	if (setting->qp)
		make_qp(scene->id);
	if (stage == REQUEST)
		return;
	if (stage == PASSIVE_REJECTED) {
		MUST(!rdma_reject(scene->id, NULL, 0));
		return;
	}
	if (setting->sync)
		answer_from_now_on(scene, false);
	accept_it(scene->id);
	if (stage == ACCEPTED || setting->sync)
		return;
	scene_expect(scene->peer_channel, RDMA_CM_EVENT_ESTABLISHED);
	scene_expect(scene->channel, RDMA_CM_EVENT_ESTABLISHED);
	if (stage == PASSIVE_DISCONNECTED) {
		MUST(!rdma_disconnect(scene->peer));
		scene_expect(scene->channel, RDMA_CM_EVENT_DISCONNECTED);
	}
}

void scene_set(struct scene *scene, const struct setting *setting)
{
	memset(scene, 0, sizeof(*scene));
	scene->setting = *setting;
	if (!setting->sync)
		MUST(scene->channel = rdma_create_event_channel());
	MUST(scene->peer_channel = rdma_create_event_channel());
	if (setting->stage >= REQUEST) {
		set_passive(scene);
		return;
	}
	if (setting->stage == LISTENING) {
		scene->id = listen_at(scene->channel, setting->ps, setting->qp);
		return;
	}
	MUST(!rdma_create_id(scene->channel, &scene->id, NULL, setting->ps));
	switch (setting->stage) {
	case CREATED:
		return;
	case BOUND_ANY:
		MUST(!rdma_bind_addr(scene->id, address_any()));
		return;
	case LISTENING_ANY:
		MUST(!rdma_bind_addr(scene->id, address_any()));
		MUST(!rdma_listen(scene->id, 8));
		return;
	case BOUND:
		MUST(!rdma_bind_addr(scene->id, address_ipv4(0)));
		if (setting->qp)
			make_qp(scene->id);
		return;
	default:
		set_active(scene);
	}
}
