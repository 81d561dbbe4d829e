// SPDX-License-Identifier: MIT
// The known name that is most like what a person wrote.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace qpattr::tool {

// Letters that must be put in, left out, replaced or exchanged with their neighbour.
// Upper and lower case are the same.
[[nodiscard]] std::size_t distance(std::string_view a, std::string_view b);

// Empty where none is near: more than a third of its letters are others.
[[nodiscard]] std::string nearest(std::string_view written, const std::vector<std::string> &names);

} // namespace qpattr::tool
