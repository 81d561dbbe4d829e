// SPDX-License-Identifier: MIT
#include "lib/cm/wanted_module.hpp"

#include <cstdint>
#include <cstring>
#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>
#include <sys/socket.h>
#include <unistd.h>

namespace qpattr::cm {
namespace {

constexpr char name[] = "rdma_cm";

struct request {
	nlmsghdr head;
	nlattr attribute;
	char text[(sizeof name + NLA_ALIGNTO - 1) / NLA_ALIGNTO * NLA_ALIGNTO];
};

} // namespace

void want_module() noexcept
{
	const int fd = ::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_RDMA);
	if (fd < 0)
		return;
	request asked{};
	asked.head.nlmsg_len = sizeof asked;
	asked.head.nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_GET_CHARDEV);
	asked.head.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
	asked.attribute.nla_len = static_cast<std::uint16_t>(sizeof asked.attribute + sizeof name);
	asked.attribute.nla_type = RDMA_NLDEV_ATTR_CHARDEV_TYPE;
	std::memcpy(asked.text, name, sizeof name);
	// The kernel loads within this call. What it answers, the node's number, the
	// caller finds out in its own way.
	[[maybe_unused]] const auto sent = ::send(fd, &asked, sizeof asked, 0);
	::close(fd);
}

} // namespace qpattr::cm
