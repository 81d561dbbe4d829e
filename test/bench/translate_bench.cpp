// SPDX-License-Identifier: MIT
// One translation of a reply, many times, for an instruction counter outside:
// translate_bench qpattr|libibverbs|nothing TIMES
// The three loops are alike but for the call; "nothing" is the loop alone.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "lib/attr/translate.hpp"

extern "C" void ibv_copy_qp_attr_from_kern(ibv_qp_attr *dst, ib_uverbs_qp_attr *src);

namespace {

using translation = void(ibv_qp_attr *, ib_uverbs_qp_attr *);

// A function of its own, as libibverbs' is.
[[gnu::noinline]] void by_qpattr(ibv_qp_attr *to, ib_uverbs_qp_attr *from)
{
	qpattr::attr::translate(*from, *to);
	asm volatile("" ::"r"(to) : "memory");
}

[[gnu::noinline]] void by_nothing(ibv_qp_attr *to, ib_uverbs_qp_attr *from)
{
	asm volatile("" ::"r"(to), "r"(from) : "memory");
}

} // namespace

int main(int argc, char **argv)
{
	const std::string_view who = argc == 3 ? argv[1] : "";
	translation *const run = who == "qpattr"       ? by_qpattr
				 : who == "libibverbs" ? ibv_copy_qp_attr_from_kern
				 : who == "nothing"    ? by_nothing
						       : nullptr;
	if (!run) {
		std::fprintf(stderr, "usage: translate_bench qpattr|libibverbs|nothing TIMES\n");
		return 2;
	}
	translation *volatile call = run;
	ib_uverbs_qp_attr reply;
	std::memset(&reply, 0x11, sizeof reply);
	ibv_qp_attr attr{};
	for (long times = std::atol(argv[2]); times > 0; --times)
		call(&attr, &reply);
	return 0;
}
