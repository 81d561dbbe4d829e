#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""removed.py BUILD SHARE: the device is removed at a random moment while connections are
made without end, by the connection manager, by stock, and by stock under the preload object.
Each ends by itself with an error that it tells, can destroy all it has, and all is
well with the device that comes next."""
import collections
import os
import random
import subprocess
import sys
import time

sys.dont_write_bytecode = True
import table  # noqa: E402

build, share = sys.argv[1], int(sys.argv[2])
rounds = max(2, 20 // share)
seed = int(os.environ.get('FAULTS_SEED', time.time_ns() % 2 ** 32))
chance = random.Random(seed)
PATIENCE_S = 60


def run(command):
    return subprocess.run(command, shell=True, check=False, capture_output=True, text=True)


def until(condition):
    end = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def program(whose, word, preload):
    environment = dict(os.environ, LD_PRELOAD=f'{build}/lib/preload/libqpattr-preload.so') if preload else None
    return subprocess.Popen([f'{build}/test/faults/connected_{whose}', word], env=environment, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True)


def once(whose, preload):
    it = program(whose, 'on', preload)
    if it.stdout.readline() != 'begins\n':
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
        if not until(lambda: 'rxe0' not in run('rdma link show').stdout):
            raise SystemExit('removed.py: rxe0 does not go')
        if run('rdma link add rxe0 type rxe netdev v0').returncode:
            raise SystemExit('removed.py: rxe0 cannot be added')
    if it.returncode != 0:
        return f'it ends with {it.returncode}', said
    if 'wrong' in said or 'failed: ' not in said:
        return 'it tells of no failure' if 'wrong' not in said else 'wrong', said
    if not until(lambda: program(whose, 'once', preload).communicate()[0] == 'begins\nwhole\n'):
        return 'the next device does not serve', ''
    return None


print(f'# seed {seed}')
for subject, name, object_preloaded in (('connection manager', 'qpattr', False), ('preload object', 'stock', True), ('stock', 'stock', False)):
    row = table.Row('removal', subject)
    outcomes = collections.Counter()
    for at in range(rounds):
        harm = once(name, object_preloaded)
        if harm:
            row.failed(f'round {at} of seed {seed}', *harm)
        outcomes['ended with an error'] += not harm
    row.tell(rounds, outcomes)
sys.exit(table.status())
