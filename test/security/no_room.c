/* SPDX-License-Identifier: MIT
 * To be preloaded: a file system that tells at the close of a file that there was no room. */
#include <errno.h>
#include <stdio.h>

/* By another name: fclose is ours here. */
int _IO_fclose(FILE *);

int fclose(FILE *file)
{
	_IO_fclose(file);
	errno = EDQUOT;
	return EOF;
}
