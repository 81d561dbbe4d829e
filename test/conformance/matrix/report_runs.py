# SPDX-License-Identifier: MIT
"""Reads the files of runs. What is not the same in two runs of the same programs, such as
the number of a QP, becomes '*' here, so that everything after compares like with like."""
import hashlib
import json
import re
from dataclasses import dataclass, field

from report_names import release_order, version_order

SCHEMA = "qpattr-conformance"
VERSION = 1

# A cell of scripted answers has the numbers of the script in them.
VOLATILE = {"dest_qp_num", "rq_psn", "sq_psn", "ah_attr.grh.flow_label",
            "alt_ah_attr.grh.flow_label"}
SCRIPTED = "scripted"
VOLATILE_TEXT = (
    (re.compile(r"\b(dest_qp_num|rq_psn|sq_psn|flow_label) is \d+, not \d+"),
     r"\1 is *, not *"),
    (re.compile(r"\b(dest_qp_num|rq_psn|sq_psn|(?:alt_)?ah_attr\.grh\.flow_label)"
                r": stock has the bytes [0-9a-f]+, ours [0-9a-f]+"),
     r"\1: stock has the bytes *, ours *"),
    (re.compile(r"\bfe80:[0-9a-f:]*(%\w+)?", re.IGNORECASE), "*"),
    (re.compile(r"\bfe80[0-9a-f]{28}\b", re.IGNORECASE), "*"),
    (re.compile(r"\b0x[0-9a-f]{9,16}\b"), "*"),  # of memory: no mask is so long
    (re.compile(r"\b\d+\.\d+ s\b"), "* s"),
)


class bad_input(Exception):
    """Text: the file, what is wrong with it."""


@dataclass(frozen=True)
class Answer:
    """What one question was answered: an errno, or a mask and fields."""
    errno: str = ""
    mask: str = ""
    fields: tuple = ()

    @property
    def values(self):
        return dict(self.fields)


@dataclass
class Stop:
    stage: str
    side: str
    asked: int
    equal: int
    answers: dict
    differences: list  # {"question", "what", "again", "told"}

    @property
    def name(self):
        return f"{self.stage}, {self.side}"


@dataclass
class Cell:
    name: str
    what: str
    address: str
    device: str
    status: str
    reason: str
    asked: int
    equal: int
    stops: dict = field(default_factory=dict)
    checks: list = field(default_factory=list)  # (name, ok, why)

    @property
    def kind(self):
        return self.name.split("/", 1)[0]

    @property
    def label(self):
        return self.name.partition("/")[2]


@dataclass(eq=False)
class Run:
    path: str
    transport: str
    release: str
    library_release: str
    kernel: str
    library: str
    ours: str
    failed: str  # why it could not be made
    unavailable: str  # why there cannot be such a run there
    again: str
    cells: dict

    @property
    def kernel_key(self):
        return self.release or self.kernel

    @property
    def library_key(self):
        return self.library_release or self.library

    @property
    def key(self):
        return self.transport, self.kernel_key, self.library_key

    @property
    def order(self):
        return (self.transport, release_order(self.release), version_order(self.kernel_key),
                release_order(self.library_release), version_order(self.library_key))

    @property
    def asked(self):
        return sum(each.asked for each in self.cells.values())

    @property
    def equal(self):
        return sum(each.equal for each in self.cells.values())

    @property
    def status(self):
        if self.failed or self.unavailable:
            return "failed" if self.failed else "unavailable"
        found = {each.status for each in self.cells.values()}
        for worst in ("broken", "different"):
            if worst in found:
                return worst
        return "equal"


def steady(text):
    """A sentence without what varies."""
    for pattern, instead in VOLATILE_TEXT:
        text = pattern.sub(instead, text)
    return text


def answer_of(given, scripted):
    if "errno" in given:
        return Answer(errno=given["errno"])
    fields = {}
    for name, value in given.get("fields", {}).items():
        value = str(value)
        if not scripted and (name in VOLATILE or
                             name.endswith("dgid") and value.startswith("fe80")):
            value = "*"
        fields[name] = value
    return Answer(mask=given["mask"], fields=tuple(sorted(fields.items())))


def stop_of(given, scripted):
    def text(what):
        return what if scripted else steady(what)

    answers = {state: answer_of(given["answers"][state], scripted)
               for state in sorted(given["answers"], key=int)}
    differences = [{"question": each["question"], "what": text(each["what"]),
                    "told": each["what"], "again": each.get("again", "")}
                   for each in given["differences"]]
    return Stop(given["stage"], given["side"], given["asked"], given["equal"], answers,
                differences)


def cell_of(given):
    name = given["cell"]
    scripted = name.split("/", 1)[0] == SCRIPTED
    out = Cell(name, given.get("what", ""), given.get("address", ""), given.get("device", ""),
               given["status"], steady(given.get("reason", "")), given["asked"], given["equal"])
    for each in given.get("stops", []):
        stop = stop_of(each, scripted)
        out.stops[stop.stage, stop.side] = stop
    out.checks = [(each["name"], bool(each["ok"]), steady(each.get("why", "")))
                  for each in given.get("checks", [])]
    # A cell is not believed to be equal where what is in it says otherwise.
    wrong = (out.equal != out.asked or any(not ok for _, ok, _ in out.checks) or
             any(each.differences for each in out.stops.values()))
    if out.status not in ("equal", "unavailable", "different"):
        out.reason = out.reason or (f"status '{out.status}'" if out.status != "broken" else "")
        out.status = "broken"
    elif wrong:
        out.status = "different"
    elif out.status == "equal" and out.asked == 0:
        out.status, out.reason = "broken", "nothing was asked"
    return out


def load(path):
    """The JSON of a file, whatever it is of."""
    try:
        with open(path, encoding="utf-8") as file:
            out = json.load(file)
    except (OSError, ValueError) as why:
        raise bad_input(f"{path}: {getattr(why, 'strerror', None) or f'not JSON: {why}'}") from why
    if not isinstance(out, dict):
        raise bad_input(f"{path}: not a JSON object")
    return out


def check_schema(path, given, schema, version):
    if given.get("schema") != schema:
        raise bad_input(f"{path}: its schema is {given.get('schema')!r}, not {schema!r}")
    if given.get("version") != version:
        raise bad_input(f"{path}: version {given.get('version')} of its schema is not known, "
                        f"only {version}")


def run_of(path):
    given = load(path)
    check_schema(path, given, SCHEMA, VERSION)
    try:
        cells = {}
        for each in given.get("cells", []):
            cell = cell_of(each)
            if cell.name in cells:
                raise bad_input(f"{path}: cell {cell.name} is there twice")
            cells[cell.name] = cell
        library = given.get("library") or {}
        devices = sorted({each.device for each in cells.values() if each.device})
        out = Run(path, given.get("transport") or ", ".join(devices) or "no device",
                  given.get("release", ""), given.get("library_release", ""),
                  given.get("kernel", ""), library.get("version", ""), given.get("ours", ""),
                  steady(given.get("failed", "")), steady(given.get("unavailable", "")),
                  given.get("again", ""), cells)
    except (KeyError, TypeError, AttributeError, ValueError) as why:
        raise bad_input(f"{path}: not as a run is written: {type(why).__name__}: {why}") from why
    if not out.kernel_key or not out.library_key:
        raise bad_input(f"{path}: it does not tell the kernel and the library")
    if out.status == "equal" and out.asked == 0:
        out.failed = "nothing was asked"
    return out


def read_runs(paths):
    """In the order in which a person looks for them."""
    runs = {}
    for path in paths:
        run = run_of(path)
        if run.key in runs:
            raise bad_input(f"{path}: the same kernel, library and transport as in "
                            f"{runs[run.key].path}")
        runs[run.key] = run
    return sorted(runs.values(), key=lambda each: each.order)


def matrix_of(runs):
    """All in one object; what is the same in many runs is there once, by name."""
    answers, tables = {}, {}

    def name_of(answer):
        if answer.errno:
            return answer.errno
        text = json.dumps([answer.mask, answer.fields])
        name = digest(text)
        answers[name] = {"mask": answer.mask, "fields": answer.values}
        return name

    def table_of(stop):
        table = {state: name_of(answer) for state, answer in stop.answers.items()}
        name = digest(json.dumps(table))
        tables[name] = table
        return name

    def stop(each):
        return {"stage": each.stage, "side": each.side, "asked": each.asked,
                "equal": each.equal,
                "answers": table_of(each),
                "differences": [{"question": question, "what": what} for question, what in
                                dict.fromkeys((d["question"], d["what"])
                                              for d in each.differences)]}

    def cell(each):
        return {"what": each.what, "address": steady(each.address), "device": each.device,
                "status": each.status, "reason": each.reason, "asked": each.asked,
                "equal": each.equal, "stops": [stop(s) for s in each.stops.values()],
                "checks": {name: "ok" if ok else why or "failed"
                           for name, ok, why in each.checks}}

    return {"schema": SCHEMA + "-matrix", "version": VERSION,
            "runs": [{"transport": each.transport, "release": each.release,
                      "library_release": each.library_release, "kernel": each.kernel,
                      "library": each.library, "status": each.status, "failed": each.failed,
                      "unavailable": each.unavailable, "asked": each.asked,
                      "equal": each.equal,
                      "cells": {name: cell(c) for name, c in each.cells.items()}}
                     for each in runs],
            "tables": tables, "answers": answers}


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()[:12]
