/* SPDX-License-Identifier: MIT */
/*
 * Makes system calls of a program fail, as strace's inject does, many times in the time of
 * one start: preloaded as the last object, it is constructed as soon as all is loaded. There
 * it forks a child for each line of the file FAULTS_JOBS; the child goes on into the program,
 * and its parent, which is the tracer, fails the calls that the line tells:
 *
 *   NAME NUMBER FIRST LAST ERRNO    the calls of that number, FIRST to LAST of those in the
 *                                   windows; NUMBER -1: none, and all calls are listed;
 *                                   -2: none, but allocations (allocations.c); -3: none,
 *                                   but in the windows there are descriptors up to
 *                                   FIRST beyond those that are open
 *
 * FAULTS_WINDOWS is a set of marks (mark.h), a bit each: calls after other marks do not
 * count. FAULTS_SECONDS is the limit of time of each, FAULTS_PROCESSOR where all run. What came of it goes to FAULTS_RESULTS:
 *
 *   job NAME exit|signal|hang CODE injected COUNT left COUNT output BYTES
 *   call NUMBER MARK ARGUMENT TEXT  (listed; a path, or the first bytes of a command)
 *
 * and the output. "left" are processes that it started and left running.
 */
#include "limits.h"
#include "mark.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>

enum { usual_descriptors = 1024 };
enum { listing = -1, allocations = -2, descriptors = -3 };
struct job {
	char name[64];
	long number;
	int first, last, error;
};

/* Of the job that runs. */
struct run {
	const struct job *job;
	unsigned windows;
	enum mark at;
	int seen, injected;
	FILE *results;
	/* Of the program; what it starts is followed too, but nothing of it fails. */
	pid_t threads[64];
	int thread_count;
	/* A call of this thread that is made, and then said to have failed. */
	pid_t made_by;
	int ended, status;
};

static int out_of_time;
static void on_alarm(int unused)
{
	(void)unused;
	out_of_time = 1;
}

static void fail(const char *what)
{
	fprintf(stderr, "injector: %s: %s\n", what, strerror(errno));
	_exit(125);
}

static unsigned number_of(const char *name, unsigned otherwise)
{
	const char *text = getenv(name);

	return text ? (unsigned)strtoul(text, NULL, 0) : otherwise;
}

static size_t text_of(pid_t thread, unsigned long from, char *to, size_t len)
{
	struct iovec here = {to, len}, there = {(void *)from, len};
	ssize_t got = process_vm_readv(thread, &here, 1, &there, 1, 0);

	return got < 0 ? 0 : (size_t)got;
}

/* A path, or the first bytes of what is written, or of what an ioctl is about. */
static void list_call(struct run *it, pid_t thread, const struct __ptrace_syscall_info *is)
{
	const unsigned long *args = (const unsigned long *)is->seccomp.args;
	long number = (long)is->seccomp.nr;
	unsigned char bytes[8];
	char path[200];
	size_t len;

	fprintf(it->results, "call %ld %d %ld ", number, it->at, (long)args[0]);
	if (number == SYS_write || number == SYS_ioctl) {
		len = text_of(thread, args[number == SYS_write ? 1 : 2], (char *)bytes, sizeof bytes);
		for (size_t at = 0; at < len; at++)
			fprintf(it->results, "%02x", bytes[at]);
	} else if (number == SYS_openat || number == SYS_newfstatat || number == SYS_readlink || number == SYS_access ||
		   number == SYS_readlinkat || number == SYS_faccessat2) {
		int second = number != SYS_readlink && number != SYS_access;

		len = text_of(thread, args[second], path, 100);
		path[len] = '\0';
		path[strcspn(path, "\n")] = '\0';
		fputs(path, it->results);
	}
	fputc('\n', it->results);
}

static int is_of_program(const struct run *it, pid_t thread)
{
	for (int at = 0; at < it->thread_count; at++)
		if (it->threads[at] == thread)
			return 1;
	return 0;
}

/* At the filter's stop the call has not begun: without a number it is passed over, and
 * returns what the register has. */
static void set_result(pid_t thread, int error, int passed_over)
{
	struct user_regs_struct regs;

	if (ptrace(PTRACE_GETREGS, thread, 0, &regs))
		return; /* killed */
	if (passed_over)
		regs.orig_rax = (unsigned long)-1;
	regs.rax = (unsigned long)-(long)error;
	ptrace(PTRACE_SETREGS, thread, 0, &regs);
}

static void at_mark(struct run *it, enum mark what)
{
	const struct job *job = it->job;
	int before = it->windows >> it->at & 1, after = it->windows >> what & 1;

	it->at = what;
	if (job->number == descriptors && before != after)
		it->injected += limit_descriptors(it->threads[0], after ? lowest_free(it->threads[0]) + job->first : usual_descriptors);
}

static void at_call(struct run *it, pid_t thread)
{
	const struct job *job = it->job;
	struct __ptrace_syscall_info is;
	unsigned long mark_given;

	if (ptrace(PTRACE_GET_SYSCALL_INFO, thread, sizeof is, &is) <= 0 || is.op != PTRACE_SYSCALL_INFO_SECCOMP)
		return;
	mark_given = is.seccomp.args[0] - mark_number;
	if (is.seccomp.nr == SYS_prctl && mark_given == mark_refused) {
		it->injected++;
		return;
	}
	if (is.seccomp.nr == SYS_prctl && mark_given < mark_count) {
		at_mark(it, (enum mark)mark_given);
		return;
	}
	if (!(it->windows >> it->at & 1))
		return;
	if (job->number == listing)
		list_call(it, thread, &is);
	if ((long)is.seccomp.nr != job->number)
		return;
	it->seen++;
	if (it->seen < job->first || it->seen > job->last)
		return;
	it->injected++;
	/* A close() that fails has closed all the same. */
	if (job->number == SYS_close)
		it->made_by = thread;
	else
		set_result(thread, job->error, 1);
}

/* One stop, or the end, of a thread. */
static void follow(struct run *it, pid_t thread, int status)
{
	int event = status >> 16, signal = WIFSTOPPED(status) ? WSTOPSIG(status) : 0;
	unsigned long made;

	if (!WIFSTOPPED(status)) {
		if (thread == it->threads[0]) {
			it->ended = 1;
			it->status = status;
		}
		return;
	}
	if (event == PTRACE_EVENT_SECCOMP && is_of_program(it, thread))
		at_call(it, thread);
	if (event == PTRACE_EVENT_CLONE && is_of_program(it, thread) && it->thread_count < 64 &&
	    !ptrace(PTRACE_GETEVENTMSG, thread, 0, &made))
		it->threads[it->thread_count++] = (pid_t)made;
	if (signal == (SIGTRAP | 0x80) && thread == it->made_by) { /* its end */
		set_result(thread, it->job->error, 0);
		it->made_by = signal = 0;
	}
	ptrace(thread == it->made_by ? PTRACE_SYSCALL : PTRACE_CONT, thread, 0, (void *)(long)(event ? 0 : signal));
}

/* Follows all until nobody is left, or for so many seconds; whether the time was over. */
static int follow_all(struct run *it, unsigned seconds, int until_end)
{
	int status;
	pid_t stopped;

	out_of_time = 0;
	alarm(seconds);
	while (!out_of_time && !(until_end && it->ended)) {
		stopped = waitpid(-1, &status, __WALL);
		if (stopped < 0 && errno == ECHILD)
			break;
		if (stopped > 0)
			follow(it, stopped, status);
	}
	alarm(0);
	return out_of_time;
}

/* Kills the children of this process, which are all that was started; how many. */
static int kill_all(void)
{
	char path[64];
	int child, count = 0;
	FILE *children;

	snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
	children = fopen(path, "re");
	while (children && fscanf(children, "%d", &child) == 1) {
		kill(child, SIGKILL);
		count++;
	}
	if (children)
		fclose(children);
	return count;
}

/* What the program started and did not wait for ends soon, or is ended. */
static int end_left(struct run *it)
{
	int left = 0;

	if (follow_all(it, 5, 0)) {
		left = kill_all();
		while (follow_all(it, 1, 0) && kill_all())
			;
	}
	return left;
}

static void copy_output(int from, FILE *to)
{
	char piece[4096];
	ssize_t got;

	lseek(from, 0, SEEK_SET);
	while ((got = read(from, piece, sizeof piece)) > 0)
		fwrite(piece, 1, (size_t)got, to);
	fputc('\n', to);
	fflush(to);
}

void faults_fail_allocations(int from, int to) __attribute__((weak));

/* Returns 1 in the child, which goes on into the program. */
static int run_job(const struct job *job, unsigned windows, unsigned seconds, FILE *results)
{
	const long options = PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACESECCOMP | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK;
	struct run it = {.job = job, .windows = windows, .at = mark_loaded, .results = results, .thread_count = 1};
	int output = memfd_create("output", MFD_CLOEXEC), go[2], hangs, left;
	pid_t child;

	if (output < 0 || pipe2(go, O_CLOEXEC))
		fail("pipe");
	fflush(NULL);
	child = fork();
	if (child < 0)
		fail("fork");
	if (!child) {
		char byte;

		dup2(output, 1);
		dup2(output, 2);
		close(output);
		close(go[1]);
		while (read(go[0], &byte, 1) < 0)
			;
		close(go[0]);
		close(fileno(results));
		if (job->number == allocations && &faults_fail_allocations)
			faults_fail_allocations(job->first, job->last);
		stop_at(job->number, job->number == listing);
		return 1;
	}
	it.threads[0] = child;
	close(go[0]);
	if (ptrace(PTRACE_SEIZE, child, 0, options))
		fail("tracing a child");
	if (job->number == descriptors && windows & 1)
		it.injected += limit_descriptors(child, 3 + job->first); /* what else is open now it closes */
	close(go[1]); /* read() returns */
	hangs = follow_all(&it, seconds, 1);
	if (hangs)
		kill_all();
	left = end_left(&it); /* it may write until then */
	fprintf(results, "job %s %s %d injected %d left %d output %ld\n", job->name,
		hangs			 ? "hang"
		: WIFEXITED(it.status) ? "exit"
				       : "signal",
		WIFEXITED(it.status) ? WEXITSTATUS(it.status) : WTERMSIG(it.status), it.injected, left,
		(long)lseek(output, 0, SEEK_END));
	copy_output(output, results);
	close(output);
	return 0;
}

/* A tracer on another processor spins until the program has left its own: in an emulator
 * that takes fifty times as long. */
static void stay_on_one_processor(void)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(number_of("FAULTS_PROCESSOR", 0), &one);
	sched_setaffinity(0, sizeof one, &one);
}

/* libibverbs looks for its drivers once a process, which takes longer than all the rest:
 * here, for all children. */
static void load_drivers(void)
{
	void *(*list)(int *) = (void *(*)(int *))dlsym(RTLD_DEFAULT, "ibv_get_device_list");
	void (*free_list)(void *) = (void (*)(void *))dlsym(RTLD_DEFAULT, "ibv_free_device_list");
	void *devices = list && free_list ? list(NULL) : NULL;

	if (devices)
		free_list(devices);
}

static void __attribute__((constructor)) run_jobs(void)
{
	static char jobs_buffer[BUFSIZ], results_buffer[BUFSIZ];
	const char *jobs_path = getenv("FAULTS_JOBS"), *results_path = getenv("FAULTS_RESULTS");
	unsigned windows = number_of("FAULTS_WINDOWS", ~0U), seconds = number_of("FAULTS_SECONDS", 30);
	struct sigaction before, ours = {.sa_handler = on_alarm};
	FILE *jobs, *results;
	struct job job;

	if (!jobs_path || !results_path)
		return; /* a program that the program under test started */
	jobs = fopen(jobs_path, "re");
	results = fopen(results_path, "ae");
	if (!jobs || !results)
		fail(jobs ? results_path : jobs_path);
	/* Memory is the same in every child. */
	setvbuf(jobs, jobs_buffer, _IOFBF, sizeof jobs_buffer);
	setvbuf(results, results_buffer, _IOFBF, sizeof results_buffer);
	unsetenv("FAULTS_JOBS");
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	stay_on_one_processor();
	load_drivers();
	sigaction(SIGALRM, &ours, &before);
	while (fscanf(jobs, "%63s %ld %d %d %d", job.name, &job.number, &job.first, &job.last, &job.error) == 5)
		if (run_job(&job, windows, seconds, results)) {
			sigaction(SIGALRM, &before, NULL);
			close(fileno(jobs));
			return;
		}
	_exit(0);
}
