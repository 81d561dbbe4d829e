#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""compare.py STOCK OURS [EXCEPTIONS]

Holds two outputs of the addrinfo program together, case by case, and prints one
line a group. Cases may differ only as the file of exceptions says, and each of
the exceptions must be needed."""
import re
import sys

SHOWN = 5


def cases_of(path):
    """{name: text} in the order of the file."""
    cases, name = {}, None
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.startswith("case "):
                name = line[5:].rstrip("\n")
                if name in cases:
                    sys.exit(f"compare.py: {path}: twice the case {name}")
                cases[name] = ""
            elif name is None:
                sys.exit(f"compare.py: {path}: no case before '{line.rstrip()}'")
            else:
                cases[name] += line
    return cases


class Exception_:
    def __init__(self, line):
        fields = line.rstrip("\n").split("\t")
        if len(fields) != 4:
            sys.exit(f"compare.py: an exception has four fields, not {len(fields)}: {line}")
        self.where, self.stock, self.ours = map(re.compile, fields[:3])
        self.reason, self.used = fields[3], 0

    def covers(self, name, stock, ours):
        if not self.where.fullmatch(name) or not self.stock.search(stock) \
                or not self.ours.search(ours):
            return False
        self.used += 1
        return True


def main(stock_path, ours_path, exceptions_path=None):
    stock, ours = cases_of(stock_path), cases_of(ours_path)
    exceptions = []
    if exceptions_path:
        with open(exceptions_path, encoding="utf-8") as file:
            exceptions = [Exception_(line) for line in file if line.strip() and line[0] != "#"]

    groups, failed = {}, False
    for name in list(stock) + [name for name in ours if name not in stock]:
        equal, excepted, wrong = groups.setdefault(name.split(" | ")[0], ([], [], []))
        theirs, our = stock.get(name), ours.get(name)
        if theirs == our and our:
            equal.append(name)
        elif theirs and our and any(e.covers(name, theirs, our) for e in exceptions):
            excepted.append(name)
        else:
            wrong.append((name, theirs, our))

    for group, (equal, excepted, wrong) in groups.items():
        count = f"{len(equal)} answers equal"
        if excepted:
            count += f", {len(excepted)} excepted"
        if not wrong:
            print(f"ok - addrinfo: {group} ({count})")
            continue
        failed = True
        print(f"not ok - addrinfo: {group}: {len(wrong)} answers differ ({count})")
        for name, theirs, our in wrong[:SHOWN]:
            print(f"# {name}")
            print("\n".join(f"#   stock {line}" for line in (theirs or "none").splitlines()))
            print("\n".join(f"#   ours  {line}" for line in (our or "none").splitlines()))
    for exception in exceptions:
        if not exception.used:
            failed = True
            print(f"not ok - addrinfo: an exception is not needed: {exception.where.pattern}")
    if not groups:
        sys.exit("compare.py: no cases")
    return failed


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
