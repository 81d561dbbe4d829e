// SPDX-License-Identifier: MIT
// The kernel's reply: translated, described in buffers of every length, linted, and its
// attributes written and parsed again. Input: the 144 bytes, a mask, a buffer's length.
#include <array>
#include <string>

#include <qpattr/qpattr.h>

#include "lib/attr/fields.hpp"
#include "lib/attr/lint.hpp"
#include "lib/attr/parse.hpp"
#include "lib/attr/translate.hpp"
#include "lib/attr/units.hpp"
#include "test/fuzz/fuzz.hpp"

#ifndef QPATTR_WITHOUT_LIBIBVERBS
extern "C" void ibv_copy_qp_attr_from_kern(ibv_qp_attr *dst, ib_uverbs_qp_attr *src);
#endif

using namespace qpattr;

namespace {

#ifdef QPATTR_WITHOUT_LIBIBVERBS
// MemorySanitizer does not know the libraries that libibverbs brings.
void must_be_as_by_libibverbs(ib_uverbs_qp_attr, const ibv_qp_attr &) {}
#else
// What stock uses, on memory that was the same.
void must_be_as_by_libibverbs(ib_uverbs_qp_attr reply, const ibv_qp_attr &ours)
{
	ibv_qp_attr theirs;
	std::memset(&theirs, 0xa5, sizeof theirs);
	::ibv_copy_qp_attr_from_kern(&theirs, &reply);
	for (const attr::field &each : attr::fields)
		fuzz::must(std::memcmp(reinterpret_cast<const char *>(&ours) + each.to,
				       reinterpret_cast<const char *>(&theirs) + each.to, each.len) == 0,
			   "every field is as by libibverbs");
}
#endif

// qp_state and rate_limit stay as they were, whatever comes.
ibv_qp_attr translated(const ib_uverbs_qp_attr &reply)
{
	ibv_qp_attr out;
	std::memset(&out, 0xa5, sizeof out);
	ibv_qp_attr before;
	std::memcpy(&before, &out, sizeof before);
	attr::translate(reply, out);
	// An enum may hold what it does not name: as bytes.
	fuzz::must(std::memcmp(&out.qp_state, &before.qp_state, sizeof out.qp_state) == 0 &&
			   out.rate_limit == before.rate_limit,
		   "qp_state and rate_limit are left alone");
	must_be_as_by_libibverbs(reply, out);
	return out;
}

void describe(const ibv_qp_attr &attr, int mask, std::size_t len)
{
	std::array<char, 8192> whole{};
	const int needs = ::qpattr_describe(&attr, mask, whole.data(), whole.size());
	fuzz::must(needs >= 0 && static_cast<std::size_t>(needs) < whole.size(),
		   "the text has a bound");
	fuzz::must(std::strlen(whole.data()) == static_cast<std::size_t>(needs),
		   "it is as long as is said");
	fuzz::must_be_printable(whole.data());
	const std::string guard(len, '\x7e');
	std::string cut = guard;
	fuzz::must(::qpattr_describe(&attr, mask, len ? cut.data() : nullptr, len) == needs,
		   "the length does not depend on the buffer");
	if (len) {
		const std::size_t got = std::strlen(cut.c_str());
		fuzz::must(got < len, "it is terminated");
		fuzz::must(std::strncmp(cut.c_str(), whole.data(), got) == 0,
			   "what is cut is a beginning");
	}
}

void lint(const ibv_qp_attr &attr, std::uint32_t mask, const attr::surroundings &at)
{
	attr::findings found;
	attr::lint(attr, mask, at, found);
	for (std::size_t i = 0; i < found.size(); ++i) {
		fuzz::must_be_printable(found[i].reason.c_str());
		fuzz::must_be_printable(found[i].advice);
	}
}

// What it reads as can be written in an override, where it is in range.
void parse_again(const ibv_qp_attr &attr)
{
	for (const attr::attribute &each : attr::attributes) {
		if (attr::why_not_settable(each) || each.kind == attr::unit::gid)
			continue;
		const std::uint32_t number = attr::value_number(each, attr);
		// 256 and more are bytes.
		if (each.kind == attr::unit::path_mtu && number > IBV_MTU_4096)
			continue;
		attr::setting set;
		attr::text_of<320> why;
		if (attr::parse_setting(each.name, std::to_string(number), set, why))
			fuzz::must(set.what == &each && set.number == number && !set.rounded,
				   "a bare number is itself");
		else
			fuzz::must(!why.truncated() && !why.empty(), "a refusal has its reason");
	}
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
	fuzz::input in{data, size};
	const auto reply = in.take<ib_uverbs_qp_attr>();
	const auto mask = in.take<std::uint32_t>();
	const auto len = in.take<std::uint16_t>() % 4096U;
	const ibv_qp_attr attr = translated(reply);
	describe(attr, static_cast<int>(mask), len);
	attr::surroundings at;
	at.qp_type = in.take<std::uint8_t>();
	at.soft_roce = in.take<std::uint8_t>() & 1;
	lint(attr, mask, at);
	parse_again(attr);
	return 0;
}
