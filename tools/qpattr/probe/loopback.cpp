// SPDX-License-Identifier: MIT
#include "tools/qpattr/probe/loopback.hpp"

#include <cerrno>
#include <cstring>
#include <ifaddrs.h>
#include <memory>
#include <net/if.h>
#include <netinet/in.h>
#include <thread>

#include <sys/eventfd.h>
#include <unistd.h>

#include <qpattr/qpattr.hpp>

#include "tools/qpattr/common/failure.hpp"
#include "tools/qpattr/common/files.hpp"
#include "tools/qpattr/probe/client.hpp"
#include "tools/qpattr/probe/connection.hpp"
#include "tools/qpattr/probe/server.hpp"

namespace qpattr::tool::probe {
namespace {

bool leads_to_device(channel &on, const sockaddr &address)
{
	const auto made = id::create(on);
	return made && made.value().bind(address) && made.value().verbs();
}

place first_address()
{
	channel on = opened_channel();
	ifaddrs *raw = nullptr;
	if (::getifaddrs(&raw) != 0)
		raw = nullptr;
	const std::unique_ptr<ifaddrs, void (*)(ifaddrs *)> all{raw, ::freeifaddrs};
	for (const ifaddrs *each = all.get(); each; each = each->ifa_next) {
		const sockaddr *const is = each->ifa_addr;
		if (!is || !(each->ifa_flags & IFF_UP) || (each->ifa_flags & IFF_LOOPBACK) ||
		    (is->sa_family != AF_INET && is->sa_family != AF_INET6) ||
		    !leads_to_device(on, *is))
			continue;
		place out;
		std::memcpy(&out.address, is,
			    is->sa_family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6));
		out.text = text_of(out.get());
		return out;
	}
	throw failure{"no address of this machine leads to an RDMA device: see qpattr doctor"};
}

// The server in a thread of its own, which ends with this.
class background {
public:
	background(server &of) : stop_{::eventfd(0, EFD_CLOEXEC)}
	{
		if (stop_ < 0)
			throw failure{std::string{"eventfd: "} + std::strerror(errno)};
		thread_ = std::thread{[this, &of] { run(of); }};
	}
	~background() { end(); }
	background(const background &) = delete;
	background &operator=(const background &) = delete;

	void end()
	{
		if (stop_ < 0)
			return;
		raise_event(stop_);
		thread_.join();
		::close(stop_);
		stop_ = -1;
	}
	// After end().
	[[nodiscard]] const std::string &why() const { return why_; }

private:
	void run(server &of)
	{
		try {
			of.serve({[](const report &) {}, [this](const std::string &why) { why_ = why; }},
				 stop_);
		} catch (const std::exception &why) {
			why_ = why.what();
		}
	}

	std::string why_;
	int stop_;
	std::thread thread_;
};

} // namespace

void loop_back(const std::string &address, const plan &how,
	       const std::function<void(const report &)> &on_served)
{
	place where = address.empty() ? first_address() : parse_place(address, false);
	// Any free port will do; one that is given is no use to anybody.
	set_port(where, 0);
	plan of_server = how;
	of_server.count = 0;
	server listening{where, of_server};
	set_port(where, listening.port());
	background served{listening};
	for (unsigned i = 0; i < std::max(how.count, 1U); ++i)
		on_served(call(where, how));
	served.end();
	if (!served.why().empty())
		throw failure{served.why()};
}

} // namespace qpattr::tool::probe
