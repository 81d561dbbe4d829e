// SPDX-License-Identifier: MIT
// Arguments that are wrong, and descriptors that are not the device. What stock
// survives is compared with stock; what it crashes on is EINVAL.
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <functional>
#include <malloc.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

#include "test/preload/subject.hpp"

using namespace subject;

namespace {

void null_cases(rdma_cm_id *id, const std::string &when)
{
	check::run("no id: EINVAL, outputs untouched" + when, [](check::test &t) {
		const question what = about(nullptr);
		refused(t, ask(what), what, EINVAL);
	});
	check::run("an id without a channel: EINVAL, outputs untouched" + when, [&](check::test &t) {
		const question what = about(id);
		rdma_event_channel *const channel = id->channel;
		id->channel = nullptr;
		const outcome answer = ask(what);
		id->channel = channel;
		refused(t, answer, what, EINVAL);
	});
	// The two that conformance::ask cannot ask.
	check::run("no struct: EINVAL, the mask untouched" + when, [&](check::test &t) {
		int mask = 0x5a5a;
		errno = 0;
		count_ours(1);
		t.equal("the return value", ::rdma_init_qp_attr(id, nullptr, &mask), -1);
		t.equal("errno", errno, EINVAL);
		t.equal("the mask", mask, 0x5a5a);
	});
	check::run("no mask: EINVAL, the struct untouched" + when, [&](check::test &t) {
		ibv_qp_attr attr, before;
		std::memset(&attr, 0xa5, sizeof attr);
		attr.qp_state = IBV_QPS_INIT;
		before = attr;
		errno = 0;
		count_ours(1);
		t.equal("the return value", ::rdma_init_qp_attr(id, &attr, nullptr), -1);
		t.equal("errno", errno, EINVAL);
		t.expect(std::memcmp(&attr, &before, sizeof attr) == 0, "the struct is untouched");
	});
	check::run("errno is untouched by a success" + when, [&](check::test &t) {
		const question what = about(id);
		const outcome answer = ask(what);
		answered(t, answer, what);
		t.equal("errno", answer.code, conformance::untouched_errno);
	});
}

// A descriptor that a write of 24 bytes does something particular with.
struct oddity {
	const char *name;
	std::function<int()> make;
	int returned;
	int code; // errno; where the write succeeds, untouched
};

int must_open(int fd)
{
	conformance::must(fd < 0 ? -1 : 0, "open");
	return fd;
}

int pipe_end(int which)
{
	int ends[2];
	conformance::must(::pipe(ends), "pipe");
	return ends[which]; // the other one stays open
}

int broken_pipe()
{
	int ends[2];
	conformance::must(::pipe(ends), "pipe");
	::close(ends[0]);
	return ends[1];
}

int full_pipe()
{
	const int fd = pipe_end(1);
	conformance::must(::fcntl(fd, F_SETFL, O_NONBLOCK), "fcntl");
	const char filling[4096] = {};
	while (::write(fd, filling, sizeof filling) > 0)
		;
	return fd;
}

const oddity oddities[] = {
	{"a closed descriptor",
	 [] {
		 const int fd = ::dup(0);
		 ::close(fd);
		 return fd;
	 },
	 -1, EBADF},
	{"descriptor -1", [] { return -1; }, -1, EBADF},
	{"a descriptor that cannot be written to", [] { return pipe_end(0); }, -1, EBADF},
	{"O_PATH", [] { return must_open(::open("/dev/null", O_PATH)); }, -1, EBADF},
	{"/dev/null", [] { return must_open(::open("/dev/null", O_WRONLY)); }, 0,
	 conformance::untouched_errno},
	{"/dev/full", [] { return must_open(::open("/dev/full", O_WRONLY)); }, -1, ENOSPC},
	{"a pipe", [] { return pipe_end(1); }, 0, conformance::untouched_errno},
	{"a pipe that nobody reads", broken_pipe, -1, EPIPE},
	{"a full pipe", full_pipe, -1, EAGAIN},
	{"a socket without a peer",
	 [] { return must_open(::socket(AF_INET, SOCK_STREAM, 0)); }, -1, EPIPE},
	// Takes 8 bytes of whatever is written.
	{"an eventfd (short write)", [] { return must_open(::eventfd(0, 0)); }, -1, ENODATA},
	{"a device opened for reading",
	 [] { return must_open(::open("/dev/infiniband/rdma_cm", O_RDONLY)); }, -1, EBADF},
	{"another file of the device",
	 [] { return must_open(::open("/dev/infiniband/rdma_cm", O_RDWR)); }, -1, EINVAL},
};

void oddity_case(rdma_cm_id *id, const oddity &odd, const char *when)
{
	check::run(std::string{odd.name} + when, [&](check::test &t) {
		rdma_event_channel *const channel = id->channel;
		rdma_event_channel stranger{odd.make()};
		const question what = about(id);
		id->channel = &stranger;
		const outcome ours = ask(what);
		const outcome stock = ask_stock(what);
		id->channel = channel;
		if (odd.returned == 0) {
			// The device did not answer: both hand over whatever there was.
			t.equal("the return value", ours.returned, 0);
			t.equal("errno", ours.code, odd.code);
			t.equal("stock's return value", stock.returned, 0);
			t.equal("stock's errno", stock.code, odd.code);
		} else {
			refused(t, ours, what, odd.code);
			t.equal("the difference from stock",
				conformance::difference(stock, ours, what), "");
		}
		if (stranger.fd >= 0)
			::close(stranger.fd);
	});
}

void destroyed_case()
{
	check::run("a destroyed handle: ENOENT", [](check::test &t) {
		bound one;
		// A copy of the id, private part and all, outlives it.
		const std::size_t len = ::malloc_usable_size(one.id.get());
		std::vector<std::max_align_t> copy(len / sizeof(std::max_align_t) + 1);
		std::memcpy(static_cast<void *>(copy.data()), one.id.get(), len);
		one.id.reset();
		auto *id = reinterpret_cast<rdma_cm_id *>(copy.data());
		const question what = about(id);
		refused(t, ask(what), what, ENOENT);
		agree_in_all(t, id);
	});
}

void all()
{
	const bound one;
	// Two ways lead to the kernel: the first call's and the others'.
	null_cases(one.id.get(), ", first call");
	null_cases(one.id.get(), ", later call");
	for (const oddity &odd : oddities)
		oddity_case(one.id.get(), odd, "");
	destroyed_case();
}

void first(std::string_view name)
{
	const bound one;
	for (const oddity &odd : oddities)
		if (odd.name == name)
			oddity_case(one.id.get(), odd, ", first call");
	check::run("and the next call is answered",
		   [&](check::test &t) { agree_in_all(t, one.id.get()); });
}

constexpr mode modes[] = {
	{"all", all},
	{"first-closed", [] { first("a closed descriptor"); }},
	{"first-null", [] { first("/dev/null"); }},
	{"first-pipe", [] { first("a full pipe"); }},
};

} // namespace

int main(int argc, char **argv)
{
	::signal(SIGPIPE, SIG_IGN);
	return run_mode(argc, argv, modes);
}
