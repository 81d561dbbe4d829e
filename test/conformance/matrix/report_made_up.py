# SPDX-License-Identifier: MIT
"""For report-selftest: small runs that are made up, and what `report` makes of them."""
import contextlib
import copy
import html
import importlib.machinery
import importlib.util
import io
import json
import os
import re
import tempfile

import report_names
from report_runs import SCHEMA

HERE = os.path.dirname(os.path.realpath(__file__))
loader = importlib.machinery.SourceFileLoader("report", os.path.join(HERE, "report"))
program = importlib.util.module_from_spec(importlib.util.spec_from_loader("report", loader))
loader.exec_module(program)
KERNELS = {"bullseye": "5.10.0-9-amd64", "bookworm": "6.1.0-9-amd64",
           "trixie": "6.12.9+deb13-amd64", "sid": "7.2.9+deb14-amd64"}
LIBRARIES = {"bullseye": "33.2", "bookworm": "44.0", "trixie": "56.1", "sid": "65.0"}
RTS = {"mask": "0x12e01", "fields": {"qp_state": "3", "timeout": "19", "sq_psn": "1001"}}
INIT = {"mask": "0x39", "fields": {"qp_state": "1", "port_num": "1"}}


def stop(stage, side="active", **answers):
    every = {state: {"errno": "EINVAL"} for state in report_names.STATES}
    every.update({state[1:]: copy.deepcopy(each) for state, each in answers.items()})
    return {"type": "stop", "stage": stage, "side": side, "asked": 72, "equal": 72,
            "answers": every, "differences": []}


def cell(name, *stops, status="equal", reason=""):
    asked = 72 * len(stops)
    return {"type": "cell", "cell": name, "what": "made up", "address": "10.0.0.1",
            "device": "rxe0", "status": status, "reason": reason, "asked": asked,
            "equal": asked, "seconds": 1.25, "checks": [], "stops": list(stops)}


def run(kernel="bookworm", library="bookworm", transport="rxe"):
    return {"schema": SCHEMA, "version": 1, "kernel": KERNELS[kernel], "release": kernel,
            "library": {"version": LIBRARIES[library], "path": "/usr/lib/lib.so"},
            "library_release": library, "transport": transport, "ours": "/made up/ours.so",
            "cells": [
                cell("rc/ipv4", stop("created"), stop("bound", _1=INIT),
                     stop("established", "passive", _1=INIT, _3=RTS)),
                cell("ud/ipv6", stop("bound", _1=INIT)),
                cell("af-ib/ipv4", stop("created"), status="unavailable",
                     reason="bound to a GID: No such device"),
                cell("scripted/ipv4", stop("RTS", _3=RTS))]}


def no_run(kernel, library, transport="rxe", status="failed"):
    return {"schema": SCHEMA, "version": 1, "release": kernel, "library_release": library,
            "transport": transport, status: "no <machine> | came *up*",
            "again": "./run again & again", "cells": []}


def matrix():
    return [run(kernel, library) for kernel in KERNELS for library in LIBRARIES]


def at(given, name, stage=None):
    found = next(each for each in given["cells"] if each["cell"] == name)
    return found if stage is None else next(s for s in found["stops"] if s["stage"] == stage)


def make_different(given, what="timeout: stock has the bytes 13, ours 11", number=2):
    found, where = at(given, "rc/ipv4"), at(given, "rc/ipv4", "established")
    found["status"] = "different"
    found["equal"] -= number
    where["equal"] -= number
    where["differences"] = [
        {"question": "RTS", "what": what, "again": f"qpattr-conformance --only 'a<b' --turn {n}"}
        for n in range(number)]
    return given


def called(*arguments):
    """(status, what it said, what it complained), of the program, here: a process for
    each would take its time."""
    out, wrong = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(wrong):
        try:
            status = program.main(list(arguments))
        except SystemExit as why:
            status = why.code
    return status, out.getvalue(), wrong.getvalue()


class Output:
    """What `report` wrote and said."""

    def __init__(self, runs, order=1):
        with tempfile.TemporaryDirectory() as work:
            paths = []
            for number, each in enumerate(runs):
                paths.append(os.path.join(work, f"{number}.json"))
                with open(paths[-1], "w", encoding="utf-8") as file:
                    file.write(each if isinstance(each, str) else json.dumps(each))
            out = os.path.join(work, "out")
            self.status, self.said, self.wrong = called(*paths[::order], "--out", out)
            self.files = {}
            for name in os.listdir(out) if os.path.isdir(out) else ():
                with open(os.path.join(out, name), encoding="utf-8") as file:
                    self.files[name] = file.read()

    @property
    def page(self):
        return self.files["report.html"]

    @property
    def text(self):
        """Of the page, as it is read."""
        bare = re.sub(r"<(style|script)>.*?</\1>", "", self.page, flags=re.DOTALL)
        bare = re.sub(r"<(?=td|th|li|tr|p|h\d|small)", " <", bare)
        return " ".join(html.unescape(re.sub(r"<[^>]*>", "", bare)).split())

    @property
    def markdown(self):
        return self.files["report.md"]

    @property
    def matrix(self):
        return self.files["matrix.json"]


def compare(old, new):
    """(status, what was said), of two lists of runs or texts of matrix.json"""
    with tempfile.TemporaryDirectory() as work:
        paths = []
        for number, each in enumerate((old, new)):
            paths.append(os.path.join(work, f"{number}.json"))
            with open(paths[-1], "w", encoding="utf-8") as file:
                file.write(each if isinstance(each, str) else Output(each).matrix)
        status, said, wrong = called("--compare", *paths)
        return status, said + wrong
