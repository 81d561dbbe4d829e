# SPDX-License-Identifier: MIT
"""callgrind.py WHO MODE FEW MANY FILE_FEW FILE_MANY: instructions in user space
of one connection, both ends, from two of callgrind's files, by whose object:

    user  WHO  MODE  whose  instructions

The difference of the two, so that what happens once in a process is not in it."""
import re
import sys
from collections import Counter

POSITION = re.compile(r"^[+-]?\d+|^\*")
NAME = re.compile(r"^c?ob=\((\d+)\)(?: (.*))?$")


def whose(path):
    if re.search(r"libibverbs|-rdmav\d+", path):
        return "libibverbs"
    if re.search(r"/(libc|ld-linux[^/]*)\.so", path):
        return "libc"
    return "library"


def read(path):
    names, cost, current, inclusive = {}, Counter(), None, False
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            named = NAME.match(line)
            if named:
                number, name = named.groups()
                if name is not None:
                    names[number] = name
                if line.startswith("ob="):
                    current = names[number]
            elif line.startswith("calls="):
                inclusive = True
            elif POSITION.match(line):
                # The line after "calls=" is the callee's, counted there.
                if not inclusive:
                    cost[whose(current)] += int(line.split()[1])
                inclusive = False
            elif line.startswith("totals:"):
                total = int(line.split()[1])
    if sum(cost.values()) != total:
        sys.exit(f"{path}: {sum(cost.values())} instructions read, callgrind counted {total}")
    return cost


who, mode, few, many, file_few, file_many = sys.argv[1:]
fewer, more = read(file_few), read(file_many)
for name in sorted(more):
    each = (more[name] - fewer[name]) / (int(many) - int(few))
    print("user", who, mode, name, f"{each:.0f}", sep="\t")
