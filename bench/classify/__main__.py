"""Accuracy and cost of `classify` on the labelled set, compared with the reference table alone.

`python -m bench.classify` prints the figures and writes bench/results/classify.json and classify.md.
"""

from __future__ import annotations

import argparse
import importlib
import json
import logging
import sys
import time
import timeit
import warnings
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.classify.reference import classify_by_reference
from bench.classify.servers import Peers
from bench.classify.unseen import CLOSED, OPEN, figures, held_out, messages
from bench.conditions import conditions
from mcpcore.classification import classify, explain

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bench.classify.case import Case

PARTS = (
    "stdlib",
    "databases",
    "clients",
    "validation",
    "corners",
    "library_corners",
    "tools",
    "service_clients",
    "clouds",
    "http_answers",
    "data_stores",
    "protocols",
    "wrappers",
    "mistakes",
    "libraries",
)
TARGET = 97
UNSEEN = """
The cases are exceptions that libraries raise; most have their code from the type or an attribute.

## Unseen messages

Error texts that nobody wrote for mcpcore, from packages of libraries, servers and command-line tools. They were
labelled twice from the text alone before `classify` was run on them: see bench/classify/messages/GUIDE.md. A code is
wrong if neither labeller calls it right; in the first six sets a labeller names one code, and in the others each that
is right. "Agreed" are the messages whose labels are the same code. `python -m bench.classify.unseen` prints the same
figures.

The tables are made with the open sets. "By the others" is an estimate: a set is judged by what the other six bear out.
A form of a sentence counts if it is right in three packages of two of them, and a word that excludes a code if it
prevents a wrong one there. The closed set is measured once, and has other packages. At most 1 % of it may have a wrong
code, and of its agreed messages at least as many as of those of set 7, which was drawn and labelled in the same way,
less 3 % must have a code. The guide has what earlier closed sets said.
"""
RESULTS = Path(__file__).parents[1] / "results" / "classify.json"


def all_cases(parts: Iterable[str] = PARTS) -> list[Case]:
    """Every case of the set."""
    return [case for part in parts for case in importlib.import_module(f"bench.classify.sets.{part}").CASES]


def captured(cases: Sequence[Case], peers: Peers) -> list[tuple[Case, BaseException]]:
    """Each case that the installed libraries can raise, with its exception."""
    return [(case, case.capture(peers)) for case in cases if case.installed]


def accuracy(raised: Sequence[tuple[Case, BaseException]], judge: Any) -> tuple[int, int]:
    """How many codes are right, and how many bugs are blamed on the caller."""
    right = sum(judge(exc) is case.label for case, exc in raised)
    blamed = sum(case.bug and judge(exc).category == "client" for case, exc in raised)
    return right, blamed


def microseconds(exc: BaseException, call: Any = classify) -> float:
    """The CPU time of one call, the best of several runs, so that other processes on the machine do not count."""
    timer = timeit.Timer(lambda: call(exc), timer=time.thread_time)
    return min(timer.repeat(repeat=20, number=500)) / 500 * 1e6


def main(argv: Sequence[str] | None = None) -> int:
    """Run the bench.

    The result is 1 if the accuracy is below the target, a bug is blamed on the caller, or a call of `classify` takes
    longer than its limit.
    """
    parser = argparse.ArgumentParser(prog="python -m bench.classify", description=__doc__)
    parser.add_argument("-v", "--verbose", action="store_true", help="show every wrong answer")
    parser.add_argument("--without", default="", metavar="LIBRARIES", help="leave out these libraries (commas between)")
    parser.add_argument("--results", type=Path, default=RESULTS, help="the file for the figures")
    parser.add_argument("--accuracy", action="store_true", help="measure only the accuracy, and write no page")
    options = parser.parse_args(argv)
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    left_out = set(options.without.split(","))
    cases = [case for case in all_cases() if not case.library or case.library not in left_out]
    missing = Counter(case.library for case in cases if not case.installed)
    with Peers() as peers:
        raised = captured(cases, peers)
    report: dict[str, Any] = {
        **conditions(),
        "cases": len(raised),
        "not_installed": dict(missing),
        "mistakes_of_the_program": sum(case.bug for case, _ in raised),
    }
    print(f"{len(raised)} real exceptions; libraries missing: {dict(missing)}")
    for name, judge in (("reference", classify_by_reference), ("classify", classify)):
        right, blamed = accuracy(raised, judge)
        percent = round(100 * right / len(raised), 2)
        report[name] = {"right": right, "percent": percent, "blamed": blamed}
        print(f"{name:10} {right:4} of {len(raised)}: {percent:.1f} %; bugs blamed on the caller: {blamed}")
    if options.verbose:
        for case, exc in raised:
            if classify(exc) is not case.label:
                print(describe(case, exc))
    met = report["classify"]["percent"] >= TARGET and report["classify"]["blamed"] == 0
    options.results.parent.mkdir(parents=True, exist_ok=True)
    if options.accuracy:
        options.results.write_text(json.dumps(report, indent=2) + "\n")
        return 0 if met else 1
    report["microseconds"] = costs(raised)
    options.results.write_text(json.dumps(report, indent=2) + "\n")
    options.results.with_suffix(".md").write_text(as_page(report))
    slow = [name for name, row in report["microseconds"].items() if row["classify"] > row["limit"]]
    if slow:
        print(f"slower than the limit: {', '.join(slow)}")
    return 0 if met and not slow else 1


def as_page(report: dict[str, Any]) -> str:
    """The figures as a page."""
    lines = ["# Classification", "", "`python -m bench.classify` writes this page.", ""]
    lines += ["| judge | right | of | percent | bugs blamed on the caller |", "|---|---|---|---|---|"]
    for judge in ("reference", "classify"):
        row = report[judge]
        lines.append(f"| {judge} | {row['right']} | {report['cases']} | {row['percent']} | {row['blamed']} |")
    lines += [
        UNSEEN,
        "| set | messages | packages | wrong | percent | agreed | with a code | percent |",
        "|---|---|---|---|---|---|---|---|",
    ]
    opened = tuple(messages(files) for files in OPEN)
    sets = {"open": figures([message for labelled in opened for message in labelled])}
    for index, labelled in enumerate(opened):
        name = f"set {index + 1}"
        sets |= {name: figures(labelled), f"{name}, by the others": figures(held_out(opened, index))}
    if CLOSED[0].exists():
        sets["set 8, closed"] = figures(messages(CLOSED))
    counts = ("messages", "packages", "wrong", "wrong_percent", "agreed", "agreed_coded", "agreed_coded_percent")
    lines += [f"| {name} | {' | '.join(str(row[count]) for count in counts)} |" for name, row in sets.items()]
    lines += ["", "## Cost of a call", "", "| | `classify` | its limit | `explain` |", "|---|---|---|---|"]
    for name, row in report["microseconds"].items():
        lines.append(f"| {name} | {row['classify']} us | {row['limit']} us | {row['explain']} us |")
    return "\n".join(lines) + "\n"


def describe(case: Case, exc: BaseException) -> str:
    """A wrong answer: what decided it, and the label."""
    verdict = explain(exc)
    return (
        f"  {case.name}: got {verdict.code.name} by {verdict.matched.layer} {verdict.matched.row!r}, "
        f"label {case.label.name}\n      {type(exc).__module__}.{type(exc).__qualname__}: {str(exc)[:150]!r}"
    )


def costs(raised: Sequence[tuple[Case, BaseException]]) -> dict[str, dict[str, float]]:
    """The cost of a call, for each layer that may decide."""
    by_name = {case.name: exc for case, exc in raised}
    samples = {
        "a known type": (TimeoutError("slow"), 5),
        "a known library's type": (by_name.get("httpx2: a dead port"), 5),
        "a status that is carried": (by_name.get("httpx2: answered 503"), 25),
        "a message": (RuntimeError("The user 'ada' was not found in the directory of project apollo"), 25),
        "a message that no row knows": (
            RuntimeError("The widget factory stopped after its 17th widget of the day"),
            25,
        ),
    }
    costs = {
        name: {"classify": round(microseconds(exc), 2), "explain": round(microseconds(exc, explain), 2), "limit": limit}
        for name, (exc, limit) in samples.items()
        if exc is not None
    }
    for name, row in costs.items():
        print(f"{name:28} classify {row['classify']:6.2f} us (limit {row['limit']}), explain {row['explain']:6.2f} us")
    return costs


if __name__ == "__main__":
    sys.exit(main())
