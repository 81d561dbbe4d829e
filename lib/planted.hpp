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

[[nodiscard]] inline bool is_foreign(const struct stat &of, uid_t own) noexcept
{
	return of.st_uid != own && of.st_uid != 0;
}

// Where others may make files, as in /tmp, or in a directory of theirs; of a directory
// without the sticky bit, whoever may write may replace a file too.
[[nodiscard]] inline bool is_shared(const struct stat &directory, uid_t own) noexcept
{
	return is_foreign(directory, own) || (directory.st_mode & S_IWOTH) ||
	       ((directory.st_mode & S_ISVTX) && (directory.st_mode & S_IWGRP));
}

// Whether a symbolic link may be there to have something else written over. Of a group that
// may write there another member's is one; files of a group are shared on purpose.
[[nodiscard]] inline bool is_planted_link(const struct stat &directory, const struct stat &link,
					  uid_t own) noexcept
{
	return is_shared(directory, own) || ((directory.st_mode & S_IWGRP) && is_foreign(link, own));
}

// What the kernel refuses with fs.protected_regular, _fifos and _hardlinks, which may be
// off. `file` is what was found in `directory`. Only root makes devices; in a user namespace
// they are shown as nobody's, and /dev as a directory of nobody's.
[[nodiscard]] inline planted judge(const struct stat &directory, const struct stat &file,
				   uid_t own) noexcept
{
	const bool plantable = S_ISREG(file.st_mode) || S_ISFIFO(file.st_mode);
	if (!plantable || !is_shared(directory, own))
		return planted::no;
	if (is_foreign(file, own))
		return planted::foreign;
	return S_ISREG(file.st_mode) && file.st_nlink > 1 ? planted::linked : planted::no;
}

[[nodiscard]] inline const char *text_of(planted what) noexcept
{
	return what == planted::foreign
		       ? "it belongs to another user, in a directory that others may write, or that "
			 "is another user's; name a file of your own, or one in a directory of your own"
		       : "it has another name too (a hard link), in a directory that others may "
			 "write, or that is another user's; name a new file, or one in a directory of "
			 "your own";
}

} // namespace qpattr
