// SPDX-License-Identifier: MIT
// What the fuzz targets have in common. A target is a file with one function,
// LLVMFuzzerTestOneInput: libFuzzer calls it with inputs that it makes up (./run fuzz),
// replay.cpp with those of the corpus (meson test).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size);

namespace qpattr::fuzz {

// A property that every input must have. Ends the process where one has not, as a
// sanitizer does.
inline void must(bool holds, const char *what)
{
	if (holds)
		return;
	std::fprintf(stderr, "fuzz: does not hold: %s\n", what);
	std::abort();
}

// What a person may be shown: no byte that a terminal acts upon.
inline void must_be_printable(std::string_view text)
{
	for (const char each : text) {
		const auto byte = static_cast<unsigned char>(each);
		must(each == '\n' || (byte >= 0x20 && byte != 0x7f), "no control characters");
	}
}

// Numbers from the front of an input; zeros when it is used up.
class input {
public:
	input(const std::uint8_t *data, std::size_t size) : data_{data}, left_{size} {}

	template <class T> T take()
	{
		T out{};
		take_bytes(&out, sizeof out);
		return out;
	}
	void take_bytes(void *to, std::size_t len)
	{
		const std::size_t got = len < left_ ? len : left_;
		if (got)
			std::memcpy(to, data_, got);
		data_ += got;
		left_ -= got;
	}
	[[nodiscard]] bool empty() const { return left_ == 0; }
	[[nodiscard]] std::string_view rest() const
	{
		return {reinterpret_cast<const char *>(data_), left_};
	}

private:
	const std::uint8_t *data_;
	std::size_t left_;
};

inline std::string_view text_of(const std::uint8_t *data, std::size_t size)
{
	return {reinterpret_cast<const char *>(data), size};
}

} // namespace qpattr::fuzz
