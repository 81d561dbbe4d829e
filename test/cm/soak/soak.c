/* SPDX-License-Identifier: MIT */
/*
 * soak channels|channel CONNECTIONS
 * soak ids COUNT
 *
 * The same work ten times over, and after each time what the process then has: bytes of
 * the heap, resident memory, descriptors, ids in the kernel. It must not have grown since
 * the third time, until when threads, pools and caches of all kinds take what they keep.
 *
 *   channels  16 threads connect, each on a pair of channels of its own
 *   channel   16 threads connect on one channel
 *   ids       COUNT ids at once, bound to a port each, made and destroyed
 *
 * Prints a row for `soak` beside this file, tab-separated.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../life/crowd.h"
#include "../life/ends.h"
#include "../programs/check.h"
#include "../programs/leftovers.h"

enum { times = 10, settled = 2 };

static long resident_kib(void)
{
	FILE *file = HAVE(fopen("/proc/self/statm", "r"));
	long pages = -1;

	must_(fscanf(file, "%*s %ld", &pages) == 1, "resident pages");
	fclose(file);
	return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

struct sample {
	struct leftovers has;
	long resident;
};

static struct sample samples[times];
/* Of the ids part: with all ids there. */
static struct leftovers before_ids, with_ids;

static void many_ids(long count)
{
	struct rdma_event_channel *channel = HAVE(rdma_create_event_channel());
	struct rdma_cm_id **ids = HAVE((struct rdma_cm_id **)calloc((size_t)count, sizeof *ids));
	struct sockaddr_in here = machine_address(0);

	leftovers_count(&before_ids);
	for (long at = 0; at < count; at++) {
		MUST(rdma_create_id(channel, &ids[at], NULL, RDMA_PS_TCP));
		MUST(rdma_bind_addr(ids[at], (struct sockaddr *)&here));
	}
	leftovers_count(&with_ids);
	/* From both ends at once. */
	for (long at = 0; at < count; at++)
		MUST(rdma_destroy_id(ids[at % 2 ? count - 1 - at / 2 : at / 2]));
	free(ids);
	rdma_destroy_event_channel(channel);
}

static long once(const char *part, long count)
{
	if (!strcmp(part, "channels"))
		return crowd_on_own_channels((int)(count / crowd_threads));
	if (!strcmp(part, "channel"))
		return crowd_on_one_channel((int)(count / crowd_threads));
	many_ids(count);
	return count;
}

static void flat(void)
{
	const struct sample *from = &samples[settled], *to = &samples[times - 1];

	check(to->has.descriptors == from->has.descriptors, "descriptors are flat", "%d, later %d",
	      from->has.descriptors, to->has.descriptors);
	check(from->has.ids >= 0 && to->has.ids == from->has.ids, "ids in the kernel are flat", "%d, later %d",
	      from->has.ids, to->has.ids);
	/* Of 24 bytes left by each connection in a hundred, more would be here. */
	check(to->has.heap_bytes < from->has.heap_bytes + 4096, "the heap is flat", "%zu bytes, later %zu",
	      from->has.heap_bytes, to->has.heap_bytes);
	check(to->resident < from->resident + 1024, "resident memory is flat", "%ld KiB, later %ld",
	      from->resident, to->resident);
}

int main(int argc, char **argv)
{
	const char *part = argc == 3 ? argv[1] : "";
	const long count = argc == 3 ? atol(argv[2]) : 0;
	const int ids = !strcmp(part, "ids");
	long each = ids ? count : count / times / crowd_threads * crowd_threads, done = 0;
	double start;

	if (each < 1 || (!ids && strcmp(part, "channels") && strcmp(part, "channel"))) {
		fprintf(stderr, "usage: soak channels|channel CONNECTIONS, at least %d\n       soak ids COUNT\n",
			times * crowd_threads);
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	check_prefix("soak: %s: ", part);
	start = seconds();
	for (int at = 0; at < times; at++) {
		done += once(part, each);
		leftovers_count(&samples[at].has);
		samples[at].resident = resident_kib();
		printf("# soak: %s: %ld done, heap %zu bytes, resident %ld KiB, %d descriptors, %d ids\n", part, done,
		       samples[at].has.heap_bytes, samples[at].resident, samples[at].has.descriptors, samples[at].has.ids);
	}
	check(done == times * each, "all come to their end", "%ld of %ld", done, times * each);
	if (ids)
		check(with_ids.ids == before_ids.ids + (int)count, "the kernel has all of them at once", "%d before, %d with them",
		      before_ids.ids, with_ids.ids);
	flat();
	printf("soak\t%s\t%ld\t%.0f\t%zu\t%zu\t%ld\t%ld\t%d\t%d\t%.0f\n", part, done, seconds() - start, samples[settled].has.heap_bytes,
	       samples[times - 1].has.heap_bytes, samples[settled].resident, samples[times - 1].resident,
	       samples[times - 1].has.descriptors, samples[times - 1].has.ids,
	       ids ? (double)(with_ids.heap_bytes - before_ids.heap_bytes) / (double)count : 0.0);
	return check_status();
}
