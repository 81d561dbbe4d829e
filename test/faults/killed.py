#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""killed.py BUILD SHARE: SIGKILL at any moment, of a program that is traced, of the qpattr
command that traces it, of either end of a probe. Whole records stay, what is lost is said,
and nothing is left. The moments are random; the seed is told, and FAULTS_SEED sets it."""
import collections
import json
import mmap
import os
import re
import signal
import struct
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
import table  # noqa: E402
from chance import PATIENCE_S, chance, first_line, output_of, seed, until  # noqa: E402

build, share = sys.argv[1], int(sys.argv[2])
rounds = max(2, 40 // share)
qpattr = f'{build}/tools/qpattr/qpattr'


class Asking:
    """A program that asks without end under qpattr trace, and what it counts."""

    def __init__(self, directory):
        self.count_path, self.trace = f'{directory}/count', f'{directory}/t.json'
        self.errors = open(f'{directory}/errors', 'w+', encoding='utf-8')
        for path in (self.count_path, self.trace):
            if os.path.exists(path):
                os.unlink(path)
        self.process = subprocess.Popen(
            [qpattr, 'trace', '--format', 'json', '-o', self.trace, '--', f'{build}/test/faults/asked', self.count_path],
            stderr=self.errors)
        until(lambda: self.count() > 0)

    def count(self):
        try:
            with open(self.count_path, 'rb') as file, mmap.mmap(file.fileno(), 8, access=mmap.ACCESS_READ) as counted:
                return struct.unpack('Q', counted[:8])[0]
        except (OSError, ValueError):
            return 0

    def program(self):
        with open(f'/proc/{self.process.pid}/task/{self.process.pid}/children', encoding='ascii') as file:
            return int(file.read().split()[0])

    def said(self):
        self.errors.seek(0)
        return self.errors.read()


def lines_of(path):
    """Records, and the rest of the last line that has no end."""
    with open(path, encoding='utf-8') as file:
        *lines, rest = file.read().split('\n')
    return [json.loads(line) for line in lines], rest


def is_there(pid):
    return os.path.exists(f'/proc/{pid}')


def traced_is_killed(directory):
    asking = Asking(directory)
    program = asking.program()
    time.sleep(chance.uniform(0, 0.5))
    os.kill(program, signal.SIGKILL)
    asking.process.wait(PATIENCE_S)
    records, rest = lines_of(asking.trace)
    calls = sum(each['type'] == 'call' for each in records)
    lost = re.search(r'^qpattr: (\d+) records? (was|were) lost', asking.said(), re.M)
    if asking.process.returncode != -signal.SIGKILL:
        return f'qpattr ends with {asking.process.returncode}', asking.said()
    if rest:
        return 'a record is written in part', rest
    if calls + (int(lost.group(1)) if lost else 0) < asking.count():
        return f'{calls} records of {asking.count()} calls, and it is said: {lost and lost.group()}', asking.said()
    if is_there(program):
        return 'the program is still there', ''
    return None


def tracer_is_killed(directory):
    asking = Asking(directory)
    program = asking.program()
    try:
        time.sleep(chance.uniform(0, 0.5))
        asking.process.kill()
        asking.process.wait(PATIENCE_S)
        before = asking.count()
        until(lambda: asking.count() > before + 10)
        lines_of(asking.trace) # every line but the last is a record
        left = set(os.listdir(directory)) - {'count', 't.json', 'errors'}
        return (f'files are left: {left}', '') if left else None
    finally:
        os.kill(program, signal.SIGKILL)
        until(lambda: not is_there(program))


def probe(*words):
    return subprocess.Popen([qpattr, 'probe', '--timeout', '3', *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


port = 9000


def probe_is_killed(which):
    """Of the two ends one is killed; the other ends by itself, or serves the next."""
    global port
    port += 1
    where = f'{os.environ["QPATTR_VM_IPV4"]}:{port}'
    server = probe('--listen', where, '--count', '2' if which == 'client' else '1')
    line = first_line(server)
    client = probe(where, '--count', '20')
    time.sleep(chance.uniform(0, 1.5))
    victim, other = (client, server) if which == 'client' else (server, client)
    victim.kill()
    if which == 'client':
        # It waits for two connections at most: the next one is served, if the first was not the second.
        following = probe(where)
        said, _ = following.communicate(timeout=PATIENCE_S)
        ended = server.poll()
        server.kill()
        served, _ = server.communicate(timeout=PATIENCE_S)
        client.communicate(timeout=PATIENCE_S)
        if ended is None and following.returncode != 0:
            return 'the next client is not served', line + said
        return without_a_word('the server', ended, served) or without_a_word('the next client', following.returncode, said)
    said, _ = other.communicate(timeout=PATIENCE_S)
    server.communicate(timeout=PATIENCE_S)
    return without_a_word('the client', other.returncode, said)


def without_a_word(who, status, said):
    """A signal ends nobody but whom it was sent to; an error has a message."""
    if status is not None and (status < 0 or (status > 0 and not re.search('^qpattr: ', said, re.M))):
        return f'{who} ends with {status}, and without a message', said
    return None


def left_in_kernel():
    """Ids and QPs of user space go with their process, in time."""
    def listed():
        return output_of('rdma resource show cm_id && rdma resource show qp')
    try:
        until(lambda: 'comm' not in re.sub(r'comm \[[^]]*\]', '', listed()))
        return None
    except TimeoutError:
        return 'ids or QPs are left in the kernel', listed()


def part(what, once):
    row = table.Row('kills', what)
    outcomes = collections.Counter()
    for at in range(rounds):
        try:
            harm = once()
        except (TimeoutError, subprocess.TimeoutExpired):
            harm = 'it hangs', ''
        except ValueError as why:
            harm = f'a line is no record: {why}', ''
        if harm:
            row.failed(f'round {at} of seed {seed}', *harm)
        outcomes['in order'] += not harm
    harm = left_in_kernel()
    if harm:
        row.failed(f'seed {seed}', *harm)
    row.tell(rounds, outcomes)


print(f'# seed {seed}')
with tempfile.TemporaryDirectory() as work:
    part('a traced program', lambda: traced_is_killed(work))
    part('qpattr trace', lambda: tracer_is_killed(work))
part('qpattr probe', lambda: probe_is_killed('client'))
part('qpattr probe --listen', lambda: probe_is_killed('server'))
sys.exit(table.status())
