# SPDX-License-Identifier: MIT
"""docs/differences.md: where ours is not as stock on purpose. That page says what its blocks are."""
import os
import re
import sys

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "differences.md")


class Block:
    def __init__(self, why):
        self.why, self.cases, self.steps, self.lines, self.ours = why, [], [], [], None


def read(path=PAGE):
    """The blocks of a page."""
    with open(path, encoding="utf-8") as text:
        paragraphs = re.split(r"\n[ \t]*\n", text.read())
    blocks, why = [], ""
    for paragraph in paragraphs:
        lines = [line for line in paragraph.split("\n") if line]
        if not all(line.startswith("    ") for line in lines):
            why = " ".join(lines)
            continue
        if not lines:
            continue
        block = Block(why)
        for line in lines:
            key, _, value = line[4:].partition(": ")
            if key == "case":
                block.cases.append(value)
            elif key == "ours":
                block.ours = value
            elif key == "step" and f"{value} ".count(" | ") == 2:
                block.steps.append(tuple(part.strip() for part in f"{value} ".split(" | ")))
            elif key == "line" and value.count(" => ") == 1:
                block.lines.append(tuple(re.compile(part) for part in value.split(" => ")))
            else:
                sys.exit(f"{path}: not understood: {line}")
        if not why or why.startswith("#") or bool(block.cases) != bool(block.ours):
            sys.exit(f"{path}: a block wants a reason above it, and cases what ours does: {lines[0]}")
        blocks.append(block)
    return blocks
