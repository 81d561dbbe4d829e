# SPDX-License-Identifier: MIT
"""Report -> report.html and report.md."""
import functools
import os
import time

import jinja2
import markupsafe

from report_model import BAD, answer_name, grouped, slug, unique
from report_names import counted, in_order, listed, mask_names, value_text

HERE = os.path.dirname(os.path.realpath(__file__))
SYMBOLS = {"equal": "✓", "different": "≠", "unavailable": "–", "broken": "✗", "failed": "✗"}
LEGEND = (("equal", "both answered the same"), ("different", "they did not"),
          ("unavailable", "such ids cannot be made there, or not up to the end"),
          ("broken", "the cell broke off"), ("failed", "no run"))
# The Markdown stays short: the rest is in the page.
TOLD_MAX = 40


def verdict(r):
    runs = counted(len(r.runs), "run")
    if r.is_good:
        gone = (f" {counted(r.count['unavailable'], 'cell')} of {r.cells:,} "
                f"could not be tried to the end." if r.count["unavailable"] else "")
        return (f"All equal: {counted(r.asked, 'question')} in {counted(len(r.made), 'run')} "
                f"got the same answer from qpattr as from librdmacm.{gone}")
    parts = []
    if r.failed:
        parts.append(f"{len(r.failed)} of {runs} could not be made")
    if r.count["different"]:
        parts.append(f"{counted(r.count['different'], 'cell')} of {r.cells:,} "
                     f"{'is' if r.count['different'] == 1 else 'are'} different")
    if r.count["broken"]:
        parts.append(f"{counted(r.count['broken'], 'cell')} broke off")
    if not r.asked:
        parts.append("nothing was asked")
    return "Not all equal: " + listed(parts) + "."


def counts(r):
    rows = [(len(r.runs), "run", ""), (r.cells, "cell", ""),
            (r.asked, "question", "put to both"), (r.unequal, "question", "answered differently")]
    rows += [(number, "cell", name) for name, number in r.count.items()]
    for name in ("failed", "unavailable"):
        if number := sum(run.status == name for run in r.runs):
            rows.append((number, "run", name))
    if r.missing:
        rows.append((len(r.missing), "combination", "not run"))
    return [(f"{number:,}", f"{noun if number == 1 else noun + 's'} {what}".strip())
            for number, noun, what in rows]


def made_with(r):
    rows = (("kernels", unique(each.kernel for each in r.runs)),
            ("librdmacm", unique(each.library for each in
                                 sorted(r.runs, key=lambda each: each.order[3:]))),
            ("transports", [each.name for each in r.transports]),
            ("qpattr", unique(each.ours for each in r.runs)))
    return [(name, ", ".join(filter(None, texts))) for name, texts in rows if any(texts)]


def made(now=None):
    now = int(os.environ.get("SOURCE_DATE_EPOCH") or time.time()) if now is None else now
    return time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(now))


def run_entry(run):
    """(status, number, note, link) for the grid of kernels and libraries."""
    found = [cell.status for cell in run.cells.values()]
    note = listed(f"{found.count(each)} {each}" for each in BAD if each in found)
    if run.failed:
        return run.status, "", "", "failed"
    if run.unavailable:
        return run.status, "", "", slug(run.transport, "unavailable")
    return run.status, f"{run.asked:,}", note, slug(run.transport, run.kernel_key)


def grid(t, kernel):
    """(labels, kinds, {(kind, label): [(status, number, note, link)]}) of one kernel."""
    runs = [run for run in t.runs if run.kernel_key == kernel]
    at = {}
    for view in t.cells:
        cells = [(run, run.cells[view.name]) for run in runs if view.name in run.cells]
        entries = []
        for status, of in grouped((pair, pair[1].status) for pair in cells).items():
            asked = listed(unique(f"{cell.asked:,}" for _, cell in of))
            note = ("" if len(of) == len(cells) else
                    "with " + listed(t.library(run.library_key) for run, _ in of))
            entries.append((status, asked, note, view.id))
        if entries:
            at[view.kind, view.label] = entries
    return (unique(label for _, label in at), unique(kind for kind, _ in at), at)


def row_of(at, kind):
    return [entries for (each, _), entries in at.items() if each == kind]


def is_bad(cells_of_grid):
    return any(entry[0] in BAD for entries in cells_of_grid for entry in entries)


def plain_entry(status, number, note, _):
    """An entry in text alone."""
    words = number if status == "equal" else f"{status} {number}".strip()
    return f"{SYMBOLS[status]} {words} {note and f'({note})'}".strip()


def grids(t):
    """[(kernels, labels, kinds, entries)], kernels whose grids are the same together."""
    found = {}
    for kernel in t.kernels:
        if t.made(kernel):
            of = grid(t, kernel)
            found.setdefault(repr(of), ([], *of))[0].append(kernel)
    return list(found.values())


def sameness(t, kernels):
    """Whether the libraries of each kernel answered the same, in words."""
    said = []
    for kernel in kernels:
        number, same = len(t.made(kernel)), t.same_with_all(kernel)
        which = {2: "both libraries", 3: "the three libraries",
                 4: "the four libraries"}.get(number, f"the {number} libraries")
        if same is not None:
            said.append((t.kernel(kernel),
                         f"{which} answered {'the same' if same else 'differently'}"))
    groups = grouped(said)
    if len(groups) == 1 and len(said) == len(kernels):
        return next(iter(groups)) + (" on each" if len(kernels) > 1 else "")
    return "; ".join(f"{listed(of)}: {text}" for text, of in groups.items())


def names(t, kernels):
    return listed(t.kernel(each) for each in kernels)


def kernel_names(t, kernel):
    """Release and version, where the title does not say them."""
    runs = [run for run in t.runs if run.kernel_key == kernel]
    return [each for each in unique([run.release for run in runs] + [run.kernel for run in runs])
            if each and each != t.kernel(kernel)]


def shown(answer, before):
    """(field, value, what it was before or None)"""
    values = answer.values
    old = values if before is None or before.errno else before.values
    names = set(values) | (set(old) if not answer.errno else set())
    for name in in_order(names):
        value, was = values.get(name, "0"), old.get(name, "0")
        yield (name, value_text(name, value), None if value == was else value_text(name, was))


def passed_checks(cell):
    failed = {name for _, name, ok, _ in cell.checks if not ok}
    return [name for _, name, ok, _ in cell.checks if ok and name not in failed]


def differences(t):
    """(line, command) of all that is not equal, one of a kind."""
    found = {}
    for cell in t.cells:
        for (status, reason), runs in cell.reasons.items():
            if status in BAD:
                found[f"{cell.name} {status} ({t.where(runs, cell.runs)}): {reason}"] = \
                    cell.again(runs[0])
        for runs, name, ok, why in cell.checks:
            if not ok:
                found[f"{cell.name} ({t.where(runs, cell.runs)}): {name}: {why}"] = \
                    cell.again(runs[0])
        for each in cell.differences:
            line = (f"{cell.name} ({t.where(each.runs, cell.runs)}): {each.question}: "
                    f"{each.what}; at {' · '.join(each.stops)}")
            found[line] = each.commands[0][1] if each.commands else ""
    out = list(found.items())
    if len(out) > TOLD_MAX:
        out = out[:TOLD_MAX] + [(f"and {len(out) - TOLD_MAX} more, in report.html", "")]
    return out


def markdown_text(text):
    """Text from a run, so that it stays in its place: a line, a cell of a table."""
    text = " ".join(str(text).split())
    for each in "\\|`*_<[":
        text = text.replace(each, "\\" + each)
    return text


@functools.cache
def environment(escaped):
    env = jinja2.Environment(loader=jinja2.FileSystemLoader(HERE), autoescape=escaped,
                             trim_blocks=True, lstrip_blocks=True,
                             undefined=jinja2.StrictUndefined, keep_trailing_newline=True)
    env.filters["cell"] = markdown_text
    env.globals.update(
        symbols=SYMBOLS, legend=LEGEND, slug=slug, counted=counted, mask_names=mask_names,
        answer_name=answer_name, run_entry=run_entry, plain_entry=plain_entry,
        row_of=row_of, names=names, is_bad=is_bad, grids=grids, sameness=sameness,
        kernel_names=kernel_names, shown=shown, passed_checks=passed_checks,
        differences=differences)
    return env


def render(template, report, escaped):
    with open(os.path.join(HERE, "report_page.css"), encoding="utf-8") as file:
        css = markupsafe.Markup(file.read())
    given = {"r": report, "verdict": verdict(report), "counts": counts(report),
             "with": made_with(report), "made": made(), "css": css}
    return environment(escaped).get_template(template).render(given)


def html(report):
    return render("report_page.html.j2", report, True)


def markdown(report):
    return render("report_page.md.j2", report, False)
