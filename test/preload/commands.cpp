// SPDX-License-Identifier: MIT
// Two calls between marks that strace sees: closing descriptors that cannot be.
// The guest script counts what lies between. A second mode gives memcheck's
// definedness something to trip over.
#include <unistd.h>

#include "test/preload/subject.hpp"

using namespace subject;

namespace {

void mark(int which)
{
	::close(-1000 - which);
}

void marked()
{
	check::run("two calls between marks are answered", [](check::test &t) {
		const bound one;
		const question what = about(one.id.get());
		mark(1);
		const outcome first = ask(what);
		mark(2);
		const outcome second = ask(what);
		mark(3);
		answered(t, first, what);
		answered(t, second, what);
	});
}

// Every byte of an answer decides a jump; volatile, lest it be computed without
// one. Two functions by name, since the guest script looks for them in memcheck's
// complaints.
volatile unsigned jumps = 0;

[[gnu::noinline, gnu::noclone]] void use_of_answer(const outcome &of)
{
	for (const unsigned char byte : of.attr.bytes)
		if (byte & 1)
			jumps = jumps + 1;
	if (of.mask_value() & 1)
		jumps = jumps + 1;
}

// What memcheck does complain about: memory that the kernel filled unseen. A
// command by hand, CREATE_ID, whose reply is the new id.
[[gnu::noinline, gnu::noclone]] void use_of_unseen(int device)
{
	std::uint32_t id;
	struct {
		std::uint32_t number = 0;
		std::uint16_t in = 24, out = 4;
		std::uint64_t uid = 0, response;
		std::uint16_t space = RDMA_PS_TCP;
		std::uint8_t qp_type = 0, reserved[5] = {};
	} command{};
	static_assert(sizeof command == 32);
	command.response = reinterpret_cast<std::uintptr_t>(&id);
	conformance::must(::write(device, &command, sizeof command) == sizeof command ? 0 : -1,
			  "write");
	if (id & 1)
		jumps = jumps + 1;
}

void used()
{
	check::run("each byte of an answer is used", [](check::test &t) {
		const bound one;
		const question what = about(one.id.get());
		for (int i = 0; i < 2; ++i) // the first call and a later one
			use_of_answer(ask(what));
		use_of_unseen(one.channel->fd);
		t.expect(jumps > 0, "a byte is odd");
	});
}

constexpr mode modes[] = {
	{"marked", marked},
	{"used", used},
};

} // namespace

int main(int argc, char **argv)
{
	return run_mode(argc, argv, modes);
}
