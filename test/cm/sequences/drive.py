#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""drive.py --stock PLAYER --ours PLAYER [--first SEED] [--count N] [FILE...]

Plays the sequences of the seeds from SEED on, or of the files, with both players, one
after the other, and compares them. A difference that comes each of three times is made
shorter and printed, with the seed; the steps can be put into a file and played again.
Status 1: there was one; 3: there was none, but the machine is worn out, see answers()."""
import argparse
import collections
import os
import subprocess
import sys

import compare
import generate
import shrink

WORN_OUT = 3
# Refused at once by a machine that is well: nobody listens.
REFUSED = ["channel c0", "id i0 c0 tcp", "resolve_addr i0 - dev4:9 1000", "drain c0", "resolve_route i0 1000", "drain c0",
           "connect i0 1/1/7/7/0", "drain c0"]
QUIET_US = 40000
LIMIT_S = 240
TIMES = 3


class Player:
    def __init__(self, program, port_base):
        self.program, self.port_base = program, port_base
        self.process = None

    def play(self, steps):
        if not self.process or self.process.poll() is not None:
            self.process = subprocess.Popen([self.program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        text = "\n".join([f"play {self.port_base} {QUIET_US} {LIMIT_S}", *steps, "end", ""])
        self.process.stdin.write(text)
        self.process.stdin.flush()
        lines = []
        for line in self.process.stdout:
            lines.append(line.rstrip("\n"))
            if line.startswith("== "):
                return compare.Played(lines)
        return compare.Played(lines + [f"== the player ended: {self.process.wait()}"])


class Driver:
    def __init__(self, stock, ours, keep):
        self.stock, self.ours, self.rules, self.keep = stock, ours, compare.Rules(), keep
        self.count = self.steps = self.answered = 0
        self.excused = collections.Counter()
        self.outcomes = collections.Counter()
        self.chance, self.failed = 0, []

    def once(self, steps):
        stock = self.stock.play(steps)
        ours = self.ours.play(steps)
        found = compare.first_difference(stock, ours)
        if found:
            found.rule = self.rules.reason(found, stock, ours)
        return found, ours

    def surely(self, steps):
        """A difference that is there each time, or None."""
        for _ in range(TIMES):
            found, _ = self.once(steps)
            if not found or found.rule:
                return None
        return found

    def answers(self):
        """Whether the kernel's connection manager still does: a message that rxe cannot send leaves
        the QP in the error state by which all of them go (docs/kernel-traps.md)."""
        return any("RDMA_CM_EVENT_REJECTED" in line for step in self.stock.play(REFUSED).steps for line in step.lines)

    def unneeded(self):
        """With the files of steps/: a difference on the page that is none any more is a failure."""
        for rule in self.rules.steps:
            if " | ".join(rule) not in self.excused:
                self.failed.append(rule)
                print(f"not ok - sequences: no file of steps comes to this difference: {' | '.join(rule)}")

    def sequence(self, name, steps):
        found, ours = self.once(steps)
        self.count += 1
        self.steps += len(steps)
        for step in ours.steps:
            self.outcomes[(step.words.split()[0], step.outcome)] += 1
            # Those with a number below 0 are the player's own, at the end.
            self.answered += step.number >= 0
            if step.outcome in ("not understood", "words are missing"):
                self.failed.append(name)
                print(f"not ok - sequences: {name}: {step.words}: {step.outcome}")
        if not found:
            return
        if found.rule:
            self.excused[found.rule] += 1
            return
        once, found = found, self.surely(steps)
        if not found:
            self.chance += 1
            print(f"# {name}: a difference that does not come again:\n{once.text()}", flush=True)
            return
        self.failed.append(name)
        kind = found.kind

        def same(fewer):
            again, _ = self.once(fewer)
            return again is not None and not again.rule and again.kind == kind

        short = shrink.shrink(steps, same)
        again = self.surely(short) or found
        print(f"not ok - sequences: {name}: {len(steps)} steps, of which {len(short)} are enough")
        print("\n".join("# " + line for line in short))
        print(again.text(), flush=True)
        if self.keep:
            path = os.path.join(self.keep, os.path.basename(name).replace(" ", "-"))
            with open(path, "w", encoding="utf-8") as file:
                file.write("\n".join([*short, ""]))
            print(f"# again: ./run sequences {path}", flush=True)


def read_steps(path):
    with open(path, encoding="utf-8") as lines:
        return [line.strip() for line in lines if line.strip() and not line.startswith("#")]


def silent_neighbour():
    """nobody4: of the device's network, with a hardware address that nobody has."""
    here = os.environ.get("QPATTR_VM_IPV4")
    if not here:
        return
    *network, host = here.split(".")
    nobody = ".".join([*network, str(int(host) ^ 0xc0)])
    subprocess.run(["ip", "neigh", "replace", nobody, "lladdr", "02:00:00:00:00:77", "dev", "v0", "nud", "permanent"], check=True)
    os.environ["QPATTR_SEQUENCES_NOBODY4"] = nobody


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--stock", required=True)
    parser.add_argument("--ours", required=True)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--count", type=int, default=0)
    parser.add_argument("--keep", help="a directory for the steps of differences")
    parser.add_argument("--outcomes", action="store_true")
    parser.add_argument("--most", type=int, default=10, help="stop after so many differences")
    parser.add_argument("--whole-page", action="store_true", help="the files must come to each difference of the page")
    parser.add_argument("files", nargs="*")
    given = parser.parse_args()
    silent_neighbour()
    driver = Driver(Player(given.stock, 20000), Player(given.ours, 20000), given.keep)
    for path in given.files:
        driver.sequence(path, read_steps(path))
    worn_out, last = False, given.first + given.count - 1
    for seed in range(given.first, last + 1):
        driver.sequence(f"seed {seed}", generate.generate(seed))
        if seed % 100 == 0:
            print(f"# at seed {seed}", flush=True)
        if seed % 20 == 0 and seed < last and not driver.answers():
            worn_out = True
            print(f"# worn out after seed {seed}: the kernel answers no connection request any more", flush=True)
            break
        if len(driver.failed) >= given.most:
            print(f"# ended at seed {seed}, after {given.most} differences")
            break
    if given.outcomes:
        for (step, outcome), count in sorted(driver.outcomes.items()):
            print(f"# {count:7d} {step}: {outcome}")
    print(f"# {driver.count} sequences, {driver.answered} steps, {driver.chance} differences that did not come again")
    for rule, count in driver.excused.most_common():
        print(f"# {count:7d} ended at a difference with a reason: {rule}")
    if given.whole_page:
        driver.unneeded()
    if driver.count and not driver.failed:
        print(f"ok - sequences: {driver.count} are the same with stock and with ours")
    if driver.failed or not driver.count:
        sys.exit(1)
    sys.exit(WORN_OUT if worn_out else 0)


if __name__ == "__main__":
    main()
