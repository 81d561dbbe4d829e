// SPDX-License-Identifier: MIT
// Where records go: text, JSON Lines or Perfetto, to a file or a standard stream. What
// cannot be written is counted; a record is there whole or not at all.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tools/qpattr/common/trace_file.hpp"

namespace qpattr::tool {

class trace_output {
public:
	virtual ~trace_output() = default;

	// `line` is what the record was read from.
	virtual void take(const record &each, std::string_view line) = 0;
	// The trace ends now.
	virtual void finish(std::uint64_t time_ns) = 0;
	// Records that could not be written so far, and why the last of them.
	[[nodiscard]] virtual std::uint64_t lost() const = 0;
	[[nodiscard]] virtual int error() const = 0;
	// "FILE", for what is said of it.
	[[nodiscard]] virtual const std::string &name() const = 0;
};

// `format` is text, json or perfetto; `path` a file, "-" for standard output, or empty
// for standard error. Throws `failure` where it cannot be opened, or is one of the files
// that are `needed`: it is made empty.
[[nodiscard]] std::unique_ptr<trace_output> make_output(const std::string &format,
							const std::string &path,
							const std::vector<std::string> &needed);

} // namespace qpattr::tool
