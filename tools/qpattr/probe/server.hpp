// SPDX-License-Identifier: MIT
// The passive end of a probe: serves one client after the other.
#pragma once

#include <functional>
#include <memory>

#include "tools/qpattr/probe/plan.hpp"
#include "tools/qpattr/probe/report.hpp"

namespace qpattr::tool::probe {

class server {
public:
	// Listens; throws `failure`. With port 0 the kernel chooses one.
	server(const place &where, const plan &how);
	~server();
	server(const server &) = delete;
	server &operator=(const server &) = delete;

	[[nodiscard]] std::uint16_t port() const;

	struct telling {
		std::function<void(const report &)> on_served;
		// A client that failed is no reason to end.
		std::function<void(const std::string &)> on_failure;
	};
	// Until plan::count clients were served or `stop_fd` is readable.
	void serve(const telling &to, int stop_fd);

private:
	class inside;
	std::unique_ptr<inside> inside_;
};

} // namespace qpattr::tool::probe
