# SPDX-License-Identifier: MIT
"""What changed from one matrix.json to another, the same change once."""
from report_model import grouped
from report_names import in_order, listed, states_text, value_text
from report_runs import SCHEMA, VERSION, Answer, bad_input, check_schema, load


def read_matrix(path):
    given = load(path)
    check_schema(path, given, SCHEMA + "-matrix", VERSION)
    try:
        answers = {name: Answer(mask=each["mask"], fields=tuple(sorted(each["fields"].items())))
                   for name, each in given["answers"].items()}
        runs = {}
        for run in given["runs"]:
            for cell in run["cells"].values():
                cell["stops"] = {
                    f"{stop['stage']}, {stop['side']}": {
                        "answers": {state: answers.get(name) or Answer(errno=name)
                                    for state, name in
                                    given["tables"][stop["answers"]].items()},
                        "differences": {f"{d['question']}: {d['what']}"
                                        for d in stop["differences"]},
                    } for stop in cell["stops"]}
                cell["checks"], cell["reason"], cell["status"]  # must be there
            kernel = run["release"] or run["kernel"]
            library = run["library_release"] or run["library"]
            runs[run["transport"], kernel, library] = run
            run["status"], run["failed"], run["unavailable"], run["kernel"]
    except (KeyError, TypeError, AttributeError) as why:
        raise bad_input(f"{path}: not as a matrix is written: {type(why).__name__}: {why}") from why
    return runs


class Changes:
    def __init__(self):
        self.found = []  # (text, place, run)
        self.notes = []

    def add(self, run, text, cell="", stop=""):
        self.found.append((text, (cell, stop), run))

    def came_and_went(self, old, new, add):
        """What both have; add(NAME, WHAT) is told of the others."""
        for name in new:
            if name not in old:
                add(name, "came")
        for name in old:
            if name not in new:
                add(name, "went")
        return [name for name in old if name in new]


def answer_changes(old, new):
    """What is to be said of one answer that became another."""
    if old == new:
        return
    if old.errno or new.errno:
        yield f"{old.errno or 'mask ' + old.mask} -> {new.errno or 'mask ' + new.mask}"
        return
    if old.mask != new.mask:
        yield f"mask {old.mask} -> {new.mask}"
    before, after = old.values, new.values
    for name in in_order(set(before) | set(after)):
        was, now = before.get(name, "0"), after.get(name, "0")
        if was != now:
            yield f"{name} {value_text(name, was)} -> {value_text(name, now)}"


def compare_stop(out, run, cell, stop, old, new):
    states = out.came_and_went(
        old["answers"], new["answers"],
        lambda state, what: out.add(run, f"question {states_text([state])}: {what}", cell, stop))
    said = grouped((state, text) for state in states
                   for text in answer_changes(old["answers"][state], new["answers"][state]))
    for text, of in said.items():
        out.add(run, f"{states_text(of)}: {text}", cell, stop)
    out.came_and_went(
        sorted(old["differences"]), sorted(new["differences"]),
        lambda each, what: out.add(run, f"difference '{each}': {what}", cell, stop))


def compare_cell(out, run, name, old, new):
    if old["status"] != new["status"]:
        reason = f" ({new['reason']})" if new["reason"] else ""
        out.add(run, f"status {old['status']} -> {new['status']}{reason}", name)
    elif old["reason"] != new["reason"]:
        out.add(run, f"reason '{old['reason']}' -> '{new['reason']}'", name)
    for stop in out.came_and_went(old["stops"], new["stops"],
                                  lambda stop, what: out.add(run, f"stage: {what}", name, stop)):
        compare_stop(out, run, name, stop, old["stops"][stop], new["stops"][stop])
    before, after = old["checks"], new["checks"]
    for check in out.came_and_went(
            before, after,
            lambda check, what: out.add(run, f"check '{check}': {what}", name)):
        if before[check] != after[check]:
            out.add(run, f"check '{check}': {before[check]} -> {after[check]}", name)


def how(run):
    """Whether there is a run, and why not."""
    for status in ("failed", "unavailable"):
        if run[status]:
            return f"{status} ({run[status]})"
    return "made"


def compare(old, new):
    out = Changes()
    for key in out.came_and_went(old, new, lambda key, what: out.add(key, f"run: {what}")):
        a, b = old[key], new[key]
        before, after = how(a), how(b)
        if before != after:
            out.add(key, f"run: {before} -> {after}")
        if before != "made" or after != "made":
            continue  # what its cells have to do with it is said by that
        if a["kernel"] != b["kernel"]:
            out.notes.append(f"{key[1]} has kernel {b['kernel']}, before {a['kernel']}")
        if a["library"] != b["library"]:
            out.notes.append(f"{key[2]} has librdmacm {b['library']}, before {a['library']}")
        for name in out.came_and_went(a["cells"], b["cells"],
                                      lambda name, what: out.add(key, f"cell: {what}", name)):
            compare_cell(out, key, name, a["cells"][name], b["cells"][name])
    return out


def run_names(keys, everything):
    """The runs, for each transport: kernels, libraries."""
    if set(keys) == set(everything):
        return "all runs"
    parts = []
    for transport, of in grouped((key[1:], key[0]) for key in keys).items():
        by_kernel = grouped((library, kernel) for kernel, library in of)
        by_libraries = grouped((kernel, tuple(libraries))
                               for kernel, libraries in by_kernel.items())
        parts += [f"{transport}: {listed(kernels)} with librdmacm of {listed(libraries)}"
                  for libraries, kernels in by_libraries.items()]
    return "; ".join(parts)


def told(changes, everything):
    """Lines: each change, and below it where it is."""
    by_text = grouped(((place, run), text) for text, place, run in changes.found)
    for text, places in by_text.items():
        yield text
        by_place = grouped((run, place) for place, run in places)
        by_runs = grouped((place, tuple(runs)) for place, runs in by_place.items())
        for runs, where in by_runs.items():
            yield f"    on {run_names(runs, everything)}"
            by_cell = grouped((stop, cell) for cell, stop in where if cell)
            whole = [cell for cell, stops in by_cell.items() if not stops[0]]
            if whole:
                yield "        " + ", ".join(whole)
            for cell, stops in by_cell.items():
                if stops[0]:
                    yield f"        {cell}: {' · '.join(stops)}"
    for note in dict.fromkeys(changes.notes):
        yield f"(note: {note})"


def main(old_path, new_path):
    old, new = read_matrix(old_path), read_matrix(new_path)
    changes = compare(old, new)
    for line in told(changes, list(old) + [key for key in new if key not in old]):
        print(line)
    if not changes.found:
        print(f"nothing changed in {len(new)} runs")
    return 1 if changes.found else 0
