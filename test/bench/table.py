# SPDX-License-Identifier: MIT
"""table.py ROWS: the bench's rows as a table with ratios. Exit status 1 if a
limit is not kept."""
import sys

# What qpattr promises (docs/ARCHITECTURE.md), by what is measured.
LIMITS = {
    "call two": 1.02,  # x the bare loop, in a process with a second thread
    "translate": 0.7,  # x libibverbs' own translation
    "first": 200,  # system calls of the first call
    "second": 1,
}


def read(path):
    calls, syscalls, translate, watched = {}, {}, {}, {}
    with open(path, encoding="utf-8") as rows:
        for line in rows:
            cells = line.rstrip("\n").split("\t")
            if cells[0] == "call":
                calls.setdefault(cells[1], {})[cells[2]] = (float(cells[3]), cells[4])
            elif cells[0] == "on":
                watched[cells[1]] = (float(cells[2]), cells[3])
            elif cells[0] in ("first", "second"):
                syscalls.setdefault(cells[0], {})[cells[1]] = int(cells[2])
            elif cells[0] == "translate":
                translate[cells[1]] = int(cells[2])
    return calls, syscalls, translate, watched


def main():
    calls, syscalls, translate, watched = read(sys.argv[1])
    broken = []

    def limit(what, value, bound):
        kept = value <= bound
        if not kept:
            broken.append(f"{what}: {value:.3f} is above {bound}")
        return "kept" if kept else "NOT KEPT"

    print("One call, RESET to INIT on a bound id, instructions in user space and kernel")
    print(f"{'':34}{'a call':>9}{'over bare':>11}{'x bare':>8}{'x stock':>9}")
    for threads, title in (("one", "one thread"), ("two", "two threads (one sleeps)")):
        rows = calls[threads]
        bare, stock = rows["bare"][0], rows["stock"][0]
        print(title)
        for who, label in (
            ("bare", "bare write loop"),
            ("qpattr", "qpattr, preloaded"),
            ("stock", "stock librdmacm"),
        ):
            cost, where = rows[who]
            print(
                f"  {label:32}{cost:9.1f}{cost - bare:+11.1f}{cost / bare:8.3f}{cost / stock:9.3f}"
            )
            expected = {"qpattr": "libqpattr-preload", "stock": "librdmacm"}.get(who, "")
            if expected not in where:
                broken.append(f"{label} was served by {where}")
        ratio = rows["qpattr"][0] / bare
        if threads == "two":
            print(f"  limit {LIMITS['call two']} x bare with two threads: {limit('call', ratio, LIMITS['call two'])}")
        if rows["qpattr"][0] >= stock:
            broken.append(f"{title}: not ahead of stock")

    print("\nThe same call with QPATTR_TRACE or QPATTR_OVERRIDE, one thread (off: the rows above)")
    off = calls["one"]["qpattr"][0]
    for name, label in (
        ("overrides", "overrides on, a rule that matches"),
        ("trace", "trace on, a record a call"),
        ("both", "both"),
    ):
        cost, where = watched[name]
        print(f"  {label:34}{cost:9.0f}{cost / off:8.1f} x off")
        if "libqpattr-preload" not in where:
            broken.append(f"{label}: served by {where}")
        if cost < 2 * off:
            broken.append(f"{label}: {cost:.0f} instructions: it was not on")

    print("\nTranslation of a reply alone, instructions (callgrind)")
    ours, theirs = translate["qpattr"], translate["libibverbs"]
    print(f"  qpattr {ours}, libibverbs {theirs}: {ours / theirs:.3f} x")
    print(f"  limit {LIMITS['translate']} x: {limit('translation', ours / theirs, LIMITS['translate'])}")

    print("\nSystem calls (strace)")
    for which in ("first", "second"):
        by_name = dict(syscalls[which])
        total = by_name.pop("total")
        parts = ", ".join(f"{n} {name}" for name, n in sorted(by_name.items(), key=lambda x: -x[1]))
        print(f"  {which} call {total}: {parts}")
        print(f"  limit {LIMITS[which]}: {limit(which + ' call', total, LIMITS[which])}")

    for line in broken:
        print(f"bench: {line}", file=sys.stderr)
    return 1 if broken else 0


sys.exit(main())
