#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tool.py BUILD SHARE PART...: faults under the qpattr command, of one in SHARE: system calls
and allocations that fail. Parts: trace, run, explain, compare, which need no device; doctor,
probe. The command must end with a message and a status, or do as if nothing had been."""
import os
import re
import sys

sys.dont_write_bytecode = True
import table  # noqa: E402
from calls import ALLOCATIONS, DESCRIPTORS, counted_faults, judge, unharmed  # noqa: E402
from injected import Fault, Subject, faults_of  # noqa: E402

build, share, *parts = sys.argv[1:]
share = int(share)
here = f'{build}/test/faults'
top = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
qpattr = f'{build}/tools/qpattr/qpattr'
lines = f'{top}/test/tool/trace/rping.jsonl'
traced = {'QPATTR_PRELOAD_OBJECT': f'{build}/test/tool/trace/trace-writer.so', 'WRITER_LINES': lines, 'WRITER_PROGRAM': 'sleep',
          'LC_ALL': 'C.UTF-8', 'TZ': 'UTC'}

COMMANDS = {
    'trace': ([qpattr, 'trace', '--format', 'json', '-o', '-', '--', 'sleep', '0'], traced),
    'run': ([qpattr, 'run', '--set', 'timeout=14', '--trace', '-', '--', 'sleep', '0'], traced),
    'explain': ([qpattr, 'explain', lines], {}),
    'compare': ([qpattr, 'compare', f'{top}/test/tool/explain/client.jsonl', f'{top}/test/tool/explain/server.jsonl'], {}),
    'doctor': ([qpattr, 'doctor'], {}),
    'probe': ([qpattr, 'probe', '--loopback', '--timeout', '10'], {}),
}


# doctor makes thousands of system calls: of all its faults so many, evenly.
FAULTS_MAX = {'doctor': 600, 'probe': 600}


def some_of(part, faults, what):
    """Those that are injected, and how the row is called."""
    step = -(-len(faults) // max(FAULTS_MAX[part] // share, 20)) if part in FAULTS_MAX else 1
    return faults[::step], what if step == 1 else f'{what}, 1 in {step}'


def records(output):
    return len(re.findall(r'^\{"qpattr":1,', output, re.M))


def plain(output):
    """Without what differs from run to run."""
    return re.sub(r'allocations \d+\n|\d+', '', output)


def harm_of(part, base):
    def harm(result):
        # libc ends the process where netlink answers its getifaddrs() so, and says it.
        if re.search(r'^Unexpected error \d+ on netlink descriptor', result.output, re.M):
            return None
        wrong = unharmed(result)
        if wrong:
            return wrong
        if 'terminate called' in result.output:
            return 'an exception without a message'
        # After a line of the standard output that was not written whole, too.
        said = re.search(r'qpattr: \S', result.output)
        if result.code != base.code and not said:
            # doctor's message is a row of its table.
            return None if part == 'doctor' and 'problem ' in result.output else f'status {result.code} without a message'
        if part in ('trace', 'run') and records(result.output) < records(base.output):
            lost = re.search(r'^qpattr: (\d+) records? (was|were|could)', result.output, re.M)
            if result.code == 0 or not (lost or said):
                return f'{records(result.output)} records of {records(base.output)}, status {result.code}'
        elif part in ('explain', 'compare') and result.code == base.code and plain(result.output) != plain(base.output):
            return 'it says something else'
        elif part == 'probe' and result.code == 0 and 'round trip' not in result.output:
            return 'status 0, and nothing said'
        return None
    return harm


def outcome_of(base):
    return lambda each: 'served' if each.code == base.code else 'ended with a message'


def calls_of(part, command, environment):
    subject = Subject(here, command, [], None, environment)
    listed, base = subject.base()
    faults, what = some_of(part, faults_of(listed, 1 if part in FAULTS_MAX else share), f'qpattr {part}')
    row = table.Row('calls', what)
    judge(row, subject.run(faults), harm_of(part, base), outcome_of(base))


def allocations_of(part, command, environment):
    subject = Subject(here, command, [f'{here}/allocations.so'], None, dict(environment, FAULTS_ALL_ALLOCATIONS='1'))
    base = subject.run([Fault(ALLOCATIONS, 0, 0, 0, 'nothing')])[0]
    count = int(re.findall(r'^allocations (\d+)$', base.output, re.M)[-1])
    faults, what = some_of(part, counted_faults(ALLOCATIONS, count), f'qpattr {part}')
    row = table.Row('allocations', what)
    results = subject.run(faults)
    judge(row, results, harm_of(part, base), outcome_of(base))


def descriptors_of(part, command, environment):
    subject = Subject(here, command, [], None, environment)
    row = table.Row('descriptors', f'qpattr {part}')
    _, base = subject.base()
    faults = [Fault(DESCRIPTORS, at, at, 0, f'{at} more') for at in range(20)]
    judge(row, subject.run(faults), harm_of(part, base), outcome_of(base))


if __name__ == '__main__':
    for each in parts:
        calls_of(each, *COMMANDS[each])
        allocations_of(each, *COMMANDS[each])
        descriptors_of(each, *COMMANDS[each])
    sys.exit(table.status())
