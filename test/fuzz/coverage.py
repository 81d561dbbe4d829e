#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""coverage.py TREE < llvm-cov's summary in JSON: lines that were reached, by room.

Files that no target is made of have no lines in the summary: they are named after it.
"""
import collections
import json
import os
import sys

tree = os.path.realpath(sys.argv[1])
seen = set()
rooms = collections.defaultdict(lambda: [0, 0])
for each in json.load(sys.stdin)["data"][0]["files"]:
    path = os.path.relpath(os.path.realpath(each["filename"]), tree)
    if not path.startswith(("lib/", "tools/")):
        continue
    seen.add(path)
    lines = each["summary"]["lines"]
    for room in {os.path.dirname(path), path.split("/")[0]}:
        rooms[room][0] += lines["covered"]
        rooms[room][1] += lines["count"]
if not rooms:
    sys.exit("coverage.py: no file of lib or tools in the summary")
for room, (covered, count) in sorted(rooms.items()):
    print(f"{room:24} {covered:5} of {count:5}  {100 * covered / count:3.0f} %")
left = [os.path.relpath(os.path.join(where, name), tree) for where, _, names in os.walk(os.path.join(tree, "lib"))
        for name in sorted(names) if name.endswith(".cpp")]
print("of lib in no target: " + " ".join(sorted(set(left) - seen)))
