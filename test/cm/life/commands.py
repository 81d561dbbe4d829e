#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""commands.py STRACE_OUTPUT: what a program that strace -y -xx watched wrote to the
rdma_cm device. Every command must be whole, and some must not be there."""
import re
import struct
import sys

LINE = re.compile(r'write\(\d+<[^>]*>, "((?:\\x[0-9a-f]{2})*)"(?:\.\.\.)?, (\d+)\) += (-?\d+)')
ACCEPT, NOTIFY, RESOLVE_ADDR = 8, 15, 21
PATH_MIGRATED = 6
DEVICE = ''.join(f'\\x{ord(letter):02x}' for letter in '/dev/infiniband/rdma_cm')

bad = 0


def check(good, name, why):
    global bad
    print(f'ok - traps: {name}' if good else f'not ok - traps: {name}: {why}')
    bad += not good


def main():
    commands = []
    with open(sys.argv[1], encoding='ascii', errors='replace') as lines:
        for line in lines:
            found = LINE.search(line.replace(DEVICE, 'rdma_cm'))
            if found and ('rdma_cm' in line or DEVICE in line):
                head = bytes.fromhex(found[1].replace('\\x', ''))
                number, size = struct.unpack_from('=IH', head)
                commands.append((number, size, head[8:], int(found[2]), int(found[3])))
    check(len(commands) > 300, 'the commands were seen', f'{len(commands)} of them')
    short = [c for c in commands if c[1] + 8 != c[3]]
    check(not short, '2: each write is one whole command', f'{len(short)} are not, as {short[:1]}')
    sent = {number: sum(c[0] == number for c in commands) for number in (ACCEPT, NOTIFY, RESOLVE_ADDR)}
    migrated = [c for c in commands if c[0] == NOTIFY and struct.unpack_from('=II', c[2])[1] == PATH_MIGRATED]
    check(not migrated, '4: path migrated never reaches the kernel', f'{len(migrated)} did')
    refused = [c for c in commands if c[0] == RESOLVE_ADDR and c[4] < 0]
    check(sent[RESOLVE_ADDR] > 10 and not refused, '3: no RESOLVE_ADDR was one too many',
          f'{len(refused)} of {sent[RESOLVE_ADDR]} were refused')
    # One that the peer left before (row 18) cannot be known.
    refused = [c for c in commands if c[0] == ACCEPT and c[4] < 0]
    check(sent[ACCEPT] > 10 and len(refused) == 1, '5: no ACCEPT reaches the kernel that it would not take',
          f'{len(refused)} of {sent[ACCEPT]} did, 1 is right')
    return bad > 0


sys.exit(main())
