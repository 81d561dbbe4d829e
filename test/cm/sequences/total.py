#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""total.py NAME COUNT: the logs of several machines in one, whose sequences must be COUNT in all."""
import collections
import re
import sys


def main():
    name, wanted = sys.argv[1], int(sys.argv[2])
    played = steps = again = 0
    reasons, outcomes = collections.Counter(), collections.Counter()
    failed, worn_out = False, 0
    for line in sys.stdin.read().splitlines():
        total = re.match(r"# (\d+) sequences, (\d+) steps, (\d+) differences that did not come again", line)
        reason = re.match(r"# +(\d+) ended at a difference with a reason: (.*)", line)
        outcome = re.match(r"# +(\d+) (\S+: .*)", line)
        if total:
            played, steps, again = (old + int(new) for old, new in zip((played, steps, again), total.groups()))
        elif reason:
            reasons[reason[2]] += int(reason[1])
        elif outcome:
            outcomes[outcome[2]] += int(outcome[1])
        elif line.startswith("# worn out after seed "):
            worn_out += 1
        elif not line.startswith(("ok - ", "# at seed ")):
            # What hangs while it boots is started once more.
            failed |= line.startswith("not ok") or bool(re.match("vm: (?!the guest did not come up|once more)", line))
            print(line)
    for outcome, count in sorted(outcomes.items()):
        print(f"# {count:7d} {outcome}")
    for reason, count in reasons.most_common():
        print(f"# {count:7d} ended at a difference with a reason: {reason}")
    # The kernel draws lots, for ports; more than that is a race.
    if again > 1 + played // 1000:
        failed = True
        print(f"not ok - sequences: {name}: {again} differences that did not come again, of {played} sequences")
    if played != wanted:
        print(f"not ok - sequences: {name}: {played} of {wanted} were played")
    elif not failed:
        print(f"ok - sequences: {name}: {played} sequences, {steps} steps, {again} differences that did not come again, "
              f"{worn_out} machines worn out")
    sys.exit(failed or played != wanted)


main()
