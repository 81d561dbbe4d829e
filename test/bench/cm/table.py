# SPDX-License-Identifier: MIT
"""table.py ROWS: connections, ours beside stock and the bare commands, from the
rows of one run. Exit status 1 if a limit is not kept."""
import sys
from collections import defaultdict
from statistics import median

# What qpattr promises (docs/ARCHITECTURE.md).
# rdma_cm commands of a client connection. The public struct shows the path of an id
# that has a route, so the C names have to ask for it; the C++ layer does not show it.
COMMANDS = {"async": 17, "sync": 17, "c++": 16}
SETUP = 60  # the library's own system calls that a process makes once
AIM = 1.2  # x stock's connections a second; the limit is to be ahead
BYTES = 480  # heap an id

NAMES = {"stock": "stock librdmacm", "qpattr": "qpattr", "bare": "bare commands (limit)"}
MODES = {"qp": "with an RC QP at each end", "number": "without QPs"}
IN_FLIGHT = (1, 16, 256)


class Rows:
    def __init__(self, path):
        self.commands = {}  # who, mode, part -> [name]
        self.calls = defaultdict(dict)  # who, mode, part -> {(whose, name): count}
        self.memory = {}  # who, what -> (bytes, growth)
        self.user = defaultdict(dict)  # who, mode -> {whose: instructions}
        self.storms = defaultdict(list)  # part, who, mode, in flight -> [(a connection, to established)]
        self.spare = defaultdict(list)  # bits -> [nanoseconds a connection]
        self.objects = set()  # (who, object)
        with open(path, encoding="utf-8") as lines:
            for line in lines:
                if "\t" in line:
                    self.take(*line.rstrip("\n").split("\t"))
                else:  # of a program, or of an attempt that failed
                    print(f"bench: {line.rstrip()}", file=sys.stderr)
        self.who = [who for who in NAMES if (who, "created") in self.memory]

    def take(self, kind, *cells):
        if kind == "commands":
            self.commands[cells[:3]] = cells[3].split(", ") if cells[3] else []
        elif kind == "calls":
            self.calls[cells[:3]][cells[3:5]] = int(cells[5])
        elif kind == "memory":
            self.memory[cells[:2]] = (int(cells[2]), float(cells[3]))
            self.objects.add((cells[0], cells[4]))
        elif kind == "user":
            self.user[cells[:2]][cells[2]] = int(cells[3])
        elif kind in ("exact", "clock"):
            who, mode, in_flight, count, took, established, where = cells
            self.storms[kind, who, mode, int(in_flight)].append(
                (int(took) / int(count), int(established)))
            self.objects.add((who, where))
        elif kind == "spare":
            self.spare[int(cells[0])].append(int(cells[4]) / int(cells[3]))
        else:
            sys.exit(f"bench: a row of kind {kind!r}")

    def each(self, kind, who, mode, in_flight):
        """Nanoseconds a connection, of each round."""
        return [storm[0] for storm in self.storms[kind, who, mode, in_flight]]

    def count(self, key, whose):
        return sum(n for (of, _), n in self.calls[key].items() if of == whose)

    def kinds(self, key, whose):
        some = [(n, name) for (of, name), n in self.calls[key].items() if of == whose]
        return ", ".join(f"{n} {name}" for n, name in sorted(some, reverse=True)) or "none"


class Limits:
    def __init__(self):
        self.broken = []

    def __call__(self, what, kept):
        if not kept:
            self.broken.append(what)
        return "kept" if kept else "NOT KEPT"


def commands(rows, limits):
    print("rdma_cm commands and system calls of one client connection (strace)")
    for who, mode, part in rows.commands:
        if part != "2":
            continue
        key = (who, mode, "2")
        names = rows.commands[key]
        print(f"  {NAMES[who]}, {mode}: {len(names)} commands, "
              f"{rows.count(key, 'library') - len(names)} other calls, "
              f"{rows.count(key, 'libibverbs')} of libibverbs")
        for at in range(0, len(names), 6):
            print("      " + ", ".join(names[at:at + 6]))
        if who == "qpattr":
            most = COMMANDS[mode]
            print(f"    limit {most}: "
                  f"{limits(f'{mode}: {len(names)} commands', len(names) <= most)}")
    for mode in ("async", "sync", "c++"):
        if ("qpattr", mode, "2") not in rows.commands:
            limits(f"qpattr, {mode}: no connection was traced", False)


def setup(rows, limits):
    print("\nSystem calls that a process makes once: before its first connection, and in it")
    print("more than in the second (strace; libibverbs' by the stack of each call)")
    for who, mode, part in rows.commands:
        if part != "before":
            continue
        first, second = ((who, mode, part) for part in ("1", "2"))
        key = (who, mode, "before")
        own = rows.count(key, "library")
        late = max(0, rows.count(first, "library") - rows.count(second, "library"))
        theirs = rows.count(key, "libibverbs")
        theirs_late = max(0, rows.count(first, "libibverbs") - rows.count(second, "libibverbs"))
        print(f"  {NAMES[who]}, {mode}: {own} before, {late} in the first: {rows.kinds(key, 'library')}")
        print(f"      of libibverbs {theirs} before, {theirs_late} in the first")
        if who == "qpattr":
            print(f"    limit {SETUP}: "
                  f"{limits(f'{mode}: {own + late} system calls once', own + late <= SETUP)}")


def instructions(rows):
    print("\nInstructions of a connection, both ends, user space and kernel, one in flight")
    print(f"{'':34}{'to established':>15}{'x stock':>9}{'whole':>10}{'x stock':>9}"
          f"{'in user space':>15}{'library':>9}{'libc':>7}{'verbs':>7}")
    for mode, title in MODES.items():
        print(title)
        base = None
        for who in rows.who:
            storms = rows.storms["exact", who, mode, 1]
            whole, established = (median(storm[i] for storm in storms) for i in (0, 1))
            base = base or (whole, established)
            user = rows.user[who, mode]
            print(f"  {NAMES[who]:32}{established:15.0f}{established / base[1]:9.3f}"
                  f"{whole:10.0f}{whole / base[0]:9.3f}{sum(user.values()):15}"
                  + "".join(f"{user.get(whose, 0):{width}}"
                            for whose, width in (("library", 9), ("libc", 7), ("libibverbs", 7))))
    names = {
        1: "QUERY ADDR and GID made one QUERY_ROUTE (client)",
        2: "no QUERY PATH (client)",
        4: "no INIT_QP_ATTR for the first INIT (both ends)",
        8: "access flags with RTR, no second MODIFY to INIT (both ends)",
        16: "no QUERY ADDR and GID of a request (server)",
        32: "no MODIFY to ERR at rdma_disconnect (both ends)",
    }
    print("What leaving out saves, of bare commands that are those of stock, with QPs")
    all_made = median(rows.spare[0])
    for bit, name in names.items():
        saved = all_made - median(rows.spare[bit])
        print(f"  {name:62}{saved:8.0f}  {saved / all_made:6.2%}")


def rates(rows, limits):
    for kind, title in (
        ("exact", "Connections a second at 10^9 instructions a second, both ends on one processor"),
        ("clock", "Connections a second by the clock, two processors, in turn, lowest to highest (no verdict: the host is in it)"),
    ):
        print(f"\n{title}")
        print(f"{'':34}" + "".join(f"{f'{n} in flight':>24}" for n in IN_FLIGHT))
        for mode, what in MODES.items():
            some = [who for who in rows.who if (kind, who, mode, 1) in rows.storms]
            if some:
                print(what)
            for who in some:
                cells = []
                for n in IN_FLIGHT:
                    each = rows.each(kind, who, mode, n)
                    rate = 1e9 / median(each)
                    ratio = median(rows.each(kind, "stock", mode, n)) / median(each)
                    cells.append(f"{rate:7.0f} {ratio:5.3f} x {1e9 / max(each):4.0f}-{1e9 / min(each):<4.0f}"
                                 .rjust(24))
                    if who == "qpattr" and kind == "exact":
                        limits(f"{what}, {n} in flight: {ratio:.3f} x stock's rate", ratio > 1)
                print(f"  {NAMES[who]:32}" + "".join(cells))
            if kind == "exact" and "qpattr" in rows.who:
                print("    ahead of stock: " + rate_verdict(rows, mode))


def rate_verdict(rows, mode):
    """Which rates are ahead, and which reach the aim; what no library can pass."""
    verdicts = []
    for n in IN_FLIGHT:
        stock, ours, bare = (median(rows.each("exact", who, mode, n))
                             for who in ("stock", "qpattr", "bare"))
        kept = "kept" if stock > ours else "NOT KEPT"
        aim = "reached" if stock / ours >= AIM else "not reached"
        verdicts.append(f"{n}: {kept}, {AIM} x {aim} (bare {stock / bare:.3f} x)")
    return "; ".join(verdicts)


def memory(rows, limits):
    print("\nBytes of an id")
    print(f"{'':34}{'to the next':>15}{'heap an id':>12}{'x stock':>9}{'resolved':>10}")
    for who in rows.who:
        size, growth = rows.memory[who, "created"]
        print(f"  {NAMES[who]:32}{size:15}{growth:12.1f}"
              f"{growth / rows.memory['stock', 'created'][1]:9.3f}"
              f"{rows.memory[who, 'resolved'][1]:10.1f}")
        if who == "qpattr":
            most = max(size, growth)
            print(f"    limit {BYTES}: {limits(f'{most:.1f} bytes an id', most <= BYTES)}")


def main():
    rows, limits = Rows(sys.argv[1]), Limits()
    if "qpattr" not in rows.who:
        limits("qpattr's own connection manager is not built", False)
    for who, where in sorted(rows.objects):
        served = "librdmacm" in where
        limits(f"{who} was served by {where}", served == (who == "stock"))
    commands(rows, limits)
    setup(rows, limits)
    instructions(rows)
    rates(rows, limits)
    memory(rows, limits)
    for line in limits.broken:
        print(f"bench: {line}", file=sys.stderr)
    return 1 if limits.broken else 0


sys.exit(main())
