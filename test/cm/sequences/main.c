/* SPDX-License-Identifier: MIT */
/* Plays sequences of steps that come on standard input and tells what became of each step:
 *
 *   play PORT_BASE QUIET_US LIMIT_S
 *   STEP
 *   ...
 *   end
 *
 * Each sequence is played by a child, whose output ends with a line `== how it ended`.
 * The program is linked twice, with librdmacm and with ours. */
#define _GNU_SOURCE
#include "call.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../programs/dump.h"

enum { most_steps = 400 };

struct sequence {
	int port_base, quiet_us, limit_s;
	int count;
	char *steps[most_steps];
};

/* False at the end of the input. */
static bool read_sequence(struct sequence *to)
{
	char line[200];

	to->count = 0;
	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = 0;
		if (!strcmp(line, "end"))
			return true;
		if (sscanf(line, "play %d %d %d", &to->port_base, &to->quiet_us, &to->limit_s) == 3)
			continue;
		if (to->count == most_steps || strlen(line) == sizeof(line) - 1) {
			fprintf(stderr, "player: more than %d steps, or one of more than %zu bytes\n", most_steps, sizeof(line) - 2);
			exit(2);
		}
		if (!(to->steps[to->count++] = strdup(line)))
			abort();
	}
	return false;
}

static void child(const struct sequence *sequence, int fd)
{
	static char buffer[1 << 16];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setpgid(0, 0);
	dup2(fd, STDOUT_FILENO);
	setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
	alarm((unsigned)sequence->limit_s);
	world_begin((uint16_t)sequence->port_base, sequence->quiet_us);
	for (int i = 0; i < sequence->count; i++) {
		play(i, sequence->steps[i]);
		play_ended();
	}
	play_end();
	fflush(stdout);
	_exit(0);
}

static void say_end(int status)
{
	if (WIFSIGNALED(status))
		printf("== %s\n", WTERMSIG(status) == SIGALRM ? "hangs" : sigabbrev_np(WTERMSIG(status)));
	else
		printf("== status %d\n", WEXITSTATUS(status));
}

/* The child's output becomes ours, until it ends or has had its time: a child that the
 * kernel does not let go is left behind. */
static void watch(pid_t pid, int fd, int limit_s)
{
	struct pollfd ready = { .fd = fd, .events = POLLIN };
	time_t until = time(NULL) + limit_s + 5;
	char piece[4096], last = '\n';
	int status;

	for (;;) {
		time_t now = time(NULL);
		ssize_t n = 0;

		if (now < until && poll(&ready, 1, (int)(until - now) * 1000) == 1) {
			n = read(fd, piece, sizeof(piece));
			if (n > 0) {
				fwrite(piece, 1, (size_t)n, stdout);
				last = piece[n - 1];
				continue;
			}
		}
		if (last != '\n')
			printf("\n");
		break;
	}
	for (int turn = 0; turn < 5000; turn++) {
		if (waitpid(pid, &status, WNOHANG) == pid) {
			say_end(status);
			return;
		}
		usleep(turn < 50 ? 200 : 2000);
	}
	kill(-pid, SIGKILL);
	printf("== stuck in the kernel\n");
}

static void play_sequence(const struct sequence *sequence)
{
	int ends[2];

	if (pipe(ends))
		exit(2);
	fflush(stdout);
	pid_t pid = fork();
	if (pid < 0)
		exit(2);
	if (pid == 0)
		child(sequence, ends[1]);
	close(ends[1]);
	watch(pid, ends[0], sequence->limit_s);
	close(ends[0]);
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
	fflush(stdout);
}

int main(void)
{
	struct sequence sequence = { 20000, 5000, 20, 0, { NULL } };

	signal(SIGPIPE, SIG_IGN);
	/* Loads the providers of libibverbs once, not once a sequence; opens nothing. */
	struct ibv_device **devices = ibv_get_device_list(NULL);
	if (devices)
		ibv_free_device_list(devices);
	dump_party("");
	while (read_sequence(&sequence)) {
		play_sequence(&sequence);
		for (int i = 0; i < sequence.count; i++)
			free(sequence.steps[i]);
	}
	return 0;
}
