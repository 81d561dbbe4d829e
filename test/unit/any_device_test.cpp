// SPDX-License-Identifier: MIT
// lib/cm/any_device.cpp with the directory scripted.
#include "lib/cm/any_device.hpp"

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <dirent.h>
#include <string>
#include <vector>

#include "test/support/catch.hpp"

namespace {

bool there = false;
std::vector<std::string> entries;
std::size_t next_entry = 0;
int opened = 0, closed = 0;
std::string asked;
char list; // stands for the DIR

} // namespace

extern "C" {

DIR *__wrap_opendir(const char *path);
dirent *__wrap_readdir(DIR *dir);
dirent *__wrap_readdir64(DIR *dir);
int __wrap_closedir(DIR *dir);

DIR *__wrap_opendir(const char *path)
{
	asked = path;
	if (!there) {
		errno = ENOENT;
		return nullptr;
	}
	++opened;
	next_entry = 0;
	return reinterpret_cast<DIR *>(&list);
}

dirent *__wrap_readdir(DIR *)
{
	static dirent entry;
	if (next_entry == entries.size())
		return nullptr;
	std::strcpy(entry.d_name, entries[next_entry++].c_str());
	return &entry;
}

// What readdir() is called where files may be large; the struct is the same then.
dirent *__wrap_readdir64(DIR *dir)
{
	return __wrap_readdir(dir);
}

int __wrap_closedir(DIR *)
{
	++closed;
	return 0;
}

} // extern "C"

// One case: what is seen once is remembered for the rest of the process.
TEST_CASE("a device is looked for until there is one")
{
	using qpattr::cm::any_device;

	CHECK_FALSE(any_device());
	CHECK(asked == "/sys/class/infiniband_verbs");
	there = true;
	CHECK_FALSE(any_device());
	entries = {".", "..", "abi_version"};
	CHECK_FALSE(any_device());
	CHECK(opened == 2);
	CHECK(closed == opened);

	entries = {".", "..", "abi_version", "uverbs12", "uverbs13"};
	CHECK(any_device());
	CHECK(next_entry == 4);
	CHECK(closed == 3);

	// It may go again: whoever uses an address will be told.
	there = false;
	CHECK(any_device());
	CHECK(opened == 3);
}
