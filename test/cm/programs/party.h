/* SPDX-License-Identifier: MIT */
/*
 * One of the two parties of a connection, and how a program becomes one.
 *
 * Every program is started as NAME -s|-c|--both -a ADDRESS -p PORT [OPTION]...
 * The parties are two processes, so that each can have another library; with
 * --both the server is a child. They meet on a socket of their own, named by the
 * port, so that 'the server listens now' needs no sleeping.
 */
#pragma once

#include <stdint.h>
#include <sys/socket.h>
#include <rdma/rdma_cma.h>

struct party {
	int is_server;
	const char *name; /* "server" or "client" */
	const char *address_text;
	struct sockaddr_storage address; /* with port 0; AF_INET, AF_INET6, AF_IB */
	uint16_t port;
	int argc; /* words that are no options */
	char **argv;
};

/*
 * Reads the arguments, becomes the parties and calls run in each. options names
 * the program's own, as in "sync count: hold:": a colon wants a value. The
 * result is main's.
 */
int party_run(int argc, char **argv, const char *options, int (*run)(struct party *));

int option_given(const char *name);
const char *option_text(const char *name, const char *otherwise);
long option_number(const char *name, long otherwise);

/* Leaves the other party and meets it again, so that what went wrong before does not matter. */
void meet_anew(const struct party *party, uint16_t port);

/* Both parties must come to the same point, by the same name. */
void meet(const char *point);
/* The other party gets a number along. */
uint64_t meet_number(const char *point, uint64_t mine);

/* The party's address with this port; for AF_IB, in the service id of ps. */
struct sockaddr *party_address(const struct party *party, enum rdma_port_space ps, uint16_t port,
	struct sockaddr_storage *storage);
socklen_t address_length(const struct sockaddr *address);

/* Ends the process with a line that tells why. */
void die(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
