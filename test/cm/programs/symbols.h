/* SPDX-License-Identifier: MIT */
/*
 * Values that differ from run to run, as names that do not: the first port seen
 * is port1, and so on.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

struct text {
	char s[200];
};

/* The n-th different value of its kind; 0 stays 0. */
struct text symbol(const char *kind, uint64_t value);
/* Ports that the program chose itself: base to base + 99 are base+N. */
void symbol_port_base(uint16_t base);
struct text symbol_port(uint16_t port);

/* A pointer by the name given to it, or null, or set. */
void pointer_name(const void *pointer, const char *name);
void pointer_forget(const void *pointer);
struct text pointer_text(const void *pointer);

struct text gid_text(const void *gid);
struct text address_text(const struct sockaddr *address);
/* Hexadecimal, without the zeros at the end. */
struct text bytes_text(const void *bytes, size_t length);
/* "= 0", or "= -1 EINVAL". */
struct text result_text(long result, int error);
