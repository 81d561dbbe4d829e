# SPDX-License-Identifier: MIT
"""What the report tells, put together from the runs: what is the same is there once,
with the runs that it is of."""
import re
import shlex
from dataclasses import dataclass, field

from report_names import (in_order, listed, mask_names, states_text,
                          value_text)

STATUSES = ("equal", "different", "unavailable", "broken", "failed")
BAD = ("different", "broken", "failed")


def unique(items):
    return list(dict.fromkeys(items))


def grouped(pairs):
    """{value: [keys]} of (key, value)s, in order."""
    out = {}
    for key, value in pairs:
        out.setdefault(value, []).append(key)
    return out


def slug(*parts):
    return "-".join(re.sub(r"[^a-z0-9.]+", "-", each.lower()).strip("-") for each in parts)


class Transport:
    """The runs over one kind of device: kernels down, libraries across."""

    def __init__(self, name, runs, titles):
        self.name, self.runs, self.titles = name, runs, titles
        self.kernels = unique(run.kernel_key for run in runs)
        self.libraries = sorted(
            unique(run.library_key for run in runs),
            key=lambda key: min(r.order[3:] for r in runs if r.library_key == key))
        self.at = {(run.kernel_key, run.library_key): run for run in runs}
        self.cells = [CellView(self, name) for name in
                      unique(each for run in runs for each in run.cells)]

    def kernel(self, key):
        return self.titles["kernel", key]

    def library(self, key):
        return self.titles["library", key]

    def run_name(self, run):
        return f"{self.kernel(run.kernel_key)} × {self.library(run.library_key)}"

    def where(self, runs, among=None):
        """The shortest that names these runs among those."""
        among = self.runs if among is None else among
        if len(runs) == len(among):
            return "all runs"
        whole, parts = [], {}
        for key in self.kernels:
            here = [run for run in runs if run.kernel_key == key]
            if here and len(here) == sum(run.kernel_key == key for run in among):
                whole.append(self.kernel(key))
            elif here:
                libraries = tuple(self.library(run.library_key) for run in here)
                parts.setdefault(libraries, []).append(self.kernel(key))
        named = [f"{listed(kernels)} with {listed(libraries)}"
                 for libraries, kernels in parts.items()]
        return "; ".join(([listed(whole)] if whole else []) + named)

    def made(self, kernel):
        return [run for run in self.runs if run.kernel_key == kernel and run.cells]

    def same_with_all(self, kernel):
        """Whether the libraries of a kernel gave the same answers where more than one
        was asked, or None if there is nothing to compare."""
        runs = self.made(kernel)
        if len(runs) < 2:
            return None
        seen = {}
        return all(seen.setdefault((name, at), stop.answers) == stop.answers
                   for run in runs for name, cell in run.cells.items()
                   for at, stop in cell.stops.items())


@dataclass
class Row:
    """Some states of one stop, and what they were answered: (runs, answer)s."""
    states: list
    variants: list

    @property
    def title(self):
        return states_text(self.states)


@dataclass
class Table:
    """One stop, or several one after another that were answered the same."""
    names: list
    runs: list
    rows: list

    @property
    def varies(self):
        return any(len(row.variants) > 1 for row in self.rows)


def shown_fields(state, answer):
    """qp_state is told only where it is not what was asked."""
    fields = answer.values
    if answer.errno:
        return answer
    came = fields.pop("qp_state", "0")
    if came != state:
        fields["qp_state"] = came
    return type(answer)(mask=answer.mask, fields=tuple(sorted(fields.items())))


@dataclass
class Difference:
    """The same difference at some stops of some runs."""
    question: str
    what: str
    runs: list = field(default_factory=list)
    stops: list = field(default_factory=list)
    commands: list = field(default_factory=list)


class CellView:
    """One cell in all runs over a transport."""

    def __init__(self, transport, name):
        self.transport, self.name = transport, name
        self.runs = [run for run in transport.runs if name in run.cells]
        self.of = {run.key: run.cells[name] for run in self.runs}
        first = self.of[self.runs[0].key]
        self.kind, self.label, self.what = first.kind, first.label, first.what
        self.id = slug(transport.name, name)
        self.statuses = grouped((run, self.of[run.key].status) for run in self.runs)
        self.reasons = grouped((run, (cell.status, cell.reason)) for run in self.runs
                               if (cell := self.of[run.key]).reason)
        self.asked = sum(cell.asked for cell in self.of.values())
        self.addresses = unique(f"{c.address} on {c.device}" for c in self.of.values()
                                if c.address)
        self.checks = self._checks()
        self.differences = self._differences()
        self.tables = self._tables()

    @property
    def is_bad(self):
        return any(each in BAD for each in self.statuses)

    @property
    def bad_runs(self):
        return [run for status, runs in self.statuses.items() if status in BAD for run in runs]

    @property
    def varies(self):
        return any(table.varies for table in self.tables)

    def again(self, run):
        """The command that makes this cell once more."""
        preload = f" --preload {shlex.quote(run.ours)}" if run.ours else ""
        address = self.of[run.key].address
        at = f" --address {shlex.quote(f'{self.label}={address}')}" if address else ""
        return f"qpattr-conformance{preload}{at} --cell {shlex.quote(self.name)}"

    def _checks(self):
        found = grouped((run, each) for run in self.runs for each in self.of[run.key].checks)
        return [(runs, name, ok, why) for (name, ok, why), runs in found.items()]

    def _differences(self):
        out = {}
        for run in self.runs:
            for stop in self.of[run.key].stops.values():
                for each in stop.differences:
                    found = out.setdefault((each["question"], each["what"]),
                                           Difference(each["question"], each["told"]))
                    found.runs = unique(found.runs + [run])
                    found.stops = unique(found.stops + [stop.name])
                    if each["again"]:
                        found.commands.append((run, each["again"]))
        return list(out.values())

    def _tables(self):
        out = []
        for key in unique(key for cell in self.of.values() for key in cell.stops):
            runs = [run for run in self.runs if key in self.of[run.key].stops]
            stops = {run.key: self.of[run.key].stops[key] for run in runs}
            table = Table([stops[runs[0].key].name], runs, self._rows(runs, stops))
            if out and out[-1].runs == runs and out[-1].rows == table.rows:
                out[-1].names += table.names
            else:
                out.append(table)
        return out

    @staticmethod
    def _rows(runs, stops):
        rows = []
        asked = {state for stop in stops.values() for state in stop.answers}
        for state in sorted(asked, key=int):
            variants = [(of, answer) for answer, of in grouped(
                (run, shown_fields(state, stops[run.key].answers[state]))
                for run in runs if state in stops[run.key].answers).items()]
            same = next((row for row in rows if row.variants == variants), None)
            if same:
                same.states.append(state)
            else:
                rows.append(Row([state], variants))
        return rows


@dataclass
class Change:
    """An answer, or a field of it, that is not the same in all runs."""
    aspect: str
    values: tuple  # (where, value)s
    places: dict = field(default_factory=dict)  # {cell: {stop: [states]}}

    @property
    def stops(self):
        return sum(len(stops) for stops in self.places.values())

    @property
    def states(self):
        return states_text(sorted({state for stops in self.places.values()
                                   for states in stops.values() for state in states}, key=int))


def answer_name(answer):
    return answer.errno or f"mask {answer.mask} ({' | '.join(mask_names(answer.mask))})"


def aspects(variants):
    """(name, [(runs, value)]) of what the answers of a row do not have in common."""
    names = grouped((tuple(run.key for run in runs), answer_name(a)) for runs, a in variants)
    if len(names) > 1:
        yield "", [(sum((runs for runs, a in variants if answer_name(a) == name), []), name)
                   for name in names]
    answered = [(runs, answer.values) for runs, answer in variants if not answer.errno]
    for name in in_order({name for _, values in answered for name in values}):
        found = {}
        for runs, values in answered:
            found.setdefault(values.get(name, "0"), []).extend(runs)
        if len(found) > 1:
            yield name, [(runs, value_text(name, value)) for value, runs in found.items()]


def changes(transport):
    """What kernels or libraries answer differently, each change once."""
    out = {}
    for cell in transport.cells:
        for table in cell.tables:
            for row in table.rows:
                if len(row.variants) < 2:
                    continue
                for aspect, found in aspects(row.variants):
                    values = tuple((transport.where(runs, table.runs), value)
                                   for runs, value in found)
                    change = out.setdefault((aspect, values), Change(aspect, values))
                    for name in table.names:
                        stops = change.places.setdefault(cell, {})
                        stops.setdefault(name, []).extend(row.states)
    return list(out.values())


class Report:
    def __init__(self, runs):
        self.runs = runs
        self.titles = titles(runs)
        self.transports = [Transport(name, [r for r in runs if r.transport == name],
                                     self.titles)
                           for name in unique(run.transport for run in runs)]
        self.failed = [run for run in runs if run.failed]
        self.made = [run for run in runs if run.status not in ("failed", "unavailable")]
        cells = [cell for run in runs for cell in run.cells.values()]
        self.cells = len(cells)
        self.asked = sum(run.asked for run in runs)
        self.unequal = self.asked - sum(run.equal for run in runs)
        self.count = {status: sum(cell.status == status for cell in cells)
                      for status in STATUSES[:-1]}
        self.missing = [(t.name, t.kernel(k), t.library(v)) for t in self.transports
                        for k in t.kernels for v in t.libraries if (k, v) not in t.at]

    @property
    def is_good(self):
        return not (self.failed or self.asked == 0 or any(self.count[each] for each in BAD[:-1]))

    def changes(self, transport):
        return changes(transport)

    def unavailable_runs(self, transport):
        """[(reason, where)]"""
        found = grouped((run, run.unavailable) for run in transport.runs if run.unavailable)
        return [(reason, transport.where(runs)) for reason, runs in found.items()]

    def unavailable(self, transport):
        """[(reason, [(where, cells)])], of what was not there."""
        found = {}
        for cell in transport.cells:
            for (status, reason), runs in cell.reasons.items():
                if status == "unavailable":
                    where = transport.where(runs, cell.runs)
                    found.setdefault(reason, {}).setdefault(where, []).append(cell)
        return [(reason, list(places.items())) for reason, places in found.items()]


def short(kernel):
    """6.1 of 6.1.0-50-amd64"""
    found = re.match(r"\d+\.\d+", kernel)
    return found.group() if found else kernel


def titles(runs):
    """What a kernel and a library are called: a run that failed has only the releases."""
    out = {}
    for run in runs:
        for kind, key, text in (("kernel", run.kernel_key, short(run.kernel)),
                                ("library", run.library_key, run.library)):
            if text or (kind, key) not in out:
                out[kind, key] = text or key
    return out
