#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""calls.py BUILD SHARE PART...: system calls that fail, of one in SHARE. Parts: preload, traced,
overridden (a program under the preload object), connected (a program of the connection
manager). One line a kind, and one for each fault that did harm."""
import collections
import errno
import json
import os
import re
import sys
import tempfile

sys.dont_write_bytecode = True
import errnos  # noqa: E402
import table  # noqa: E402
from injected import Fault, Subject, call_at, faults_of, name_of  # noqa: E402

# As in mark.h.
LOADED, OBJECTS, BEGIN, END, LAST = range(5)
WRITE, IOCTL = 1, 16
INIT_QP_ATTR = '0b000000'

build, share = sys.argv[1:3]
here = f'{build}/test/faults'
share = int(share)
preload = [f'{here}/marker.so', f'{build}/lib/preload/libqpattr-preload.so']


def unharmed(result):
    """What is wrong whatever was injected."""
    if result.end != 'exit':
        return f'{result.end} {result.code}'
    if result.left:
        return f'{result.left} processes are left'
    wrong = re.search('^.*wrong.*$', result.output, re.M)
    if wrong:
        return wrong.group()
    return None


def left_behind(result, base):
    """Descriptors and bytes, as the program tells of them at its end."""
    def told(of):
        found = re.search(r'^(?:left: )?(?:descriptors )?(-?\d+)(?: descriptors,| bytes) (-?\d+)', of.output, re.M)
        return (int(found.group(1)), int(found.group(2))) if found else None
    mine, usual = told(result), told(base)
    if not mine:
        return f'status {result.code}, and no word at its end'
    if mine[0] != usual[0]:
        return f'{mine[0] - usual[0]} descriptors are left'
    if mine[1] > usual[1]:
        return f'{mine[1] - usual[1]} bytes are left'
    room = [re.search('^room for .*$', each.output, re.M) for each in (result, base)]
    if room[1] and (not room[0] or room[0].group() != room[1].group()):
        return f'{room[0] and room[0].group()}, usually {room[1].group()}'
    return None


def answers(result):
    return [line for line in result.output.splitlines() if re.fullmatch(r'0|E[A-Z0-9]+', line)]


def asked_harm(result, listed, base):
    """A call fails only if its own command did, and says that error."""
    hit = call_at(listed, result.fault)
    harm = unharmed(result) or left_behind(result, base)
    # A trace's descriptor that is said not to be open is opened anew.
    if harm and not (harm == '1 descriptors are left' and result.fault.error == errno.EBADF and errnos.NAMES[hit.number] in ('newfstatat', 'fstat')):
        return harm
    failed = [each for each in answers(result) if each != '0']
    if len(answers(result)) != 3:
        return 'not three calls'
    own = hit.number == WRITE and hit.mark == BEGIN and hit.text.startswith(INIT_QP_ATTR)
    if failed != ([name_of(result.fault.error)] if own else []):
        return f'calls fail: {failed}'
    return None


# Of the faults of a row so many may not be met: calls that a clock or another process decides.
NOT_MET_SHARE = 0.2


def judge(row, results, harm_of, outcome_of):
    outcomes, not_met = collections.Counter(), 0
    for each in results:
        harm = harm_of(each)
        if harm:
            row.failed(each.fault.what, harm, each.output)
        elif not each.injected:
            not_met += 1
        else:
            outcomes[outcome_of(each)] += 1
    if not_met > NOT_MET_SHARE * len(results):
        row.failed('all', f'{not_met} of {len(results)} faults were not met')
    row.tell(len(results) - not_met, outcomes)


def refused_or_served(result):
    return 'refused' if any(each != '0' for each in answers(result)) else 'served'


def preload_part():
    row = table.Row('calls', 'preload object, first call')
    asked = Subject(here, [f'{here}/asked'], preload, [LOADED, BEGIN, LAST])
    listed, base = asked.base()
    results = asked.run(faults_of(listed, share))
    judge(row, results, lambda each: asked_harm(each, listed, base), refused_or_served)
    # The command itself fails alike under stock.
    stock = Subject(here, [f'{here}/asked'], [], [BEGIN])
    stock_listed, _ = stock.base()
    row = table.Row('calls', 'the same, stock: equal answers')
    ours = {}
    for each in results:
        hit = call_at(listed, each.fault)
        if hit.number == WRITE and hit.text.startswith(INIT_QP_ATTR):
            ours[answers_key(listed, each.fault)] = answers(each)
    faults = [each for each in faults_of(stock_listed, 1) if answers_key(stock_listed, each) in ours]
    judge(row, stock.run(faults), lambda each: None if answers(each) == ours[answers_key(stock_listed, each.fault)]
          else f'stock says {answers(each)}, ours {ours[answers_key(stock_listed, each.fault)]}', refused_or_served)


def answers_key(listed, fault):
    """Which of the commands, and the error."""
    commands = [at for at, each in enumerate(listed) if each.number == WRITE and each.text.startswith(INIT_QP_ATTR)]
    own = [at for at, each in enumerate(listed) if each.number == fault.number][fault.first - 1]
    return (commands.index(own), fault.error) if own in commands else None


def records_by_program(path):
    out = collections.defaultdict(list)
    with open(path, encoding='utf-8', errors='replace') as file:
        for line in file:
            record = json.loads(line)
            out[record['pid']].append(record)
    return out


def lost_in_silence(result, records):
    """Whether a record is neither there nor said to be lost."""
    if re.search(r'^qpattr: .*nothing is (traced|overridden)', result.output, re.M):
        return None
    calls = [each for each in records if each['type'] == 'call']
    ends = [each for each in records if each['type'] == 'end']
    said = re.search(r'^qpattr: (\d+) records? of asked', result.output, re.M)
    lost = ends[0]['lost'] if ends else int(said.group(1)) if said else 0
    if len(calls) + lost < 3:
        return f'{3 - len(calls)} records of calls are lost, {lost} said'
    if not ends and not re.search('^qpattr: .*record', result.output, re.M):
        return 'the last record is lost, and nothing said'
    if calls and not any(each['type'] == 'process' for each in records):
        return 'calls without the record of their process'
    return None


def traced_part(override=None):
    row = table.Row('calls', 'preload object, with overrides' if override else 'preload object, traced')
    with tempfile.TemporaryDirectory() as directory:
        trace = f'{directory}/trace'
        environment = {'QPATTR_TRACE': trace}
        if override:
            environment['QPATTR_OVERRIDE'] = override
        asked = Subject(here, [f'{here}/asked'], preload, [LOADED, BEGIN, LAST], environment)
        listed, base = asked.base()
        results = asked.run(faults_of(listed, share))
        records = records_by_program(trace) if os.path.exists(trace) else {}

        def harm_of(result):
            pid = re.search(r'^pid (\d+)$', result.output, re.M)
            harm = asked_harm(result, listed, base)
            return harm or lost_in_silence(result, records.get(int(pid.group(1)) if pid else 0, []))

        judge(row, results, harm_of,
              lambda each: 'said' if re.search('^qpattr: ', each.output, re.M) else refused_or_served(each))


# Which ours and stock both make, as often, though stock makes some before for itself.
SAME_COMMANDS = {'00', '01', '04', '06', '07', '08', '0a', '0b', '0c', '14', '15'}


def command_key(listed, fault):
    """Of a command: which of its kind, from the last, and the error. None for other calls."""
    hit = call_at(listed, fault)
    kind = hit.text[:2]
    if hit.number != WRITE or kind not in SAME_COMMANDS:
        return None
    writes = [each for each in listed if each.number == WRITE]
    return kind, sum(each.text[:2] == kind for each in writes[fault.first - 1:]), fault.error


def first_failure(result):
    found = re.search('^failed: (.*)$', result.output, re.M)
    return found.group(1) if found else 'nothing'


# As kinds.h has them; whether its calls come in the same order each time, without the
# program's own threads.
KINDS = {'connection': True, 'datagrams': True, 'synchronous': False}
# The program's own: it waits for events.
OWN = ['poll', 'fcntl']


def connected_part():
    for kind, ordered in KINDS.items():
        connected_kind(kind, ordered)


def whole(row, base):
    """Whether the program is, without a fault; else there is nothing to hold faults against."""
    room = re.search(r'^room for .*$', base.output, re.M)
    if 'again whole' in base.output and 'failed' not in base.output and room and '-1' not in room.group():
        return True
    return row.failed('nothing', 'the program is not whole', base.output)


def connected_kind(kind, ordered):
    row = table.Row('calls', f'connection manager, {kind}')
    ours = Subject(here, [f'{here}/connected_qpattr', kind], [f'{here}/marker.so'], [BEGIN])
    listed, base = ours.base()
    if not whole(row, base):
        return
    results = ours.run(faults_of(listed, share, leave_out=OWN))
    judge(row, results, lambda each: connected_harm(each, listed, base),
          lambda each: 'served' if first_failure(each) == 'nothing' else 'refused')
    if not ordered:
        return
    row = table.Row('calls', f'the same, stock: equal errors, {kind}')
    stock = Subject(here, [f'{here}/connected_stock', kind], [f'{here}/marker.so'], [BEGIN])
    stock_listed, _ = stock.base()
    usual = {command_key(listed, each.fault): first_failure(each) for each in results if command_key(listed, each.fault)}
    faults = [each for each in faults_of(stock_listed, 1) if command_key(stock_listed, each) in usual]
    judge(row, stock.run(faults), lambda each: differs(first_failure(each), usual[command_key(stock_listed, each.fault)], each.fault.error),
          lambda each: 'equal')


def connected_harm(result, listed, base):
    harm = unharmed(result) or left_behind(result, base)
    if not harm or result.end != 'exit' or 'descriptors are left' not in harm:
        return harm
    # A QP, or a queue, that the kernel does not let go keeps its channel's descriptor.
    hit = call_at(listed, result.fault)
    return None if hit.number == IOCTL and is_destruction(listed, result.fault) else harm


def is_destruction(listed, fault):
    """After the last DISCONNECT, or without one LEAVE_MCAST, what is asked of the device is to destroy."""
    ends = max(at for at, each in enumerate(listed) if each.number == WRITE and each.text[:2] in ('0a', '11'))
    return [at for at, each in enumerate(listed) if each.number == fault.number][fault.first - 1] > ends


def differs(stock_says, ours_says, error):
    """The status of an event that tells of a failed command is -1 with stock, with ours its error."""
    event, colon, status = stock_says.rpartition(' EPERM')
    if colon and not status and ': RDMA_CM_EVENT_' in event and ours_says == f'{event} {name_of(error)}':
        return None
    return None if stock_says == ours_says else f'ours {ours_says}, stock {stock_says}'


ALLOCATIONS, DESCRIPTORS = -2, -3


def counted_faults(kind, count, each_from_one=True):
    """One that fails; and from one on, all."""
    out = [Fault(kind, at, at, 0, f'{at} of {count}') for at in range(1, count + 1, share)]
    if each_from_one:
        out += [Fault(kind, at, 2 ** 30, 0, f'from {at} of {count} on') for at in range(1, count + 1, share)]
    return out


def allocations_part():
    """Of the connection manager its own; under the preload object anybody's, as the dynamic
    linker's and stock's are what its first call needs."""
    subjects = [(f'connection manager, {kind}', ['connected_qpattr', kind], [f'{here}/marker.so'], {}) for kind in KINDS]
    subjects += [('preload object, first call', ['asked'], preload, {'FAULTS_ALL_ALLOCATIONS': '1'})]
    for what, program, objects, environment in subjects:
        row = table.Row('allocations', what)
        subject = Subject(here, [f'{here}/{program[0]}', *program[1:]], [*objects, f'{here}/allocations.so'], [BEGIN], environment)
        base = subject.run([Fault(ALLOCATIONS, 0, 0, 0, 'none')])[0]
        count = int(re.search(r'^allocations (\d+)$', base.output, re.M).group(1))
        if not count:
            row.failed('none', 'no allocation is counted', base.output)
        if program != ['asked'] and not whole(row, base):
            continue
        judge(row, subject.run(counted_faults(ALLOCATIONS, count)),
              lambda each: unharmed(each) or left_behind(each, base) or wrong_error(each, 'ENOMEM'), refused_or_failed)


def refused_or_failed(result):
    return 'served' if first_failure(result) == 'nothing' and refused_or_served(result) == 'served' else 'refused'


def wrong_error(result, *errors):
    """A step that fails has one of these errors; under the preload object no call fails."""
    failed = [each for each in answers(result) if each != '0']
    if failed:
        return f'calls fail: {failed}'
    step = first_failure(result)
    # A request that there is no memory for is refused, and no event comes of it but the peer's:
    # of two threads either may tell first.
    refused = ('RDMA_CM_EVENT_CONNECT_REQUEST EAGAIN', 'rdma_get_request EAGAIN', 'rdma_connect ECONNREFUSED')
    fits = step in ('nothing', *refused) or ': RDMA_CM' in step or step.split()[-1] in errors
    return None if fits else f'it is {step}'


def descriptors_part():
    """As many as there are may be opened, and one, two, ... more."""
    subjects = [(f'connection manager, {kind}', ['connected_qpattr', kind], [f'{here}/marker.so']) for kind in KINDS]
    for what, program, objects in [*subjects, ('preload object, first call', ['asked'], preload)]:
        row = table.Row('descriptors', what)
        subject = Subject(here, [f'{here}/{program[0]}', *program[1:]], objects, [BEGIN])
        _, base = subject.base()
        if program != ['asked'] and not whole(row, base):
            continue
        faults = [Fault(DESCRIPTORS, at, at, 0, f'{at} more') for at in range(16)]
        results = subject.run(faults)
        judge(row, results, lambda each: unharmed(each) or left_behind(each, base) or wrong_error(each, 'EMFILE', 'ENODEV'),
              refused_or_failed)
        if program != ['asked'] and not any(first_failure(each) != 'nothing' for each in results):
            row.failed('all', 'none was missed')


if __name__ == '__main__':
    for part in sys.argv[3:]:
        {'allocations': allocations_part, 'descriptors': descriptors_part, 'preload': preload_part, 'traced': traced_part, 'connected': connected_part,
         'overridden': lambda: traced_part('*:qp_access_flags=REMOTE_READ')}[part]()
    sys.exit(table.status())
