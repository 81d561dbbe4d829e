/* SPDX-License-Identifier: MIT */
/* An object with a race: a preload object's, in a program that is not watched, is to be reported. */
#include <pthread.h>
#include <stddef.h>

static int counted;

static void *count(void *nothing)
{
	for (int i = 0; i < 10000; i++)
		counted++;
	return nothing;
}

__attribute__((constructor)) static void race(void)
{
	pthread_t other;

	if (pthread_create(&other, NULL, count, NULL) == 0) {
		count(NULL);
		pthread_join(other, NULL);
	}
}
