/* SPDX-License-Identifier: MIT */
#include "attempt.h"

#include "case.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Reports to the parent: 'B' when the call begins, then one line. */
static int report_fd = -1;
static volatile bool begun, ended;
static char line[1024];
static size_t used;
static bool any_output, output_written;
static struct rdma_cm_id id_before;

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void say(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	int n = vsnprintf(line + used, sizeof(line) - used, format, arguments);
	va_end(arguments);
	if (n > 0 && (size_t)n < sizeof(line) - used)
		used += (size_t)n;
}

static void send_bytes(const char *bytes, size_t size)
{
	while (size) {
		ssize_t n = write(report_fd, bytes, size);
		if (n <= 0)
			_exit(3);
		bytes += n;
		size -= (size_t)n;
	}
}

/* What errno is before a call: nothing that a call could set. */
enum { errno_before = 4000 };

void attempt_begin(void)
{
	send_bytes("B", 1);
	begun = true;
	errno = errno_before;
}

static void returned(const char *result, bool failed)
{
	int error = errno;

	ended = true;
	const char *name = failed ? (error == errno_before ? "0" : strerrorname_np(error)) : "-";
#ifdef MISUSE_HAS_LATER
	/* Stock leaves there what it met; ours promises to leave it alone. */
	if (!failed && error != errno_before)
		name = "touched";
#endif
	if (name)
		say("return=%s errno=%s", result, name);
	else /* The kernel has some that libc does not know. */
		say("return=%s errno=%d", result, error);
}

void attempt_end_int(int result)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", result);
	/* Other values than -1 (those of getaddrinfo) say it all themselves. */
	returned(text, result == -1);
}

void attempt_end_void(void)
{
	returned("void", false);
}

void attempt_end_pointer(const void *result)
{
	returned(result ? "pointer" : "NULL", !result);
}

void attempt_end_any(unsigned long result)
{
	returned(result ? "nonzero" : "0", false);
}

void attempt_end_text(const char *result)
{
	char text[128];

	if (result)
		snprintf(text, sizeof(text), "\"%s\"", result);
	returned(result ? text : "NULL", !result);
}

void attempt_note(const char *name, const char *value)
{
	say(" %s=%s", name, value);
}

void output_fill(void *output, size_t size)
{
	memset(output, OUTPUT_PATTERN, size);
}

void output_check(const void *output, size_t size)
{
	const unsigned char *byte = output;

	any_output = true;
	for (size_t i = 0; i < size; i++)
		output_written |= byte[i] != OUTPUT_PATTERN;
}

void id_remember(const struct rdma_cm_id *id)
{
	id_before = *id;
}

void id_compare(const struct rdma_cm_id *id)
{
	char fields[512] = "";
	const struct rdma_cm_id *before = &id_before;

#define SEE(field) \
	do { \
		if (memcmp(&before->field, &id->field, sizeof(id->field))) \
			strcat(strcat(fields, fields[0] ? "," : ""), #field); \
	} while (0)
	SEE(verbs);
	SEE(channel);
	SEE(context);
	SEE(qp);
	SEE(route.addr.src_storage);
	SEE(route.addr.dst_storage);
	SEE(route.addr.addr.ibaddr.sgid);
	SEE(route.addr.addr.ibaddr.dgid);
	SEE(route.addr.addr.ibaddr.pkey);
	SEE(route.path_rec);
	SEE(route.num_paths);
	SEE(ps);
	SEE(port_num);
	/* Whether there is one: where it lies is the allocator's affair. */
	if (!before->event != !id->event)
		strcat(strcat(fields, fields[0] ? "," : ""), "event");
	SEE(send_cq_channel);
	SEE(send_cq);
	SEE(recv_cq_channel);
	SEE(recv_cq);
	SEE(srq);
	SEE(pd);
	SEE(qp_type);
#undef SEE
	attempt_note("id", fields[0] ? fields : "untouched");
}

static void finish(void)
{
	if (any_output)
		attempt_note("outputs", output_written ? "written" : "untouched");
	say("\n");
	send_bytes(line, used);
	/* No handlers: the library under test is not asked to clean up. */
	_exit(0);
}

void scene_fails(const char *what)
{
	int error = errno;

	used = 0;
	say("%s: %s: %s\n", ended ? "afterwards" : "scene", what, strerrorname_np(error) ? strerrorname_np(error) : "?");
	send_bytes(line, used);
	_exit(2);
}

/* The parent cannot wait for the death: closing the device may take the kernel
 * more than a minute. */
static void crashed(int signal_number)
{
	const char *name = sigabbrev_np(signal_number);
	char text[64];
	int n = snprintf(text, sizeof(text), "%scrash SIG%s\n", ended ? "afterwards: " : begun ? "" : "scene: ", name);

	send_bytes(text, (size_t)n);
	_exit(4);
}

void attempt_run(const struct misuse *self, int fd)
{
	static char stack[1 << 16];
	stack_t other = { .ss_sp = stack, .ss_size = sizeof(stack) };
	struct sigaction action = { .sa_handler = crashed, .sa_flags = SA_ONSTACK | SA_NODEFER };
	const int signals[] = { SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL };

	report_fd = fd;
	sigaltstack(&other, NULL);
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		sigaction(signals[i], &action, NULL);
	/* What libc says of a corrupted heap is the crash that is reported. */
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (null >= 0)
		dup2(null, STDERR_FILENO);
	self->body(self);
	if (!ended)
		scene_fails("the body made no call");
	finish();
	abort();
}
