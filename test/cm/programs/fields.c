/* SPDX-License-Identifier: MIT */
/*
 * fields -s|-c|--both -a ADDRESS [-p PORT] [--all] [SCENARIO]...
 *
 * Prints every field of every id, route and event after every call and event, so
 * that the output with one librdmacm can be compared with another's. Not a test by
 * itself: its output is one side of a diff.
 */
#include "fields.h"

#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include <infiniband/ib.h>
#include "events.h"

static int channels;

struct rdma_event_channel *fields_channel(void)
{
	static const char *const names[] = {"channel1", "channel2", "channel3", "channel4"};
	struct rdma_event_channel *channel = POINTER(rdma_create_event_channel());

	pointer_name(channel, names[channels++ % 4]);
	return channel;
}

void fields_channel_end(struct rdma_event_channel *channel)
{
	VOID(rdma_destroy_event_channel(channel));
	pointer_forget(channel);
}

struct rdma_cm_id *fields_event(struct rdma_event_channel *channel, const char *id_name)
{
	struct rdma_cm_event *event = event_next(channel, 5000);
	struct rdma_cm_id *id;
	int result;

	if (!event) {
		dump_step("no event: %s", strerror(errno));
		return NULL;
	}
	id = event->id;
	if (!strcmp(pointer_text(id).s, "set"))
		pointer_name(id, id_name);
	dump_step("rdma_get_cm_event");
	dump_event(event, id->qp_type == IBV_QPT_UD);
	dump_id(id, id_name);
	result = rdma_ack_cm_event(event);
	dump_step("rdma_ack_cm_event = %d", result);
	dump_id(id, id_name);
	return id;
}

struct rdma_cm_id *fields_listener(struct party *party, struct rdma_event_channel *channel, uint16_t base)
{
	struct rdma_cm_id *listener;

	CALL(rdma_create_id(channel, &listener, NULL, RDMA_PS_TCP));
	CALL(rdma_bind_addr(listener, fields_address(party, RDMA_PS_TCP, base)));
	CALL(rdma_listen(listener, 3));
	return listener;
}

void fields_destroy(struct rdma_cm_id *id)
{
	dump_forget(id);
	CALL(rdma_destroy_id(id));
}

struct ibv_qp_init_attr fields_qp(enum ibv_qp_type type)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = type,
		.cap = {.max_send_wr = 3, .max_recv_wr = 5, .max_send_sge = 2, .max_recv_sge = 1, .max_inline_data = 16},
	};

	return attr;
}

struct rdma_conn_param fields_param(const char *private_data, uint8_t responder_resources, uint8_t initiator_depth)
{
	struct rdma_conn_param param = {
		.private_data = private_data,
		.private_data_len = (uint8_t)(private_data ? strlen(private_data) : 0),
		.responder_resources = responder_resources,
		.initiator_depth = initiator_depth,
		.flow_control = 1,
		.retry_count = 5,
		.rnr_retry_count = 6,
	};

	return param;
}

struct sockaddr *fields_address(struct party *party, enum rdma_port_space ps, uint16_t port)
{
	static struct sockaddr_storage storage;

	return party_address(party, ps, port, &storage);
}

struct sockaddr *fields_wildcard(struct party *party, enum rdma_port_space ps, uint16_t port)
{
	struct sockaddr *address = fields_address(party, ps, port);

	if (address->sa_family == AF_INET)
		((struct sockaddr_in *)address)->sin_addr.s_addr = INADDR_ANY;
	else if (address->sa_family == AF_INET6)
		((struct sockaddr_in6 *)address)->sin6_addr = in6addr_any;
	else
		memset(&((struct sockaddr_ib *)address)->sib_addr, 0, 16);
	return address;
}

/* In a process of its own: what crashes, or leaves something behind, harms no other scenario. */
static void run_apart(const struct scenario *scenario, struct party *party, uint16_t base)
{
	int status = 0;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child == 0) {
		alarm(60);
		meet_anew(party, base);
		meet(scenario->name);
		scenario->run(party, base);
		fflush(stdout);
		_exit(0);
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		die("cannot start the scenario %s: %s", scenario->name, strerror(errno));
	if (WIFSIGNALED(status))
		printf("== %s, %s: ended by signal %d (%s)\n", scenario->name, party->name, WTERMSIG(status), strsignal(WTERMSIG(status)));
	else if (status)
		printf("== %s, %s: status %d\n", scenario->name, party->name, WEXITSTATUS(status));
}

static int run(struct party *party)
{
	static const struct scenario *const tables[] = {rc_scenarios, own_scenarios, sync_scenarios, datagram_scenarios, ib_scenarios,
		failure_scenarios, misuse_scenarios};
	char family = party->address.ss_family == AF_INET ? '4' : party->address.ss_family == AF_INET6 ? '6' : 'i';
	uint16_t base = party->port;

	if (option_given("all"))
		dump_all();
	dump_party(party->name);
	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
		for (const struct scenario *scenario = tables[i]; scenario->name; scenario++, base = (uint16_t)(base + 10)) {
			int wanted = !party->argc;

			for (int word = 0; word < party->argc; word++)
				wanted |= !strcmp(party->argv[word], scenario->name);
			if (!wanted || !strchr(scenario->families, family))
				continue;
			printf("== %s, %s, %s\n", scenario->name, party->name, party->address_text);
			channels = 0;
			symbol_port_base(base);
			run_apart(scenario, party, base);
		}
	}
	printf("== end, %s\n", party->name);
	return 0;
}

int main(int argc, char **argv) { return party_run(argc, argv, "all", run); }
