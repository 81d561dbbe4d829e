// SPDX-License-Identifier: MIT
/**
 * @file attributes.hpp
 * With which attributes a QP is to be moved to a state: what the kernel answered,
 * as a value that can be looked at, changed, described and applied.
 *
 * describe() and query() call libqpattr (link with -lqpattr or libqpattr.a).
 */
#ifndef QPATTR_ATTRIBUTES_HPP
#define QPATTR_ATTRIBUTES_HPP

#include <cstddef>
#include <cstdint>
#include <span>

#include <infiniband/verbs.h>

#include <qpattr/qpattr.h>
#include <qpattr/result.hpp>

namespace qpattr::inline v0 {

/**
 * The attributes of one transition. A plain value: copy it, take it as a template
 * for another QP, change fields whose bit is in the mask.
 *
 * id::attributes_for() makes one of a connection.
 */
struct attributes {
	ibv_qp_attr attr{}; /**< qp_state is the state that was asked for */
	int mask = 0;	    /**< enum ibv_qp_attr_mask bits, the kernel's, raw */

	/**
	 * Asks the kernel without an id: for stacks that made their connection by
	 * themselves. See qpattr_query().
	 *
	 * @param fd      a descriptor of the rdma_cm device
	 * @param handle  the kernel's number of the connection
	 * @param state   the state to move to
	 */
	static result<attributes> query(int fd, std::uint32_t handle, ibv_qp_state state) noexcept
	{
		attributes asked;
		if (::qpattr_query(fd, handle, state, &asked.attr, &asked.mask))
			return detail::error_of("qpattr_query");
		asked.attr.qp_state = state;
		return asked;
	}

	/** @return whether all of these enum ibv_qp_attr_mask bits are in the mask */
	[[nodiscard]] constexpr bool has(int bits) const noexcept
	{
		return (mask & bits) == bits;
	}

	/**
	 * Moves a QP with them: ibv_modify_qp(3).
	 *
	 * Only for a QP that the program made by itself. One of id::create_qp() is
	 * moved by the connection manager.
	 *
	 * @param qp  not NULL, else EINVAL
	 * @return the errno of ibv_modify_qp()
	 */
	result<void> apply(ibv_qp *qp) const noexcept
	{
		ibv_qp_attr with = attr; // verbs take it as not const
		const int before = errno;
		errno = 0; // some providers fail without setting it
		const int code = qp ? ::ibv_modify_qp(qp, &with, mask) : EINVAL;
		if (code < 0)
			return detail::error_of("ibv_modify_qp");
		errno = before;
		return error{code, "ibv_modify_qp"};
	}

	/**
	 * The attributes in the mask as text with units, one line each. See
	 * qpattr_describe().
	 *
	 * @param out  where to; cut to it, always terminated, unless it is empty
	 * @return the bytes that the whole text needs without the terminating zero
	 */
	std::size_t describe(std::span<char> out) const noexcept
	{
		const int needed = ::qpattr_describe(&attr, mask, out.data(), out.size());
		return needed < 0 ? 0 : static_cast<std::size_t>(needed);
	}

	/**
	 * The same as a string of the program's: describe<std::string>(). This layer
	 * does not include <string>; what the string allocates and throws is its own
	 * matter.
	 */
	template <class String> [[nodiscard]] String describe() const
	{
		String text;
		// One more: a zero behind the text is written too.
		text.resize(describe(std::span<char>{}) + 1);
		describe(std::span<char>{text.data(), text.size()});
		text.resize(text.size() - 1);
		return text;
	}
};

} // namespace qpattr::inline v0

#endif
