// SPDX-License-Identifier: MIT
#include "tools/qpattr/common/program.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <string_view>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <fmt/format.h>

#include "tools/companion.hpp"
#include "tools/qpattr/common/descriptor.hpp"
#include "tools/qpattr/common/failure.hpp"
#include "tools/resolved.hpp"

namespace qpattr::tool {
namespace {

using header = ElfW(Ehdr);
using segment = ElfW(Phdr);

constexpr unsigned char own_class = sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32;

bool read_at(const descriptor &file, void *to, std::size_t len, std::uint64_t at)
{
	return ::pread(file.fd(), to, len, static_cast<off_t>(at)) == static_cast<ssize_t>(len);
}

bool runs(const std::string &path)
{
	struct stat is;
	return ::stat(path.c_str(), &is) == 0 && S_ISREG(is.st_mode) &&
	       ::faccessat(AT_FDCWD, path.c_str(), X_OK, AT_EACCESS) == 0;
}

std::string in_path(const std::string &name)
{
	const char *const value = std::getenv("PATH");
	const std::string path = value ? value : "/bin:/usr/bin";
	std::size_t begin = 0;
	while (begin <= path.size()) {
		const std::size_t end = std::min(path.find(':', begin), path.size());
		std::string dir = path.substr(begin, end - begin);
		if (dir.empty())
			dir = ".";
		if (runs(dir + "/" + name))
			return dir + "/" + name;
		begin = end + 1;
	}
	throw failure{fmt::format("there is no program '{}' in PATH: give its path, or correct "
				  "its name",
				  name),
		      usage_status};
}

void insist_that_it_runs(const std::string &path)
{
	struct stat is;
	if (::stat(path.c_str(), &is) != 0)
		throw failure{fmt::format("there is no program {}: {}", path, std::strerror(errno)),
			      usage_status};
	if (!S_ISREG(is.st_mode))
		throw failure{fmt::format("{} is no program but a {}: give a program's path", path,
					  S_ISDIR(is.st_mode) ? "directory" : "special file"),
			      usage_status};
	if (!runs(path))
		throw failure{fmt::format("{} may not be executed by you: chmod +x, or another user",
					  path),
			      usage_status};
}

// Why the kernel would run it in the secure mode, in which the dynamic linker takes no
// path from LD_PRELOAD; nullptr where it would not.
const char *secure(const std::string &path)
{
	struct stat is;
	struct statvfs on;
	const bool nothing_gained = ::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ||
				    ::statvfs(path.c_str(), &on) != 0 || (on.f_flag & ST_NOSUID);
	if (nothing_gained || ::stat(path.c_str(), &is) != 0)
		return nullptr;
	if ((is.st_mode & S_ISUID) && is.st_uid != ::getuid())
		return "set-user-ID";
	// Without the group's x it marks files for locking of old.
	constexpr mode_t set_gid = S_ISGID | S_IXGRP;
	if ((is.st_mode & set_gid) == set_gid && is.st_gid != ::getgid())
		return "set-group-ID";
	if (::getuid() != 0 && ::getxattr(path.c_str(), "security.capability", nullptr, 0) > 0)
		return "given capabilities by its file";
	return nullptr;
}

const char *machine_name(unsigned machine)
{
	switch (machine) {
	case EM_386:
		return "i386";
	case EM_X86_64:
		return "x86-64";
	case EM_ARM:
		return "ARM";
	case EM_AARCH64:
		return "arm64";
	case EM_PPC64:
		return "ppc64";
	case EM_S390:
		return "s390";
	case EM_RISCV:
		return "RISC-V";
	}
	return nullptr;
}

#if defined(__x86_64__)
constexpr unsigned own_machine = EM_X86_64;
#elif defined(__aarch64__)
constexpr unsigned own_machine = EM_AARCH64;
#else
constexpr unsigned own_machine = EM_NONE; // not compared
#endif

// Of another word length or processor: the preload object cannot be loaded into it.
void insist_on_machine(const std::string &path, const header &is)
{
	const unsigned bits = is.e_ident[EI_CLASS] == ELFCLASS32 ? 32 : 64;
	const bool same_class = is.e_ident[EI_CLASS] == own_class;
	if (same_class && (own_machine == EM_NONE || is.e_machine == own_machine))
		return;
	const char *const name = machine_name(is.e_machine);
	throw failure{fmt::format("{} is a {}-bit program for {}, the preload object is not: "
				  "use a qpattr that was built for it",
				  path, bits, name ? name : "another processor")};
}

// The dynamic linker has no PT_INTERP of its own, and takes LD_PRELOAD.
bool is_dynamic_linker(const std::string &path)
{
	const std::string name = path.substr(path.rfind('/') + 1);
	return name.rfind("ld-", 0) == 0 || name.rfind("ld.so", 0) == 0 ||
	       name.rfind("ld64.so", 0) == 0;
}

bool has_interpreter(const descriptor &file, const header &is)
{
	for (unsigned i = 0; i < is.e_phnum; ++i) {
		segment each;
		if (!read_at(file, &each, sizeof each, is.e_phoff + std::uint64_t{i} * is.e_phentsize))
			return true; // not judged
		if (each.p_type == PT_INTERP)
			return true;
	}
	return false;
}

void insist_on_reach(const std::string &path, const char *command)
{
	if (const char *const why = secure(path))
		throw failure{fmt::format("{} is {}, and the dynamic linker preloads nothing into "
					  "it: {} a copy without that, as a user who may use the "
					  "device",
					  path, why, command)};
	// Opened once, so that what is judged is one file.
	const descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY)};
	header is;
	std::memset(&is, 0, sizeof is);
	// What cannot be read, and scripts, whose interpreter may start what is meant:
	// exec tells.
	if (!file || !read_at(file, &is, sizeof is, 0) || std::memcmp(is.e_ident, ELFMAG, SELFMAG) != 0)
		return;
	insist_on_machine(path, is);
	if (!has_interpreter(file, is) && !is_dynamic_linker(path))
		throw failure{fmt::format("{} is linked statically, so that nothing can be "
					  "preloaded into it: link it dynamically; or, if it only "
					  "starts the program that is meant, start it by sh -c",
					  path)};
}

} // namespace

std::string find_program(const std::string &name, const char *command)
{
	const bool by_path = name.find('/') != std::string::npos;
	const std::string path = by_path ? name : in_path(name);
	insist_that_it_runs(path);
	insist_on_reach(path, command);
	return path;
}

std::string find_preload_object()
{
	std::string path;
	const char *const asked = ::secure_getenv("QPATTR_PRELOAD_OBJECT");
	if (asked && *asked) {
		path = resolved(asked);
		if (path.empty() || ::access(path.c_str(), R_OK) != 0)
			throw unusable{fmt::format("QPATTR_PRELOAD_OBJECT is {}, which cannot be read", asked),
				       "correct it or unset it"};
	} else {
		path = companion("/tools/qpattr", "../../lib/preload/libqpattr-preload.so",
				 "../" QPATTR_LIBDIR "/libqpattr-preload.so");
		if (path.empty() || ::access(path.c_str(), R_OK) != 0)
			throw unusable{"libqpattr-preload.so is not where it was installed, in "
				       "../" QPATTR_LIBDIR " of this program",
				       "install it again, or set QPATTR_PRELOAD_OBJECT to its path"};
	}
	if (path.find_first_of(": \t\n") != std::string::npos)
		throw unusable{fmt::format("{} has a space or a colon in its path, which LD_PRELOAD "
					   "cannot hold",
					   path),
			       "set QPATTR_PRELOAD_OBJECT to a path without"};
	return path;
}

} // namespace qpattr::tool
