#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""compare_fields.py [--same] STOCK OURS: compares two outputs of fields.

One line 'ok - ...' or 'not ok - ...' for each scenario and party. Ours must be
stock's, but where stock crashes or waits for ever: there EINVAL, or nothing where a
call returns nothing; and but for the lines of docs/differences.md, each of which must be
needed. With --same there are no such exceptions.
"""

import difflib
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), '..'))
import differences  # noqa: E402

HEADER = re.compile(r'^== (.*?)(: ended by .*|: status .*)?$')
CALL = re.compile(r'^    (.*) (= -?\d+.*|crashes|waits|is killed|ends the process|cannot be made: .*)$')

# Where ours differs on purpose.
DELIBERATE = [line for block in differences.read() for line in block.lines]
needed = set()


def deliberate(stock, ours):
    for rule in DELIBERATE:
        one, two = (pattern.match(line) for pattern, line in zip(rule, (stock, ours)))
        if one and two and one.groupdict() == two.groupdict():
            needed.add(rule)
            return True
    return False


def scenarios(path):
    """A dict of the lines of each scenario, by its name, party and address."""
    found, lines = {}, None
    with open(path, encoding='utf-8', errors='replace') as file:
        for line in file.read().splitlines():
            header = HEADER.match(line)
            if header and header[2] is None:
                lines = None if header[1].startswith('end, ') else found.setdefault(header[1], [])
            elif lines is not None:
                lines.append(line)
            elif not line.startswith('#'):
                found.setdefault('before the first', []).append(line)
    return found


def forgiven(stock, ours):
    """Whether ours may differ from stock in this line of misuse."""
    stock, ours = CALL.match(stock), CALL.match(ours)
    if not stock or not ours or stock[1] != ours[1]:
        return False
    # A call without a result is printed as (CALL, 0).
    returns_nothing = re.search(r'(: |^)\(rdma_', stock[1]) or stock[1].endswith('? 1 : 0')
    if stock[2] == 'crashes':
        return ours[2] == ('= 0' if returns_nothing else '= -1 EINVAL')
    # What waits may wait with reason.
    return stock[2] == 'waits' and ours[2].startswith('= ')


def main():
    arguments = sys.argv[1:]
    same = '--same' in arguments
    stock, ours = (scenarios(path) for path in arguments if path != '--same')
    bad = False
    names = list(stock) + [name for name in ours if name not in stock]
    for name in names:
        one, two = stock.get(name, ['no such scenario']), ours.get(name, ['no such scenario'])
        if not same and len(one) == len(two):
            two = [a if a == b or forgiven(a, b) or deliberate(a, b) else b for a, b in zip(one, two)]
        trouble = [line for line in one if line.startswith('not ok') or 'cannot be made' in line]
        # A party that has no part in a scenario.
        if not one and not two:
            continue
        if one == two and not trouble:
            print(f'ok - fields: {name}, {len(one)} lines')
            continue
        bad = True
        difference = list(difflib.unified_diff(one, two, 'stock', 'ours', lineterm='', n=2))
        print(f'not ok - fields: {name}: {sum(line[0] in "+-" for line in difference[2:])} lines differ, {len(trouble)} are trouble')
        for line in (trouble + difference)[:80]:
            print(f'#   {line}')
    for rule in DELIBERATE:
        if not same and rule not in needed:
            bad = True
            print(f"not ok - fields: this difference of the page is none any more: {' => '.join(part.pattern for part in rule)}")
    if not stock or not ours:
        bad = True
        print('not ok - fields: there is something to compare: an output is empty')
    return bad


if __name__ == "__main__":
    sys.exit(main())
