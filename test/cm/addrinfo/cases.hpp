// SPDX-License-Identifier: MIT
// What rdma_getaddrinfo() is asked: several thousand combinations of its
// arguments, by groups.
#pragma once

#include <functional>
#include <string>

#include <rdma/rdma_cma.h>

struct question {
	std::string group, name;
	const char *node = nullptr;
	const char *service = nullptr;
	const rdma_addrinfo *hints = nullptr;
	bool no_result = false; // the place for the result is NULL
	bool deadly = false;	// some implementation may crash: ask in a process of its own
};

// Calls ask for each.
void for_each_question(const std::function<void(const question &)> &ask);
