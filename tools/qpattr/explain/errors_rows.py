#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""errors_rows.py docs/errors.md OUT: its tables of functions as rows of C++, so that
`qpattr explain ERRNO` says what the document says."""
import json
import re
import sys


def rows(text):
    heading = ''
    for line in text.splitlines():
        if line.startswith('## '):
            heading = line[3:]
        cells = [cell.strip() for cell in line.strip()[1:-1].split('|')] \
            if line.startswith('| `') else []
        if len(cells) != 5 or not re.fullmatch(r'`[A-Z][A-Z0-9]+`', cells[1]):
            continue
        # The stages of the two calls of qpattr.h are no names that a person meets.
        functions = re.findall(r'`(qpattr_\w+|rdma_\w+)(?:\(\))?`', heading)
        stage = cells[0].strip('`')
        where = stage if stage.startswith('rdma_') else ' and '.join(functions) or stage
        yield [where] + [cell.replace('`', '') for cell in cells[1:4]]


def main(source, out):
    with open(source, encoding='utf-8') as file:
        found = list(rows(file.read()))
    if len(found) < 50:
        sys.exit(f'errors_rows.py: only {len(found)} rows in {source}: its tables have changed')
    with open(out, 'w', encoding='utf-8') as file:
        for row in found:
            file.write('{' + ', '.join(json.dumps(cell, ensure_ascii=False) for cell in row) + '},\n')


main(*sys.argv[1:])
