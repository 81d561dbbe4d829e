// SPDX-License-Identifier: MIT
// qpattr_describe(): the text of attributes, as a program of the C API sees it.
#include <qpattr/qpattr.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include "lib/attr/fields.hpp"
#include "test/support/catch.hpp"
#include "test/support/raw_enum.hpp"

using qpattr::test::raw_enum;

namespace {

constexpr int every_bit = -1;

std::string described(const ibv_qp_attr &attr, int mask)
{
	std::vector<char> buf(8192, '\x5a');
	const int needed = qpattr_describe(&attr, mask, buf.data(), buf.size());
	REQUIRE(needed >= 0);
	REQUIRE(static_cast<std::size_t>(needed) < buf.size());
	CHECK(std::strlen(buf.data()) == static_cast<std::size_t>(needed));
	return buf.data();
}

std::vector<std::string> lines(const std::string &text)
{
	std::vector<std::string> out;
	std::size_t from = 0;
	for (std::size_t at; (at = text.find('\n', from)) != std::string::npos; from = at + 1)
		out.push_back(text.substr(from, at - from));
	CHECK(from == text.size()); // the last line is ended too
	return out;
}

ibv_qp_attr rts()
{
	ibv_qp_attr attr{};
	attr.qp_state = IBV_QPS_RTS;
	attr.timeout = 19;
	attr.retry_cnt = 7;
	attr.rnr_retry = 7;
	attr.sq_psn = 0x838060;
	attr.max_rd_atomic = 1;
	return attr;
}

// Values that have the longest text.
ibv_qp_attr longest()
{
	ibv_qp_attr attr;
	std::memset(&attr, 0xff, sizeof attr);
	return attr;
}

} // namespace

TEST_CASE("describe: a line for each attribute of the mask, with its unit", "[describe]")
{
	CHECK(described(rts(), IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				       IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC) ==
	      "qp_state                       RTS         ready to send\n"
	      "sq_psn                         0x838060    8618080\n"
	      "max_rd_atomic                  1           1 READ or ATOMIC at a time\n"
	      "timeout                        19          2.15 s\n"
	      "retry_cnt                      7           7 retries\n"
	      "rnr_retry                      7           retried for ever\n");
}

TEST_CASE("describe: only what the mask selects", "[describe]")
{
	CHECK(described(longest(), 0).empty());
	CHECK(described(rts(), IBV_QP_TIMEOUT) ==
	      "timeout                        19          2.15 s\n");
}

TEST_CASE("describe: an address has all its fields, a GID pushes its meaning aside", "[describe]")
{
	ibv_qp_attr attr{};
	const unsigned char gid[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 77, 0, 1};
	std::memcpy(attr.ah_attr.grh.dgid.raw, gid, sizeof gid);
	attr.ah_attr.is_global = 1;
	const auto text = lines(described(attr, IBV_QP_AV));
	REQUIRE(text.size() == 11);
	CHECK(text[0] == "ah_attr.grh.dgid               ::ffff:10.77.0.1  IPv4 10.77.0.1");
	CHECK(text[9] == "ah_attr.is_global              1           with a global route (GRH)");
	CHECK(text[10] == "ah_attr.port_num               0");
}

TEST_CASE("describe: every attribute that has a mask bit can be had", "[describe]")
{
	const auto text = lines(described(rts(), every_bit));
	std::size_t line = 0;
	for (const auto &each : qpattr::attr::attributes) {
		if (!each.mask_bit)
			continue;
		REQUIRE(line < text.size());
		CHECK(text[line].rfind(std::string{each.name} + ' ', 0) == 0);
		++line;
	}
	REQUIRE(line + 1 == text.size());
	CHECK(text[line].rfind("(mask) ", 0) == 0);
}

TEST_CASE("describe: bits of no attribute are named", "[describe]")
{
	CHECK(described(rts(), 0x01e00000) ==
	      "(mask)                         0x01e00000  bits of no attribute known here\n");
	CHECK(described(rts(), IBV_QP_TIMEOUT | (1 << 30)) ==
	      "timeout                        19          2.15 s\n"
	      "(mask)                         0x40000000  bits of no attribute known here\n");
}

TEST_CASE("describe: values that no enum names are numbers, no line is cut", "[describe]")
{
	ibv_qp_attr attr{};
	attr.qp_state = raw_enum<ibv_qp_state>(99);
	CHECK(described(attr, IBV_QP_STATE) ==
	      "qp_state                       0x63        not a QP state (0 to 6)\n");
	std::size_t longest_line = 0;
	for (const auto &line : lines(described(longest(), every_bit)))
		longest_line = std::max(longest_line, line.size());
	CHECK(longest_line > 80);
	CHECK(longest_line < 255); // lib/describe.cpp's line
}

TEST_CASE("describe: as snprintf, for every length of the buffer", "[describe]")
{
	const ibv_qp_attr attr = longest();
	const std::string whole = described(attr, every_bit);
	const auto needed = static_cast<int>(whole.size());
	CHECK(qpattr_describe(&attr, every_bit, nullptr, 0) == needed);
	char none = '\x5a';
	CHECK(qpattr_describe(&attr, every_bit, &none, 0) == needed);
	CHECK(none == '\x5a');
	for (std::size_t len = 1; len <= whole.size() + 1; ++len) {
		std::vector<char> buf(len + 1, '\x5a');
		REQUIRE(qpattr_describe(&attr, every_bit, buf.data(), len) == needed);
		const std::string part = buf.data();
		REQUIRE(part.size() < len);
		REQUIRE(len - part.size() <= 4); // at most a UTF-8 character is missing
		REQUIRE(whole.compare(0, part.size(), part) == 0);
		REQUIRE(buf[len] == '\x5a');
	}
}

TEST_CASE("describe: NULL is EINVAL, success leaves errno alone", "[describe][errors]")
{
	constexpr int no_errno = 4711;
	const ibv_qp_attr attr = rts();
	char buf[64] = "kept";
	errno = 0;
	CHECK(qpattr_describe(nullptr, 0, buf, sizeof buf) == -1);
	CHECK(errno == EINVAL);
	CHECK(std::strcmp(buf, "kept") == 0);
	errno = 0;
	CHECK(qpattr_describe(&attr, 0, nullptr, 1) == -1);
	CHECK(errno == EINVAL);
	errno = no_errno;
	CHECK(qpattr_describe(&attr, every_bit, buf, sizeof buf) > 0);
	CHECK(errno == no_errno);
}
