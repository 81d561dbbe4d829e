# SPDX-License-Identifier: MIT
"""What two players said of the same steps, step by step."""
import fnmatch
import os
import re
import sys

here = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [os.path.join(here, ".."), os.path.join(here, "..", "programs")]
import differences  # noqa: E402
from compare_fields import deliberate  # noqa: E402

HEAD = re.compile(r"^(-?\d+) (.*?): (.*)$")


CRASHES = {"SEGV", "BUS", "FPE", "ABRT", "ILL"}
# What ours does where stock is no example.
REFUSED = re.compile(r"= -1 EINVAL$")


class Step:
    def __init__(self, number, words, outcome):
        self.number, self.words, self.outcome = number, words, outcome
        self.lines = []

    def blocks(self):
        """Its own lines, and those of each event and of each call that waited, by the first."""
        blocks = [("", [])]
        for line in self.lines:
            if line.startswith("  event on ") or line.startswith("  then "):
                blocks.append((line, []))
            blocks[-1][1].append(line)
        return blocks

    def ordered(self):
        """Its lines. What comes on different ids comes in any order."""
        blocks = self.blocks()
        return [line for _, lines in [blocks[0]] + sorted(blocks[1:], key=lambda block: block[0]) for line in lines]


class Played:
    """What a player said of a sequence."""

    def __init__(self, lines):
        self.steps, self.end = [], "nothing"
        for line in lines:
            head = HEAD.match(line)
            if line.startswith("== "):
                self.end = line[3:]
            elif head:
                self.steps.append(Step(int(head[1]), head[2], head[3]))
            elif self.steps:
                self.steps[-1].lines.append(line)

    @property
    def whole(self):
        return self.end == "status 0"


class Difference:
    """The first step in which two players differ; `rule` is the reason, if there is one."""

    def __init__(self, words, number, stock, ours):
        self.words, self.number, self.stock, self.ours = words, number, stock, ours
        self.rule = None

    @property
    def kind(self):
        """The same for the same difference in another sequence."""
        return (self.words.split()[0], without_names(self.stock[:1]), without_names(self.ours[:1]))

    def text(self):
        lines = [f"  {self.number} {self.words}"]
        lines += [f"    stock: {line.strip()}" for line in self.stock]
        lines += [f"    ours:  {line.strip()}" for line in self.ours]
        return "\n".join(lines)


def without_names(lines):
    return re.sub(r"\b(i|port|qpn|psn|base\+)\d+", r"\1", "\n".join(lines))


def lines_that_differ(stock, ours):
    one = [line for line in stock if line not in ours]
    two = [line for line in ours if line not in stock]
    for mine in list(one):
        theirs = next((line for line in two if deliberate(mine, line)), None)
        if theirs is not None:
            one.remove(mine)
            two.remove(theirs)
    return one, two


def put_off(early, late):
    """What a call that waited came to may be heard of a step later: then of both."""
    for at, (one, two) in enumerate(zip(early.steps[:-1], late.steps[:-1])):
        for first, lines in one.blocks()[1:]:
            block = (first, lines)
            if first.startswith("  then ") and block not in two.blocks() and block in late.steps[at + 1].blocks():
                one.lines = [line for each in one.blocks() if each != block for line in each[1]]
                early.steps[at + 1].lines += lines


def first_difference(stock, ours):
    put_off(stock, ours)
    put_off(ours, stock)
    for mine, theirs in zip(ours.steps, stock.steps):
        if mine.outcome != theirs.outcome:
            at_end = theirs is stock.steps[-1] and not stock.whole
            return Difference(mine.words, mine.number, [theirs.outcome + (f"({stock.end})" if at_end else "")], [mine.outcome])
        if mine.lines == theirs.lines:
            continue
        one, two = lines_that_differ(theirs.ordered(), mine.ordered())
        if one or two:
            return Difference(mine.words, mine.number, one, two)
    # Nor may both crash, or wait for what cannot come: ours refuses it.
    if len(stock.steps) != len(ours.steps) or stock.end != ours.end or not ours.whole:
        last = (ours.steps or stock.steps or [Step(-1, "nothing", "")])[-1]
        return Difference(last.words, last.number, [f"ends: {stock.end}"], [f"ends: {ours.end}"])
    return None


class Rules:
    """The differences that have a reason."""

    def __init__(self):
        self.steps = [step for block in differences.read() for step in block.steps]
        self.used = set()

    def reason(self, found, stock, ours):
        """What it is called, or None. Nothing excuses that ours does not come to its end."""
        if not ours.whole:
            return None
        if not stock.whole and found.number == stock.steps[-1].number and REFUSED.match(found.ours[0]):
            if stock.end in CRASHES:
                return "stock crashes, ours refuses"
        said = [without_names(["; ".join(line.strip() for line in lines)]) for lines in (found.stock, found.ours)]
        before = [step.words for step in ours.steps[:len(stock.steps)] if step.number < found.number or found.number < 0]
        for rule in self.steps:
            now, _, earlier = rule[0].partition(" after ")
            if earlier and not fnmatch.filter(before, earlier):
                continue
            if all(fnmatch.fnmatchcase(text, pattern) for text, pattern in zip([found.words, *said], (now, *rule[1:]))):
                return " | ".join(rule)
        return None
