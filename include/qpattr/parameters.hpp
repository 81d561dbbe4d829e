// SPDX-License-Identifier: MIT
/**
 * @file parameters.hpp
 * What the two sides of a connection tell each other when it is made: depths,
 * retries, private data.
 */
#ifndef QPATTR_PARAMETERS_HPP
#define QPATTR_PARAMETERS_HPP

#include <cstddef>
#include <cstdint>
#include <span>

#include <rdma/rdma_cma.h>

namespace qpattr::inline v0 {

/**
 * The parameters of connect() and accept(), and those that came with a
 * CONNECT_REQUEST or CONNECT_RESPONSE: event::parameters().
 */
struct parameters {
	/** The program's own bytes; they are copied by the call. The peer gets the
	 *  kernel's full length with zeros behind them, whatever is given here. */
	std::span<const std::byte> private_data{};

	/** READs and ATOMICs of the peer that this side serves at a time. The default
	 *  is as many as the device can, for a QP of create_qp(); with a QP of the
	 *  program's give a number. */
	std::uint8_t responder_resources = RDMA_MAX_RESP_RES;
	/** READs and ATOMICs that this side has under way at a time; likewise. */
	std::uint8_t initiator_depth = RDMA_MAX_INIT_DEPTH;

	std::uint8_t flow_control = 1; /**< told to the peer, nothing else */
	std::uint8_t retry_count = 7;  /**< 0 to 7; of connect() only: both QPs have it */
	/** 0 to 7, 7: for ever. How often the peer repeats what found no receive here:
	 *  each time it waits 655 ms unless min_rnr_timer is changed. */
	std::uint8_t rnr_retry_count = 7;

	bool srq = false;	  /**< with a QP of the program's: it has an SRQ */
	std::uint32_t qp_num = 0; /**< with a QP of the program's: its number */

	/* Whether so many bytes can be said to the C functions at all. */
	static constexpr bool length_fits(std::span<const std::byte> data, std::uint8_t &len) noexcept
	{
		len = static_cast<std::uint8_t>(data.size());
		return data.size() <= UINT8_MAX;
	}

	/** As the C functions take it; false where the private data is too long. */
	bool fill(rdma_conn_param &out) const noexcept
	{
		out = {};
		out.private_data = private_data.data();
		out.responder_resources = responder_resources;
		out.initiator_depth = initiator_depth;
		out.flow_control = flow_control;
		out.retry_count = retry_count;
		out.rnr_retry_count = rnr_retry_count;
		out.srq = srq;
		out.qp_num = qp_num;
		return length_fits(private_data, out.private_data_len);
	}

	/** From what the C functions give. The private data is not copied. */
	static parameters of(const rdma_conn_param &in) noexcept
	{
		parameters out;
		out.private_data = {static_cast<const std::byte *>(in.private_data),
				    in.private_data ? in.private_data_len : std::size_t{}};
		out.responder_resources = in.responder_resources;
		out.initiator_depth = in.initiator_depth;
		out.flow_control = in.flow_control;
		out.retry_count = in.retry_count;
		out.rnr_retry_count = in.rnr_retry_count;
		out.srq = in.srq != 0;
		out.qp_num = in.qp_num;
		return out;
	}
};

} // namespace qpattr::inline v0

#endif
