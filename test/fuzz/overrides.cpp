// SPDX-License-Identifier: MIT
// QPATTR_OVERRIDE, as the preload object takes it: all of it or nothing, with a reason.
#include <string>

#include <rdma/rdma_cma.h>

#include "lib/preload/rules.hpp"
#include "test/fuzz/fuzz.hpp"

using namespace qpattr;

namespace {

preload::connection somewhere()
{
	preload::connection out{};
	out.port_space = RDMA_PS_TCP;
	out.qp_type = IBV_QPT_RC;
	return out;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
	static preload::rules all;
	const std::string_view text = fuzz::text_of(data, size);
	attr::text_of<400> why;
	const bool whole = all.parse(text, why);
	fuzz::must(whole == why.empty(), "a reason where it is refused, and only there");
	fuzz::must(whole || all.size() == 0, "all or nothing");
	fuzz::must(!why.truncated(), "the reason is whole");
	fuzz::must_be_printable(why.c_str());
	fuzz::must(std::strchr(why.c_str(), '\n') == nullptr, "the reason is one line");
	const preload::connection which = somewhere();
	for (std::size_t i = 0; i < all.size(); ++i) {
		const preload::rule &each = all[i];
		fuzz::must(each.written.data() >= text.data() &&
				   each.written.data() + each.written.size() <=
					   text.data() + text.size(),
			   "a rule points into its text");
		(void)preload::matches(each, which);
		for (std::size_t k = each.first; k < std::size_t{each.first} + each.count; ++k) {
			ibv_qp_attr attr{};
			const attr::setting &set = all.setting(k);
			attr::store_number(attr, *set.what, set.number);
			fuzz::must(attr::value_number(*set.what, attr) == set.number,
				   "a number fits into its field");
		}
	}
	return 0;
}
