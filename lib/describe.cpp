// SPDX-License-Identifier: MIT
// Attributes as text for a caller of the C API. One line is put together at a
// time, so that the length of the whole is known whatever fits.
#include <cerrno>
#include <cstdint>

#include <qpattr/qpattr.h>

#include "lib/attr/fields.hpp"
#include "lib/attr/names.hpp"
#include "lib/attr/text.hpp"

using namespace qpattr::attr;

namespace {

// The longest name of the table, and the longest value but for a GID, each with
// two spaces behind it.
constexpr std::size_t value_column = 31;
constexpr std::size_t meaning_column = value_column + 12;

// Longer than any line: unit/describe_test fills every field with its longest text.
using line = text_of<256>;

class page {
public:
	page(char *buf, std::size_t len) noexcept : shown_{buf, len} {}

	void add(line &each) noexcept
	{
		each.add('\n');
		needed_ += each.size();
		shown_.add(each.c_str(), each.size());
	}
	[[nodiscard]] std::size_t needed() const noexcept { return needed_; }

private:
	text shown_;
	std::size_t needed_ = 0;
};

void add_attribute(page &to, const attribute &each, const ibv_qp_attr &from) noexcept
{
	line row;
	row.add(each.name).pad_to(value_column);
	add_value(row, each, from);
	line meaning;
	add_meaning(meaning, each, from);
	if (!meaning.empty()) {
		row.pad_to(meaning_column);
		if (row.size() > meaning_column) // a GID
			row.add("  ");
		row.add(meaning.c_str());
	}
	to.add(row);
}

} // namespace

int qpattr_describe(const struct ibv_qp_attr *attr, int mask, char *buf, size_t len)
{
	if (!attr || (!buf && len)) {
		errno = EINVAL;
		return -1;
	}
	page out{buf, len};
	auto unshown = static_cast<std::uint32_t>(mask);
	for (const attribute &each : attributes) {
		if (!in_mask(each, static_cast<std::uint32_t>(mask)))
			continue;
		add_attribute(out, each, *attr);
		unshown &= ~each.mask_bit;
	}
	if (unshown) {
		line row;
		row.add("(mask)").pad_to(value_column).addf("0x%08x", unshown);
		row.pad_to(meaning_column).add("bits of no attribute known here");
		out.add(row);
	}
	return static_cast<int>(out.needed());
}
