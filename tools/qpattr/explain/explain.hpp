// SPDX-License-Identifier: MIT
// What `qpattr explain` knows, a function a kind of thing. Each takes the words that a
// person wrote, and gives nothing where they are not of its kind; where they are, but
// wrong, it throws `failure` with status 2.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/attr/fields.hpp"
#include "tools/qpattr/common/page.hpp"

namespace qpattr::tool {

using words = std::vector<std::string>;

[[nodiscard]] std::optional<page> explain_attribute(const words &said);
[[nodiscard]] std::optional<page> explain_mask(const words &said);
[[nodiscard]] std::optional<page> explain_state(const words &said);
[[nodiscard]] std::optional<page> explain_errno(const words &said);
[[nodiscard]] std::optional<page> explain_event(const words &said);
[[nodiscard]] std::optional<page> explain_completion(const words &said);

// A trace, by the whole of its text; a reply, by its bytes.
[[nodiscard]] page explain_trace(std::string_view text, const std::string &path);
[[nodiscard]] page explain_reply(const std::vector<unsigned char> &bytes);

// Any of the kinds above but the last two, or `failure` with the nearest known name.
[[nodiscard]] page explain_words(const words &said);

// The attribute with that name, the end of it, or what programs call it: "rnr", "mtu",
// "responder_resources". nullptr where there is none.
[[nodiscard]] const attr::attribute *attribute_named(std::string_view name);

// The number of a QP state, by its name or number. 0 to 6.
[[nodiscard]] std::optional<std::uint32_t> state_named(std::string_view name);

// A number in decimal or, with 0x, hexadecimal.
[[nodiscard]] std::optional<std::uint64_t> number_of(std::string_view text);

// Names of each kind, for "did you mean".
void add_attribute_names(std::vector<std::string> &to);
void add_errno_names(std::vector<std::string> &to);
void add_event_names(std::vector<std::string> &to);
void add_completion_names(std::vector<std::string> &to);

// "IBV_WC_RETRY_EXC_ERR" of 12; empty where there is none.
[[nodiscard]] std::string completion_numbered(std::uint64_t number);

// The connection manager's answers for one transition of one kind of QP.
struct known_mask {
	std::uint32_t mask;
	std::uint32_t state; // IBV_QPS_UNKNOWN: any
	const char *types;   // "RC"
	const char *when;    // "" or "before the connection"
};
[[nodiscard]] const std::vector<known_mask> &known_masks();

// Rows "attribute, value, means" of the attributes in a mask.
[[nodiscard]] std::vector<std::vector<std::string>> rows_of(const ibv_qp_attr &attr,
							    std::uint32_t mask);

// Without the structs that it lies in, where that is enough: "traffic_class".
[[nodiscard]] std::string short_name(const attr::attribute &what);

[[nodiscard]] std::string upper(std::string_view text);
[[nodiscard]] std::string lower(std::string_view text);

} // namespace qpattr::tool
