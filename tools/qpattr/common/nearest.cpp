// SPDX-License-Identifier: MIT
#include "tools/qpattr/common/nearest.hpp"

#include <algorithm>
#include <cctype>

namespace qpattr::tool {
namespace {

char lower(char c)
{
	return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
}

} // namespace

std::size_t distance(std::string_view a, std::string_view b)
{
	// Row by row of the table whose cell (i, j) is the distance of the first i letters
	// from the first j; an exchange looks two rows back.
	std::vector<std::size_t> last, row(b.size() + 1), next(b.size() + 1);
	for (std::size_t j = 0; j <= b.size(); ++j)
		row[j] = j;
	for (std::size_t i = 1; i <= a.size(); ++i) {
		next[0] = i;
		for (std::size_t j = 1; j <= b.size(); ++j) {
			const bool same = lower(a[i - 1]) == lower(b[j - 1]);
			next[j] = std::min({row[j] + 1, next[j - 1] + 1, row[j - 1] + !same});
			if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
			    lower(a[i - 2]) == lower(b[j - 1]))
				next[j] = std::min(next[j], last[j - 2] + 1);
		}
		last = row;
		row = next;
	}
	return row[b.size()];
}

std::string nearest(std::string_view written, const std::vector<std::string> &names)
{
	std::string best;
	std::size_t best_distance = written.size() / 3 + 1;
	for (const std::string &name : names) {
		const std::size_t far = distance(written, name);
		if (far < best_distance) {
			best = name;
			best_distance = far;
		}
	}
	return best;
}

} // namespace qpattr::tool
