/* SPDX-License-Identifier: MIT */
/*
 * For the thread sanitizer: an event is read after the commands that led to it, by
 * the order of the kernel, which the sanitizer does not see.
 */
#include <stdint.h>
#include <string.h>
#include <unistd.h>

void __tsan_acquire(void *);
void __tsan_release(void *);
ssize_t __real_write(int, const void *, size_t);
ssize_t __wrap_write(int, const void *, size_t);

ssize_t __wrap_write(int fd, const void *data, size_t len)
{
	static char orders[1024];
	enum { get_event = 12 };
	uint32_t command = ~0U;
	ssize_t written;

	if (len >= 8)
		memcpy(&command, data, sizeof command);
	/* Of a device for the whole machine: an event may follow from a command on
	 * another channel. */
	if (command != get_event)
		__tsan_release(&orders[0]);
	written = __real_write(fd, data, len);
	if (command == get_event && written > 0)
		__tsan_acquire(&orders[0]);
	return written;
}
