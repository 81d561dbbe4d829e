// SPDX-License-Identifier: MIT
#include "lib/attr/text.hpp"

#include <cstring>
#include <string>
#include <vector>

#include "test/support/catch.hpp"

using qpattr::attr::text;
using qpattr::attr::text_of;

namespace {

// A buffer with bytes around it that nobody may touch.
class guarded {
public:
	explicit guarded(std::size_t len) : bytes_(len + 2 * margin, mark), len_{len} {}

	char *buf() { return bytes_.data() + margin; }
	[[nodiscard]] bool untouched_outside() const
	{
		for (std::size_t i = 0; i < margin; ++i)
			if (bytes_[i] != mark || bytes_[margin + len_ + i] != mark)
				return false;
		return true;
	}

private:
	static constexpr std::size_t margin = 16;
	static constexpr char mark = '\x5a';
	std::vector<char> bytes_;
	std::size_t len_;
};

} // namespace

TEST_CASE("text: adds pieces one after the other", "[text]")
{
	text_of<64> line;
	CHECK(line.empty());
	line.add("timeout ").addf("%u", 14U).add(' ').add("67.1 ms, and more", 7);
	CHECK(std::string{line.c_str()} == "timeout 14 67.1 ms");
	CHECK(line.size() == 18);
	CHECK_FALSE(line.truncated());
	CHECK_FALSE(line.empty());
}

TEST_CASE("text: at every capacity it is a terminated beginning of the whole", "[text]")
{
	const std::string whole = "state=RTR mtu=1024";
	for (std::size_t capacity = 1; capacity < 32; ++capacity) {
		guarded memory{capacity};
		text line{memory.buf(), capacity};
		line.add("state=").addf("%s", "RTR").add(' ').add("mtu=").addf("%d", 1024);
		INFO("capacity " << capacity);
		CHECK(std::string{line.c_str()} == whole.substr(0, capacity - 1));
		CHECK(line.size() == std::strlen(line.c_str()));
		CHECK(line.truncated() == (capacity <= whole.size()));
		CHECK(memory.untouched_outside());
	}
}

TEST_CASE("text: nothing is added behind what was cut", "[text]")
{
	text_of<6> line;
	line.add("abc").add("defgh").add("!").addf("%d", 7).add('x').pad_to(5);
	CHECK(std::string{line.c_str()} == "abcde");
	CHECK(line.truncated());
}

TEST_CASE("text: what fills the buffer exactly is not truncated", "[text]")
{
	text_of<4> by_add;
	by_add.add("abc");
	CHECK_FALSE(by_add.truncated());
	by_add.add("");
	CHECK_FALSE(by_add.truncated());
	by_add.add("d");
	CHECK(by_add.truncated());

	text_of<4> by_format;
	by_format.addf("%03d", 7);
	CHECK(std::string{by_format.c_str()} == "007");
	CHECK_FALSE(by_format.truncated());
	by_format.addf("%s", "");
	CHECK_FALSE(by_format.truncated());
	by_format.addf("%d", 8);
	CHECK(by_format.truncated());
	CHECK(std::string{by_format.c_str()} == "007");
}

TEST_CASE("text: a character of several bytes is kept whole or left out", "[text]")
{
	// 2, 3 and 4 bytes.
	for (const std::string character : {"\xc2\xb5", "\xe2\x89\xa0", "\xf0\x9f\x90\xa7"}) {
		for (std::size_t room = 0; room <= character.size(); ++room) {
			const std::size_t capacity = 2 + room + 1;
			const std::string kept =
				"ab" + (room == character.size() ? character : std::string{});
			guarded by_add_memory{capacity};
			text by_add{by_add_memory.buf(), capacity};
			by_add.add(("ab" + character).c_str());
			CHECK(std::string{by_add.c_str()} == kept);
			CHECK(by_add.truncated() == (room < character.size()));

			guarded by_format_memory{capacity};
			text by_format{by_format_memory.buf(), capacity};
			by_format.addf("ab%s", character.c_str());
			CHECK(std::string{by_format.c_str()} == kept);
			CHECK(by_format.truncated() == (room < character.size()));
			CHECK(by_add_memory.untouched_outside());
			CHECK(by_format_memory.untouched_outside());
		}
	}
}

TEST_CASE("text: bytes that are no UTF-8 are taken as they come", "[text]")
{
	text_of<4> line;
	line.add("\x80\x80\x80");
	CHECK(line.size() == 3);
	CHECK_FALSE(line.truncated());
	line.add("\x80");
	CHECK(line.truncated());
	CHECK(line.size() <= 3);
}

TEST_CASE("text: no buffer, no room, no piece", "[text]")
{
	text nowhere{nullptr, 100};
	nowhere.add("abc").addf("%d", 1).pad_to(10);
	CHECK(std::string{nowhere.c_str()}.empty());
	CHECK(nowhere.truncated());

	guarded memory{0};
	text no_room{memory.buf(), 0};
	no_room.addf("%d", 1).add('c');
	no_room.clear();
	CHECK(std::string{no_room.c_str()}.empty());
	CHECK(memory.untouched_outside());

	text_of<8> line;
	line.add(nullptr).add(nullptr, 3).add("", 0);
	CHECK(line.empty());
	CHECK_FALSE(line.truncated());
}

TEST_CASE("text: clear() begins anew", "[text]")
{
	text_of<4> line;
	line.add("abcdef");
	CHECK(line.truncated());
	line.clear();
	CHECK_FALSE(line.truncated());
	CHECK(std::string{line.c_str()}.empty());
	line.add("xyz");
	CHECK(std::string{line.c_str()} == "xyz");
}

TEST_CASE("text: pad_to() fills up to a column and no further", "[text]")
{
	text_of<16> line;
	line.add("ab").pad_to(5).add("c").pad_to(3);
	CHECK(std::string{line.c_str()} == "ab   c");
	line.pad_to(100);
	CHECK(line.truncated());
	CHECK(line.size() == 15);
}
