# SPDX-License-Identifier: MIT
"""Runs a program under injector.so: a job a fault, and what came of each."""
import collections
import errno
import os
import re
import subprocess
import tempfile

import errnos

SECONDS = 60

Fault = collections.namedtuple('Fault', 'number first last error what')
Result = collections.namedtuple('Result', 'fault end code injected left output')
Listed = collections.namedtuple('Listed', 'number mark argument text')

HEAD = re.compile(rb'job (\S+) (exit|signal|hang) (\d+) injected (\d+) left (\d+) output (\d+)\n')


def name_of(error):
    return errno.errorcode.get(error, str(error))


class Subject:
    """A program, the objects that are preloaded into it, and the marks between which
    faults are injected."""

    def __init__(self, directory, command, preload=(), windows=None, environment=None):
        self.command = command
        self.environment = dict(os.environ, **(environment or {}))
        self.environment['LD_PRELOAD'] = ':'.join([*preload, f'{directory}/injector.so'])
        self.environment['FAULTS_SECONDS'] = str(SECONDS)
        # Every byte that is not freed shows.
        self.environment['GLIBC_TUNABLES'] = 'glibc.malloc.tcache_count=0'
        if windows is not None:
            self.environment['FAULTS_WINDOWS'] = str(sum(1 << each for each in windows))

    def _start(self, faults, processor):
        jobs = tempfile.NamedTemporaryFile('w', prefix='jobs')
        results = tempfile.NamedTemporaryFile('rb', prefix='results')
        for at, each in enumerate(faults):
            jobs.write(f'{at} {each.number} {each.first} {each.last} {each.error}\n')
        jobs.flush()
        environment = dict(self.environment, FAULTS_JOBS=jobs.name, FAULTS_RESULTS=results.name,
                           FAULTS_PROCESSOR=str(processor))
        process = subprocess.Popen(self.command, env=environment, stdin=subprocess.DEVNULL)
        return process, faults, jobs, results

    @staticmethod
    def _finish(process, faults, jobs, results):
        if process.wait() != 0:
            raise SystemExit(f'injected.py: the injector ended with status {process.returncode}')
        text = results.read()
        listed, found, at = [], [], 0
        while at < len(text):
            head = HEAD.match(text, at)
            if not head:
                line, _, _ = text[at:].partition(b'\n')
                _, number, mark, argument, *rest = line.decode(errors='replace').split(' ', 4)
                listed.append(Listed(int(number), int(mark), int(argument), rest[0] if rest else ''))
                at += len(line) + 1
                continue
            name, end, code, injected, left, size = head.groups()
            begin = head.end()
            at = begin + int(size) + 1
            found.append(Result(faults[int(name)], end.decode(), int(code), int(injected), int(left),
                                text[begin:begin + int(size)].decode(errors='replace')))
        if len(found) != len(faults):
            raise SystemExit(f'injected.py: {len(found)} of {len(faults)} runs have a result')
        return listed, found

    def base(self):
        """The calls of a run in which nothing fails, and its result."""
        listed, found = self._finish(*self._start([Fault(-1, 0, 0, 0, 'nothing')], 0))
        return listed, found[0]

    def run(self, faults):
        """On two processors, if there are."""
        count = min(2, os.cpu_count() or 1)
        started = [self._start(faults[at::count], at) for at in range(count) if faults[at::count]]
        return [each for one in started for each in self._finish(*one)[1]]


def faults_of(listed, share, leave_out=()):
    """Each error of each call, at its place among the calls of its number; of all these one
    in `share`, so that no call is left out for good."""
    counts, out, turn = collections.Counter(), [], 0
    for call in listed:
        counts[call.number] += 1
        if errnos.NAMES.get(call.number) in leave_out:
            continue
        nth = counts[call.number]
        for error in errnos.errors_of(call.number):
            turn += 1
            if turn % share == 0:
                what = f'{errnos.NAMES[call.number]} {nth} ({call.text or call.argument}): {name_of(error)}'
                out.append(Fault(call.number, nth, nth, error, what))
    return out


def call_at(listed, fault):
    """The call that a fault meets."""
    return [each for each in listed if each.number == fault.number][fault.first - 1]
