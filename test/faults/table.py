# SPDX-License-Identifier: MIT
"""What is printed: a line a kind of faults, as TAP and as a row that the script `faults`
gathers; and what did harm."""

_failed = 0


class Row:
    def __init__(self, kind, what):
        self.kind, self.what, self.failures = kind, what, 0

    def failed(self, fault, harm, output=''):
        """Tells of the first ones whole, of the rest in a line."""
        global _failed
        self.failures += 1
        _failed += 1
        print(f'# {self.kind}, {self.what}: {fault}: {harm}', flush=True)
        if self.failures <= 20:
            for line in output.splitlines()[:8]:
                print(f'#     {line[:200]}', flush=True)

    def tell(self, runs, outcomes):
        if not runs:
            self.failed('none', 'of so few faults this share has none: take a smaller one')
        told = ', '.join(f'{count} {name}' for name, count in sorted(outcomes.items()))
        print(f'faults\t{self.kind}\t{self.what}\t{runs}\t{told}\t{self.failures}')
        if self.failures:
            print(f'not ok - {self.kind}: {self.what}: {self.failures} of {runs} did harm ({told})', flush=True)
        else:
            print(f'ok - {self.kind}: {self.what}: {runs} did no harm ({told})', flush=True)


def status():
    return 1 if _failed else 0
