// SPDX-License-Identifier: MIT
// A program for the test of the witness: asks twice, once to be refused, and
// prints all that it got, so that two ways of asking can be compared.
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>

#include <rdma/rdma_cma.h>

namespace {

void ask(rdma_cm_id &id, ibv_qp_state state)
{
	ibv_qp_attr attr;
	std::memset(&attr, 0x5a, sizeof attr);
	attr.qp_state = state;
	int mask = 0x77;
	errno = 4711;
	const int result = rdma_init_qp_attr(&id, &attr, &mask);
	std::printf("%d %d %#x ", result, errno, static_cast<unsigned>(mask));
	for (std::size_t i = 0; i < sizeof attr; ++i)
		std::printf("%02x", reinterpret_cast<const unsigned char *>(&attr)[i]);
	std::printf("\n");
}

} // namespace

int main()
{
	rdma_event_channel channel{::open("/dev/null", O_WRONLY | O_CLOEXEC)};
	rdma_cm_id id{};
	id.channel = &channel;
	id.qp_type = IBV_QPT_RC;
	id.ps = RDMA_PS_TCP;
	ask(id, IBV_QPS_RTS);
	ask(id, IBV_QPS_ERR);
	return 0;
}
