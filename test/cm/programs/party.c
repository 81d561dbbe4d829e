/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "party.h"

#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <infiniband/ib.h>

enum { patience_ms = 120000 };

static struct {
	const char *name;
	const char *value;
} options_given[32];
static int options_count;
static int meeting = -1;
static struct party this_party;

void die(const char *format, ...)
{
	va_list list;

	printf("not ok - %s goes on: ", this_party.name ? this_party.name : "the program");
	va_start(list, format);
	vprintf(format, list);
	va_end(list);
	printf("\n");
	fflush(stdout);
	_exit(1);
}

int option_given(const char *name)
{
	for (int i = 0; i < options_count; i++)
		if (!strcmp(options_given[i].name, name))
			return 1;
	return 0;
}

const char *option_text(const char *name, const char *otherwise)
{
	for (int i = 0; i < options_count; i++)
		if (!strcmp(options_given[i].name, name))
			return options_given[i].value;
	return otherwise;
}

long option_number(const char *name, long otherwise)
{
	const char *text = option_text(name, NULL);
	char *end;
	long number;

	if (!text)
		return otherwise;
	number = strtol(text, &end, 0);
	if (*end || end == text)
		die("--%s wants a number, not '%s'", name, text);
	return number;
}

/* --- arguments ----------------------------------------------------------- */

/* 1: a flag, 2: wants a value, 0: unknown. */
static int option_kind(const char *options, const char *name)
{
	size_t length = strlen(name);

	for (const char *at = options; *at;) {
		size_t word = strcspn(at, " ");
		int colon = word && at[word - 1] == ':';

		if (word - (size_t)colon == length && !strncmp(at, name, length))
			return 1 + colon;
		at += word;
		at += strspn(at, " ");
	}
	return 0;
}

static void read_address(struct party *party, const char *text)
{
	struct sockaddr_in *in = (struct sockaddr_in *)&party->address;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&party->address;
	struct sockaddr_ib *ib = (struct sockaddr_ib *)&party->address;

	party->address_text = text;
	if (!strncmp(text, "gid:", 4) && inet_pton(AF_INET6, text + 4, &ib->sib_addr) == 1) {
		ib->sib_family = AF_IB;
		ib->sib_pkey = htobe16(0xffff);
	} else if (inet_pton(AF_INET, text, &in->sin_addr) == 1) {
		in->sin_family = AF_INET;
	} else if (inet_pton(AF_INET6, text, &in6->sin6_addr) == 1) {
		in6->sin6_family = AF_INET6;
	} else {
		die("'%s' is no address: an IPv4 or IPv6 address, or gid:GID", text);
	}
}

static int read_arguments(struct party *party, int argc, char **argv, const char *options)
{
	int both = 0, role = 0;

	party->port = 7471;
	party->argv = calloc((size_t)argc + 1, sizeof *party->argv);
	for (int i = 1; i < argc; i++) {
		const char *word = argv[i];

		if (!strcmp(word, "-s") || !strcmp(word, "-c")) {
			party->is_server = word[1] == 's';
			role = 1;
		} else if (!strcmp(word, "--both")) {
			both = 1;
		} else if (!strcmp(word, "-a") && i + 1 < argc) {
			read_address(party, argv[++i]);
		} else if (!strcmp(word, "-p") && i + 1 < argc) {
			party->port = (uint16_t)atoi(argv[++i]);
		} else if (word[0] != '-') {
			party->argv[party->argc++] = argv[i];
		} else {
			int kind = word[1] == '-' ? option_kind(options, word + 2) : 0;

			if (!kind || (kind == 2 && i + 1 == argc) || options_count == 32)
				die("'%s': options are -s -c --both -a ADDRESS -p PORT, and %s", word, options);
			options_given[options_count].name = word + 2;
			options_given[options_count++].value = kind == 2 ? argv[++i] : "";
		}
	}
	if (role + both != 1 || !party->address_text)
		die("usage: %s -s|-c|--both -a ADDRESS [-p PORT], and %s", argv[0], options);
	return both;
}

/* --- the two parties ----------------------------------------------------- */

static void open_meeting(const struct party *party, uint16_t port)
{
	struct sockaddr_un name = {.sun_family = AF_UNIX};
	const struct timespec pause = {.tv_nsec = 20000000};
	socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1);
	struct pollfd poll_for = {.events = POLLIN};

	length += (socklen_t)snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "qpattr-%u", port);
	poll_for.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (party->is_server) {
		if (bind(poll_for.fd, (struct sockaddr *)&name, length) || listen(poll_for.fd, 1))
			die("cannot meet the client by port %u: %s (does another server run?)", port, strerror(errno));
		if (poll(&poll_for, 1, patience_ms) != 1)
			die("no client came within %d s", patience_ms / 1000);
		meeting = accept4(poll_for.fd, NULL, NULL, SOCK_CLOEXEC);
		close(poll_for.fd);
	} else {
		int tries = 0;

		while (connect(poll_for.fd, (struct sockaddr *)&name, length)) {
			if (++tries == 1500)
				die("no server to meet by port %u", port);
			nanosleep(&pause, NULL);
		}
		meeting = poll_for.fd;
	}
}

void meet_anew(const struct party *party, uint16_t port)
{
	close(meeting);
	open_meeting(party, port);
}

uint64_t meet_number(const char *point, uint64_t mine)
{
	struct {
		char point[56];
		uint64_t number;
	} ours = {.number = mine}, theirs;
	struct pollfd poll_for = {.fd = meeting, .events = POLLIN};

	snprintf(ours.point, sizeof ours.point, "%s", point);
	if (send(meeting, &ours, sizeof ours, MSG_NOSIGNAL) != sizeof ours)
		die("the other party ended before '%s'", point);
	if (poll(&poll_for, 1, patience_ms) != 1)
		die("the other party did not come to '%s' within %d s", point, patience_ms / 1000);
	if (recv(meeting, &theirs, sizeof theirs, MSG_WAITALL) != sizeof theirs)
		die("the other party ended before '%s'", point);
	if (strncmp(ours.point, theirs.point, sizeof ours.point))
		die("at '%s', but the other party is at '%.56s'", point, theirs.point);
	return theirs.number;
}

void meet(const char *point) { meet_number(point, 0); }

static int be(struct party *party, int (*run)(struct party *))
{
	int status;

	party->name = party->is_server ? "server" : "client";
	this_party = *party;
	setvbuf(stdout, NULL, _IOLBF, 0);
	open_meeting(party, party->port);
	status = run(party);
	fflush(stdout);
	return status;
}

/* The server is a child whose output comes after ours, so that the two do not mix. */
static int be_both(struct party *party, int (*run)(struct party *))
{
	int output = memfd_create("server", MFD_CLOEXEC), status, ours;
	char buffer[4096];
	ssize_t length;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (output < 0 || child < 0)
		die("cannot start the server: %s", strerror(errno));
	party->is_server = child == 0;
	if (child == 0) {
		dup2(output, 1);
		exit(be(party, run));
	}
	ours = be(party, run);
	close(meeting);
	if (waitpid(child, &status, 0) != child)
		status = 1;
	lseek(output, 0, SEEK_SET);
	while ((length = read(output, buffer, sizeof buffer)) > 0)
		fwrite(buffer, 1, (size_t)length, stdout);
	if (WIFSIGNALED(status))
		printf("not ok - server ends in order: signal %d\n", WTERMSIG(status));
	return ours || status;
}

int party_run(int argc, char **argv, const char *options, int (*run)(struct party *))
{
	struct party party = {0};
	int both = read_arguments(&party, argc, argv, options);

	return both ? be_both(&party, run) : be(&party, run);
}

/* --- addresses ----------------------------------------------------------- */

socklen_t address_length(const struct sockaddr *address)
{
	switch (address->sa_family) {
	case AF_INET:
		return sizeof(struct sockaddr_in);
	case AF_INET6:
		return sizeof(struct sockaddr_in6);
	case AF_IB:
		return sizeof(struct sockaddr_ib);
	default:
		return 0;
	}
}

struct sockaddr *party_address(const struct party *party, enum rdma_port_space ps, uint16_t port,
	struct sockaddr_storage *storage)
{
	*storage = party->address;
	if (storage->ss_family == AF_INET) {
		((struct sockaddr_in *)storage)->sin_port = htons(port);
	} else if (storage->ss_family == AF_INET6) {
		((struct sockaddr_in6 *)storage)->sin6_port = htons(port);
	} else {
		struct sockaddr_ib *ib = (struct sockaddr_ib *)storage;

		ib->sib_sid = htobe64((uint64_t)ps << 16 | port);
		ib->sib_sid_mask = htobe64(port ? UINT64_MAX : RDMA_IB_IP_PS_MASK);
	}
	return (struct sockaddr *)storage;
}
