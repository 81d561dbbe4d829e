// SPDX-License-Identifier: MIT
// Whether a file that was there already may be there by another user's doing: one who
// guessed the name of a trace in /tmp, to read it or to have something else written over.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

namespace qpattr {

enum class planted : unsigned char {
	no,
	foreign, // another user's
	linked,	 // ours, and has another name: another user can give it one
};

// Where others may make files, as in /tmp; of a directory without the sticky bit, whoever
// may write may replace a file too.
[[nodiscard]] inline bool is_shared(const struct stat &directory) noexcept
{
	return (directory.st_mode & S_IWOTH) ||
	       ((directory.st_mode & S_ISVTX) && (directory.st_mode & S_IWGRP));
}

// What the kernel refuses with fs.protected_regular, _fifos and _hardlinks, which may be
// off. `file` is what was found in `directory`.
[[nodiscard]] inline planted judge(const struct stat &directory, const struct stat &file,
				   uid_t own) noexcept
{
	if (!is_shared(directory))
		return planted::no;
	if (file.st_uid != own && file.st_uid != 0)
		return planted::foreign;
	return S_ISREG(file.st_mode) && file.st_nlink > 1 ? planted::linked : planted::no;
}

[[nodiscard]] inline const char *text_of(planted what) noexcept
{
	return what == planted::foreign
		       ? "it belongs to another user, in a directory where all may make files; name "
			 "a file of your own, or one in a directory of your own"
		       : "it has another name too (a hard link), in a directory where all may make "
			 "files; name a new file, or one in a directory of your own";
}

} // namespace qpattr
