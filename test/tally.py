# SPDX-License-Identifier: MIT
"""tally.py [--cases] TESTLOG.json...

Counts the test cases of meson's logs and prints what failed. A program reports
its cases as lines `ok - NAME` and `not ok - NAME`; one that reports none counts
as one case itself. The last line is `N passed, N failed`. A skip is a failure:
./run test has installed what every test needs. Exit status 1 if any failed or
none passed. With --cases, the cases are printed as such lines, and no count."""
import json
import sys
import textwrap


def cases_of(test):
    """(passed, failed) names of one program, and its verdict made to agree."""
    name = test["name"].split(" / ")[-1]
    passed, failed = [], []
    for line in test.get("stdout", "").splitlines():
        if line.startswith("ok - "):
            passed.append(line[5:])
        elif line.startswith("not ok - "):
            failed.append(line[9:])
    result = test["result"]
    if result == "OK":
        if not passed and not failed:
            passed.append(name)
        if failed:
            failed.append(f"{name}: reports failures and exits with status 0")
    elif result == "SKIP":
        failed.append(f"{name}: skipped")
    elif not failed:
        failed.append(f"{name}: {result}, exit status {test.get('returncode')}")
    return passed, failed


def main(paths):
    as_cases = paths[:1] == ["--cases"]
    passed, failed, programs = 0, [], 0
    for path in paths[as_cases:]:
        with open(path, encoding="utf-8") as log:
            for line in log:
                test = json.loads(line)
                programs += 1
                good, bad = cases_of(test)
                passed += len(good)
                failed += bad
                if as_cases:
                    print("".join(f"ok - {case}\n" for case in good), end="")
                if bad:
                    said = f"--- {test['name']} ---\n" + test.get("stdout", "") + test.get("stderr", "")
                    # What a program said is no case a second time.
                    print(textwrap.indent(said, "    ") if as_cases else said)
    for name in failed:
        print(f"{'not ok -' if as_cases else 'failed:'} {name}")
    if as_cases:
        return 0
    print(f"{programs} test programs")
    print(f"{passed} passed, {len(failed)} failed")
    return 0 if passed and not failed else 1


sys.exit(main(sys.argv[1:]))
