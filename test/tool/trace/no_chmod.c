/* SPDX-License-Identifier: MIT
 * To be preloaded into qpattr: a file system that shows files as another user's, as CIFS
 * and vfat may, on which nobody but root changes a mode. */
#include <errno.h>
#include <sys/stat.h>

static int refused(void)
{
	errno = EPERM;
	return -1;
}

int fchmod(int fd, mode_t mode)
{
	(void)fd, (void)mode;
	return refused();
}

int chmod(const char *path, mode_t mode)
{
	(void)path, (void)mode;
	return refused();
}

int fchmodat(int dir, const char *path, mode_t mode, int flags)
{
	(void)dir, (void)path, (void)mode, (void)flags;
	return refused();
}
