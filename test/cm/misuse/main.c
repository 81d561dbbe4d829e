/* SPDX-License-Identifier: MIT */
/* misuse [--list] [--only WORDS] [--jobs N] [--limit MS] [--harmful] [--leave]:
 * every function of <rdma/rdma_cma.h> with every argument wrong in turn and in
 * every state, one line a case. Wants an RDMA device and the addresses
 * QPATTR_VM_IPV4 and QPATTR_VM_IPV6 of it; --list wants nothing. --harmful: also
 * what damages the kernel where the library lets it through. --leave: ends while
 * the kernel still holds some children. */
#include "case.h"
#include "runner.h"

#include <getopt.h>
#include <infiniband/verbs.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Keeps the cases whose "FUNCTION / CASE" contains words. */
static void only(struct misuse_list *list, const char *words)
{
	size_t kept = 0;
	char text[512];

	for (size_t i = 0; i < list->count; i++) {
		snprintf(text, sizeof(text), "%s / %s", list->cases[i].function, list->cases[i].name);
		if (strstr(text, words))
			list->cases[kept++] = list->cases[i];
	}
	list->count = kept;
}

/* rxe loses track of a QP now and then if two of them enter or leave a group at once,
 * and then cannot destroy it. */
static void one_group_at_a_time(struct misuse_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		struct misuse *self = &list->cases[i];

		if (strstr(self->function, "multicast") && (strstr(self->name, "with qp") || strstr(self->name, "group")))
			self->alone = true;
	}
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "list", no_argument, NULL, 'l' },
		{ "only", required_argument, NULL, 'o' },
		{ "jobs", required_argument, NULL, 'j' },
		{ "limit", required_argument, NULL, 't' },
		{ "harmful", no_argument, NULL, 'h' },
		{ "leave", no_argument, NULL, 'v' },
		{ NULL, 0, NULL, 0 },
	};
	struct runner_limits limits = { .jobs = 6, .call_ms = 8000, .scene_ms = 30000 };
	struct misuse_list list = { NULL, 0, 0 };
	const char *words = NULL;
	bool names = false;
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) >= 0)
		switch (option) {
		case 'l':
			names = true;
			break;
		case 'o':
			words = optarg;
			break;
		case 'j':
			limits.jobs = atoi(optarg);
			break;
		case 't':
			limits.call_ms = atoi(optarg);
			break;
		case 'h':
			limits.harmful = true;
			break;
		case 'v':
			limits.leave = true;
			break;
		default:
			return 2;
		}
	if (limits.jobs < 1 || limits.call_ms < 1) {
		fprintf(stderr, "misuse: --jobs and --limit want a number above 0\n");
		return 2;
	}
	cases_of_channels(&list);
	cases_of_events(&list);
	cases_of_addresses(&list);
	cases_of_addrinfo(&list);
	cases_of_endpoints(&list);
	cases_of_queues(&list);
	cases_of_connections(&list);
	cases_of_options(&list);
	cases_of_multicast(&list);
	cases_of_repeats(&list);
	cases_of_later(&list);
	cases_of_damage(&list);
	cases_of_states(&list);
	one_group_at_a_time(&list);
	if (words)
		only(&list, words);
	if (names) {
		for (size_t i = 0; i < list.count; i++)
			printf("%s / %s\n", list.cases[i].function, list.cases[i].name);
		return 0;
	}
	if (!getenv("QPATTR_VM_IPV4") || !getenv("QPATTR_VM_IPV6")) {
		fprintf(stderr, "misuse: QPATTR_VM_IPV4 and QPATTR_VM_IPV6 must be addresses of an RDMA device\n");
		return 2;
	}
	signal(SIGPIPE, SIG_IGN);
	/* Loads the providers of libibverbs once, not once a case; opens nothing. */
	struct ibv_device **devices = ibv_get_device_list(NULL);
	if (devices)
		ibv_free_device_list(devices);
	size_t bad = runner_run(&list, &limits);
	if (bad)
		fprintf(stderr, "misuse: %zu cases whose scene could not be set\n", bad);
	return bad ? 1 : 0;
}
