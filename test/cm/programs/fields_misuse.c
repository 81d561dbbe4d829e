/* SPDX-License-Identifier: MIT */
/*
 * Scenario of fields: every call on an id in every state. Each is made in a process
 * of its own, since some crash stock and some wait for ever.
 */
#include "fields.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <infiniband/ib.h>
#include "events.h"

static struct party *party;
static uint16_t base;
static struct rdma_event_channel *channel;

/* --- states -------------------------------------------------------------- */

static struct sockaddr *address(uint16_t port) { return fields_address(party, RDMA_PS_TCP, port); }

static void must(int good, const char *what)
{
	if (!good) {
		printf("cannot be made: %s: %s; ", what, strerror(errno));
		fflush(stdout);
		_exit(1);
	}
}
#define MUST(call) must((call) == 0, #call)

static struct rdma_cm_id *take(enum rdma_cm_event_type type)
{
	struct rdma_cm_event *event = event_next(channel, 2000);
	struct rdma_cm_id *id;

	must(event && event->event == type, rdma_event_str(type));
	id = event->id;
	rdma_ack_cm_event(event);
	return id;
}

static struct rdma_cm_id *new_id(enum rdma_port_space ps, int sync)
{
	struct rdma_cm_id *id;

	if (!sync && !channel)
		must((channel = rdma_create_event_channel()) != NULL, "channel");
	MUST(rdma_create_id(sync ? NULL : channel, &id, NULL, ps));
	return id;
}

static struct rdma_cm_id *bound(enum rdma_port_space ps, int sync)
{
	struct rdma_cm_id *id = new_id(ps, sync);

	MUST(rdma_bind_addr(id, address(base)));
	return id;
}

static struct rdma_cm_id *routed(uint16_t port, int sync, int steps)
{
	struct rdma_cm_id *id = new_id(RDMA_PS_TCP, sync);
	struct ibv_qp_init_attr qp = fields_qp(IBV_QPT_RC);

	MUST(rdma_resolve_addr(id, NULL, address(port), 2000));
	if (!sync)
		take(RDMA_CM_EVENT_ADDR_RESOLVED);
	if (steps > 1)
		MUST(rdma_resolve_route(id, 2000));
	if (steps > 1 && !sync)
		take(RDMA_CM_EVENT_ROUTE_RESOLVED);
	if (steps > 2)
		MUST(rdma_create_qp(id, NULL, &qp));
	return id;
}

enum end { active_connecting, passive_request, active_established, passive_established, active_disconnected, active_rejected };

/* Both ends are here, on one channel. */
static struct rdma_cm_id *connected(enum end end)
{
	struct rdma_cm_id *listener = bound(RDMA_PS_TCP, 0), *active, *passive;
	struct ibv_qp_init_attr qp = fields_qp(IBV_QPT_RC);

	MUST(rdma_listen(listener, 3));
	active = routed(base, 0, 3);
	MUST(rdma_connect(active, NULL));
	passive = take(RDMA_CM_EVENT_CONNECT_REQUEST);
	if (end == active_connecting || end == passive_request)
		return end == active_connecting ? active : passive;
	if (end == active_rejected) {
		MUST(rdma_reject(passive, NULL, 0));
		take(RDMA_CM_EVENT_REJECTED);
		return active;
	}
	MUST(rdma_create_qp(passive, NULL, &qp));
	MUST(rdma_accept(passive, NULL));
	take(RDMA_CM_EVENT_ESTABLISHED);
	take(RDMA_CM_EVENT_ESTABLISHED);
	if (end == active_disconnected) {
		MUST(rdma_disconnect(active));
		take(RDMA_CM_EVENT_DISCONNECTED);
		MUST(rdma_disconnect(passive));
		take(RDMA_CM_EVENT_DISCONNECTED);
	}
	return end == passive_established ? passive : active;
}

static struct rdma_cm_id *state_null(void) { return NULL; }
static struct rdma_cm_id *state_new(void) { return new_id(RDMA_PS_TCP, 0); }
static struct rdma_cm_id *state_new_sync(void) { return new_id(RDMA_PS_TCP, 1); }
static struct rdma_cm_id *state_new_ud(void) { return new_id(RDMA_PS_UDP, 0); }
static struct rdma_cm_id *state_bound(void) { return bound(RDMA_PS_TCP, 0); }
static struct rdma_cm_id *state_bound_sync(void) { return bound(RDMA_PS_TCP, 1); }
static struct rdma_cm_id *state_bound_ud(void) { return bound(RDMA_PS_UDP, 0); }
static struct rdma_cm_id *state_wildcard(void)
{
	struct rdma_cm_id *id = new_id(RDMA_PS_TCP, 0);

	MUST(rdma_bind_addr(id, fields_wildcard(party, RDMA_PS_TCP, base)));
	return id;
}
static struct rdma_cm_id *state_listening(void)
{
	struct rdma_cm_id *id = bound(RDMA_PS_TCP, 0);

	MUST(rdma_listen(id, 1));
	return id;
}
static struct rdma_cm_id *state_resolved(void) { return routed((uint16_t)(base + 1), 0, 1); }
static struct rdma_cm_id *state_routed(void) { return routed((uint16_t)(base + 1), 0, 2); }
static struct rdma_cm_id *state_with_qp(void) { return routed((uint16_t)(base + 1), 0, 3); }
static struct rdma_cm_id *state_routed_sync(void) { return routed((uint16_t)(base + 1), 1, 2); }
static struct rdma_cm_id *state_connecting(void) { return connected(active_connecting); }
static struct rdma_cm_id *state_request(void) { return connected(passive_request); }
static struct rdma_cm_id *state_active(void) { return connected(active_established); }
static struct rdma_cm_id *state_passive(void) { return connected(passive_established); }
static struct rdma_cm_id *state_disconnected(void) { return connected(active_disconnected); }
static struct rdma_cm_id *state_rejected(void) { return connected(active_rejected); }

static const struct {
	const char *name;
	struct rdma_cm_id *(*make)(void);
} states[] = {
	{"NULL", state_null},
	{"new", state_new},
	{"new, synchronous", state_new_sync},
	{"new, datagram", state_new_ud},
	{"bound", state_bound},
	{"bound, synchronous", state_bound_sync},
	{"bound, datagram", state_bound_ud},
	{"bound to the wildcard", state_wildcard},
	{"listening", state_listening},
	{"address resolved", state_resolved},
	{"route resolved", state_routed},
	{"route resolved, QP", state_with_qp},
	{"route resolved, synchronous", state_routed_sync},
	{"connecting", state_connecting},
	{"request", state_request},
	{"established, active", state_active},
	{"established, passive", state_passive},
	{"disconnected", state_disconnected},
	{"rejected", state_rejected},
};

/* --- calls --------------------------------------------------------------- */

/* The nth call's name; with make, what it returned, too. NULL after the last one. */
static const char *call(int n, int make, struct rdma_cm_id *id, long *result)
{
	static char data[256];
	static struct sockaddr_storage unix_address = {.ss_family = AF_UNIX}, no_address;
	struct ibv_qp_init_attr rc = fields_qp(IBV_QPT_RC), ud = fields_qp(IBV_QPT_UD), xrc = fields_qp(IBV_QPT_XRC_SEND);
	struct ibv_qp_init_attr_ex rc_ex = {.qp_type = IBV_QPT_RC, .cap = rc.cap};
	struct ibv_srq_init_attr srq = {.attr = {.max_wr = 4, .max_sge = 1}};
	struct rdma_conn_param param = fields_param("x", 1, 1), longest = {.private_data = data, .private_data_len = 255};
	struct rdma_cm_join_mc_attr_ex join = {.comp_mask = 1};
	struct rdma_cm_id *other = NULL;
	struct ibv_ece ece = {.vendor_id = 1};
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT};
	int number = 1, mask;
	uint8_t byte = 1;

#define X(what) \
	do { \
		if (n-- == 0) { \
			if (make) \
				*result = (long)(what); \
			return #what; \
		} \
	} while (0)
	X(rdma_bind_addr(id, address(base)));
	X(rdma_bind_addr(id, address((uint16_t)(base + 5))));
	X(rdma_bind_addr(id, NULL));
	X(rdma_bind_addr(id, (struct sockaddr *)&unix_address));
	X(rdma_bind_addr(id, (struct sockaddr *)&no_address));
	X(rdma_resolve_addr(id, NULL, address((uint16_t)(base + 1)), 2000));
	X(rdma_resolve_addr(id, NULL, address((uint16_t)(base + 1)), 0));
	X(rdma_resolve_addr(id, NULL, NULL, 2000));
	X(rdma_resolve_addr(id, NULL, (struct sockaddr *)&unix_address, 2000));
	X(rdma_resolve_addr(id, (struct sockaddr *)&unix_address, address((uint16_t)(base + 1)), 2000));
	X(rdma_resolve_route(id, 2000));
	X(rdma_resolve_route(id, 0));
	X(rdma_create_qp(id, NULL, &rc));
	X(rdma_create_qp(id, NULL, &ud));
	X(rdma_create_qp(id, NULL, &xrc));
	X(rdma_create_qp(id, NULL, NULL));
	X(rdma_create_qp_ex(id, &rc_ex));
	X((rdma_destroy_qp(id), 0));
	X(rdma_create_srq(id, NULL, &srq));
	X(rdma_create_srq(id, NULL, NULL));
	X((rdma_destroy_srq(id), 0));
	X(rdma_connect(id, NULL));
	X(rdma_connect(id, &param));
	X(rdma_connect(id, &longest));
	X(rdma_listen(id, 0));
	X(rdma_get_request(id, &other));
	X(rdma_get_request(id, NULL));
	X(rdma_accept(id, NULL));
	X(rdma_accept(id, &param));
	X(rdma_accept(id, &longest));
	X(rdma_establish(id));
	X(rdma_reject(id, NULL, 0));
	X(rdma_reject(id, data, 255));
	X(rdma_reject_ece(id, NULL, 0));
	X(rdma_disconnect(id));
	X(rdma_notify(id, IBV_EVENT_COMM_EST));
	X(rdma_notify(id, IBV_EVENT_QP_FATAL));
	X(rdma_join_multicast(id, address(0), NULL));
	X(rdma_join_multicast(id, NULL, NULL));
	X(rdma_join_multicast_ex(id, NULL, NULL));
	X(rdma_join_multicast_ex(id, &join, NULL));
	X(rdma_leave_multicast(id, address(0)));
	X(rdma_leave_multicast(id, NULL));
	X(rdma_get_src_port(id) ? 1 : 0);
	X(rdma_get_dst_port(id) ? 1 : 0);
	X(rdma_set_option(id, 7, 0, &number, sizeof number));
	X(rdma_set_option(id, RDMA_OPTION_ID, 99, &number, sizeof number));
	X(rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &byte, sizeof byte));
	X(rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &number, sizeof number));
	X(rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, NULL, 1));
	X(rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, NULL, 0));
	X(rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &number, sizeof number));
	X(rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, &number, sizeof number));
	X(rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &byte, sizeof byte));
	X(rdma_set_option(id, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, &number, sizeof number));
	X(rdma_migrate_id(id, channel));
	X(rdma_migrate_id(id, rdma_create_event_channel()));
	X(rdma_migrate_id(id, NULL));
	X(rdma_init_qp_attr(id, &attr, &mask));
	X(rdma_init_qp_attr(id, NULL, &mask));
	X(rdma_init_qp_attr(id, &attr, NULL));
	X(rdma_set_local_ece(id, &ece));
	X(rdma_set_local_ece(id, NULL));
	X(rdma_get_remote_ece(id, &ece));
	X(rdma_get_remote_ece(id, NULL));
	X(rdma_destroy_id(id));
	X((rdma_destroy_ep(id), 0));
#undef X
	return NULL;
}

/* Calls that have no id. */
static const char *lonely_call(int n, int make, long *result)
{
	static struct rdma_cm_event *event;
	struct rdma_addrinfo hints = {0}, *info;
	struct rdma_event_channel closed = {.fd = 999}, *own = make ? rdma_create_event_channel() : NULL;
	struct rdma_cm_id *id;

#define X(what) \
	do { \
		if (n-- == 0) { \
			if (make) \
				*result = (long)(what); \
			return #what; \
		} \
	} while (0)
	X((rdma_destroy_event_channel(NULL), 0));
	X(rdma_create_id(own, NULL, NULL, RDMA_PS_TCP));
	X(rdma_create_id(own, &id, NULL, (enum rdma_port_space)0));
	X(rdma_create_id(own, &id, NULL, (enum rdma_port_space)0x7777));
	X(rdma_create_id(&closed, &id, NULL, RDMA_PS_TCP));
	X(rdma_get_cm_event(NULL, &event));
	X(rdma_get_cm_event(own, NULL));
	X(rdma_get_cm_event(&closed, &event));
	X(rdma_ack_cm_event(NULL));
	X(rdma_getaddrinfo(NULL, NULL, NULL, &info));
	X(rdma_getaddrinfo(NULL, NULL, &hints, &info));
	X(rdma_getaddrinfo("10.77.0.1", NULL, NULL, NULL));
	X((rdma_freeaddrinfo(NULL), 0));
	X(rdma_create_ep(&id, NULL, NULL, NULL));
	X(rdma_create_ep(NULL, &hints, NULL, NULL));
	X(rdma_create_ep(&id, &hints, NULL, NULL));
	X((rdma_free_devices(NULL), 0));
#undef X
	return NULL;
}

/* --- all of them --------------------------------------------------------- */

/* After these the kernel does not let the process end for one or two minutes. */
static int takes_minutes(int state, const char *name)
{
	return states[state].make == state_connecting && (!strncmp(name, "rdma_reject", 11) || !strncmp(name, "rdma_accept", 11));
}

/* The calls from the nth on, as far as the process lives. */
static void make_from(int state, volatile int *n)
{
	const char *name;

	for (; (name = state >= 0 ? call(*n, 0, NULL, NULL) : lonely_call(*n, 0, NULL)); ++*n) {
		struct rdma_cm_id *id = NULL;
		long result = 0;
		int fd = -1;

		if (state >= 0 && takes_minutes(state, name))
			continue;
		/* What the call before left bound is not in the way. */
		base = (uint16_t)(30000 + (base + 6) % 20000);
		printf("    %s: %s ", state >= 0 ? states[state].name : "no id", name);
		fflush(stdout);
		alarm(5);
		if (state >= 0)
			id = states[state].make();
		if (id)
			fd = id->channel->fd;
		errno = 0;
		if (state >= 0)
			call(*n, 1, id, &result);
		else
			lonely_call(*n, 1, &result);
		printf("%s\n", result_text(result, errno).s);
		alarm(0);
		/* The kernel then forgets the ids; the memory does not matter. */
		if (fd >= 0)
			close(fd);
		channel = NULL;
	}
	fflush(stdout);
	_exit(0);
}

static void run_misuse(struct party *the_party, uint16_t the_base)
{
	volatile int *n = mmap(NULL, sizeof *n, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	party = the_party;
	base = the_base;
	if (party->is_server)
		return;
	alarm(600);
	for (int state = -1; state < (int)(sizeof states / sizeof *states); state++) {
		int status = 1;

		for (*n = 0; status; ++*n) {
			pid_t child = fork();

			if (child == 0)
				make_from(state, n);
			if (child < 0 || waitpid(child, &status, 0) != child)
				die("cannot start a process: %s", strerror(errno));
			if (WIFSIGNALED(status))
				printf("%s\n", WTERMSIG(status) == SIGALRM ? "waits" : WTERMSIG(status) == SIGSEGV ? "crashes" : "is killed");
			else if (status)
				printf("ends the process\n");
		}
	}
}

const struct scenario misuse_scenarios[] = {
	{"misuse", "4", run_misuse},
	{0},
};
