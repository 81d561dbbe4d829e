/* SPDX-License-Identifier: MIT */
#pragma once

#include <dirent.h>

/* How many this process has open, without the one that counting takes; -1 if that cannot be told. */
static inline int open_descriptors(void)
{
	DIR *list = opendir("/proc/self/fd");
	struct dirent *entry;
	int count = -1;

	if (!list)
		return -1;
	while ((entry = readdir(list)))
		count += entry->d_name[0] != '.';
	closedir(list);
	return count;
}
