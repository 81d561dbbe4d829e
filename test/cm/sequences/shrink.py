# SPDX-License-Identifier: MIT
"""shrink(steps, same): fewer steps of which `same` still holds, by leaving out ever smaller runs."""


def shrink(steps, same):
    size = max(1, len(steps) // 2)
    while True:
        at, shorter = 0, False
        while at < len(steps):
            fewer = steps[:at] + steps[at + size:]
            if fewer and same(fewer):
                steps, shorter = fewer, True
            else:
                at += size
        if size == 1 and not shorter:
            return steps
        if size > 1:
            size //= 2
