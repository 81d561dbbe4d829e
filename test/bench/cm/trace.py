# SPDX-License-Identifier: MIT
"""trace.py FILE...: what strace -k -y -s 300 saw of client_WHO, each file named
WHO.MODE, as rows, tab-separated:

    commands  WHO  MODE  1|2  the rdma_cm commands of the connection, in order
    calls  WHO  MODE  before|1|2  whose  name  count

"before" is from main to the first connection's CREATE_ID; whose is "library",
or "libibverbs" where a frame of libibverbs or of a provider is on the stack."""
import ast
import os
import re
import sys
from collections import Counter

# Numbers of <rdma/rdma_user_cm.h>.
COMMANDS = (
    "CREATE_ID DESTROY_ID BIND_IP RESOLVE_IP RESOLVE_ROUTE QUERY_ROUTE CONNECT LISTEN "
    "ACCEPT REJECT DISCONNECT INIT_QP_ATTR GET_EVENT GET_OPTION SET_OPTION NOTIFY "
    "JOIN_IP_MCAST LEAVE_MCAST MIGRATE_ID QUERY BIND RESOLVE_ADDR JOIN_MCAST "
    "RESOLVE_IB_SERVICE WRITE_CM_EVENT"
).split()
# What distinguishes commands of one number: the 4 bytes at 12 of the request.
OPTIONS = {"QUERY": ["ADDR", "PATH", "GID"], "INIT_QP_ATTR": ["RESET", "INIT", "RTR", "RTS"]}
CALL = re.compile(r'^(\w+)\((.*)$')
VERBS = re.compile(r"(libibverbs|-rdmav\d+|/libibverbs/)")


def command(arguments):
    """The name of the command that a write is, None if it is another write."""
    if not re.match(r"\d+</dev/infiniband/rdma_cm>", arguments):
        return None
    text = re.search(r'"((?:[^"\\]|\\.)*)"', arguments)
    data = ast.literal_eval('b"' + text.group(1) + '"')
    number = int.from_bytes(data[:4], sys.byteorder)
    name = COMMANDS[number] if number < len(COMMANDS) else f"COMMAND_{number}"
    if name in OPTIONS:
        option = int.from_bytes(data[20:24], sys.byteorder)
        options = OPTIONS[name]
        name += " " + (options[option] if option < len(options) else str(option))
    return name


def read(path):
    """[(name, arguments, whose)] of each call, in order."""
    calls = []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            if line.startswith(" > "):
                if VERBS.search(line.split("(")[0]):
                    calls[-1][2] = "libibverbs"
                continue
            found = CALL.match(line)
            if found:
                calls.append([found.group(1), found.group(2), "library"])
            elif not re.match(r"(\+\+\+|---)", line):
                sys.exit(f"{path}: cannot read {line!r}")
    return calls


def is_mark(call, name):
    return call[0] == "write" and call[1].startswith(f'-1, "mark-{name}"')


def between(calls, first, last):
    return [call for call in calls[first:last] if not call[1].startswith('-1, "mark-')]


def rows(path):
    who, mode = os.path.basename(path).split(".", 1)
    calls = read(path)
    marks = {
        name: [i for i, call in enumerate(calls) if is_mark(call, name)]
        for name in ("main", "create", "created", "destroyed")
    }
    if [len(marks[name]) for name in marks] != [1, 2, 2, 2]:
        sys.exit(f"{path}: marks are missing: {marks}")
    creates = [
        i for i in range(marks["created"][0])
        if calls[i][0] == "write" and command(calls[i][1]) == "CREATE_ID"
    ]
    if not creates:
        sys.exit(f"{path}: no CREATE_ID")
    parts = {
        "before": between(calls, marks["main"][0], creates[-1]),
        "1": between(calls, creates[-1], marks["destroyed"][0]),
        "2": between(calls, marks["create"][1], marks["destroyed"][1]),
    }
    for part, some in parts.items():
        names = [command(call[1]) for call in some if call[0] == "write"]
        print("commands", who, mode, part, ", ".join(n for n in names if n), sep="\t")
        counts = Counter((whose, name) for name, _, whose in some)
        for (whose, name), count in sorted(counts.items()):
            print("calls", who, mode, part, whose, name, count, sep="\t")


for each in sys.argv[1:]:
    rows(each)
