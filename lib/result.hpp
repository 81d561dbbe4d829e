// SPDX-License-Identifier: MIT
// Errors are values inside qpattr: an errno and the stage that met it. They
// become -1 and errno at the C edge, and nowhere before.
#pragma once

#include <qpattr/qpattr.h>

namespace qpattr {

struct failure {
	int code;	    // errno, positive
	qpattr_stage stage; // never QPATTR_STAGE_NONE
};

// Either a value or an error. T is trivially copyable: descriptors, counts,
// offsets; nothing here owns.
template <class T> class [[nodiscard]] result {
public:
	constexpr result(T value) noexcept : value_{value} {}
	constexpr result(failure why) noexcept : failure_{why} {}

	[[nodiscard]] constexpr bool ok() const noexcept
	{
		return failure_.code == 0;
	}
	constexpr explicit operator bool() const noexcept { return ok(); }
	[[nodiscard]] constexpr T value() const noexcept { return value_; }
	[[nodiscard]] constexpr failure why() const noexcept
	{
		return failure_;
	}

private:
	T value_{};
	failure failure_{0, QPATTR_STAGE_NONE};
};

template <> class [[nodiscard]] result<void> {
public:
	constexpr result() noexcept = default;
	constexpr result(failure why) noexcept : failure_{why} {}

	[[nodiscard]] constexpr bool ok() const noexcept
	{
		return failure_.code == 0;
	}
	constexpr explicit operator bool() const noexcept { return ok(); }
	[[nodiscard]] constexpr failure why() const noexcept
	{
		return failure_;
	}

private:
	failure failure_{0, QPATTR_STAGE_NONE};
};

} // namespace qpattr
