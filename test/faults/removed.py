#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""removed.py BUILD SHARE: the device is removed at a random moment while connections are
made without end, by the connection manager, by stock, and by stock under the preload object.
Each ends by itself with an error that it tells, can destroy all it has, and all is
well with the device that comes next."""
import collections
import os
import subprocess
import sys
import time

sys.dont_write_bytecode = True
import table  # noqa: E402
from chance import PATIENCE_S, chance, first_line, output_of, seed, until  # noqa: E402

build, share = sys.argv[1], int(sys.argv[2])
rounds = max(2, 20 // share)


def program(whose, word, preload):
    environment = dict(os.environ, LD_PRELOAD=f'{build}/lib/preload/libqpattr-preload.so') if preload else None
    return subprocess.Popen([f'{build}/test/faults/connected_{whose}', word], env=environment, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True)


def once(whose, preload):
    it = program(whose, 'on', preload)
    if first_line(it) != 'begins\n':
        return 'it does not begin', ''
    time.sleep(chance.uniform(0, 1))
    # It ends when nobody has the device open.
    removal = subprocess.Popen(['rdma', 'link', 'delete', 'rxe0'], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        said, _ = it.communicate(timeout=PATIENCE_S)
        removal.wait(PATIENCE_S)
    except subprocess.TimeoutExpired:
        it.kill()
        removal.wait()
        return 'it hangs', it.communicate()[0]
    finally:
        until(lambda: 'rxe0' not in output_of('rdma link show'))
        output_of('rdma link add rxe0 type rxe netdev v0')
    if it.returncode != 0:
        return f'it ends with {it.returncode}', said
    if 'wrong' in said or 'failed: ' not in said:
        return 'it tells of no failure' if 'wrong' not in said else 'wrong', said
    try:
        until(lambda: whole(program(whose, 'once', preload)))
    except (TimeoutError, subprocess.TimeoutExpired):
        return 'the next device does not serve', ''
    return None


def whole(it):
    try:
        return it.communicate(timeout=PATIENCE_S)[0] == 'begins\nwhole\n'
    except subprocess.TimeoutExpired:
        it.kill()
        raise


print(f'# seed {seed}')
for subject, name, object_preloaded in (('connection manager', 'qpattr', False), ('preload object', 'stock', True), ('stock', 'stock', False)):
    row = table.Row('removal', subject)
    outcomes = collections.Counter()
    for at in range(rounds):
        try:
            harm = once(name, object_preloaded)
        except TimeoutError:
            harm = 'it does not begin, or its device does not go', ''
        if harm:
            row.failed(f'round {at} of seed {seed}', *harm)
        outcomes['ended with an error'] += not harm
    row.tell(rounds, outcomes)
sys.exit(table.status())
