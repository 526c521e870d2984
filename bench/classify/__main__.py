"""Accuracy and cost of `classify` on the labelled set, compared with the reference table alone.

`python -m bench.classify` prints the figures and writes bench/results/classify.json. With `--ablation` it also switches
off one section of the phrases at a time, and reports how many cases the section decides and how many become wrong.
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
from bench.conditions import conditions
from mcpcore.classification import classify, engine, explain
from mcpcore.classification.matcher import Matcher, rows_for
from mcpcore.classification.phrase_table import MESSAGES, SECTIONS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bench.classify.case import Case
    from mcpcore.classification.phrase_table import PhraseRow

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
    "sentences",
)
TARGET = 97
FIRST_ANSWERS = (
    {"part": "corners", "cases": 176, "right": 163, "blamed": 0},
    {"part": "corners of libraries", "cases": 110, "right": 97, "blamed": 0},
    {"part": "servers and clients, the unseen half", "cases": 370, "right": 353, "before": 193, "blamed": 0},
    {"part": "tools, clients and data stores", "cases": 299, "right": 287, "blamed": 0},
    {"part": "ordinary sentences", "cases": 251, "right": 219, "blamed": 0},
    {"part": "ordinary sentences, second batch", "cases": 83, "right": 75, "blamed": 0},
    {"part": "ordinary sentences, third batch", "cases": 92, "right": 81, "blamed": 0},
    {"part": "short sentences", "cases": 189, "right": 174, "blamed": 0},
    {"part": "tool servers", "cases": 184, "right": 154, "blamed": 0},
    {"part": "chats and terse logs", "cases": 157, "right": 111, "blamed": 0},
    {"part": "errors of the program itself", "cases": 102, "right": 95, "blamed": 0},
    {"part": "many systems", "cases": 131, "right": 117, "blamed": 0},
    {"part": "services and traps", "cases": 298, "right": 277, "blamed": 0},
    {"part": "services and traps, second batch", "cases": 148, "right": 123, "blamed": 0},
    {"part": "terse sentences", "cases": 196, "right": 152, "blamed": 0},
    {"part": "terse sentences, second batch", "cases": 130, "right": 97, "blamed": 0},
    {"part": "terse sentences, third batch", "cases": 132, "right": 103, "blamed": 0},
    {"part": "common services", "cases": 142, "right": 137, "blamed": 0},
    {"part": "common services, second batch", "cases": 147, "right": 141, "blamed": 0},
    {"part": "misleading names", "cases": 105, "right": 98, "blamed": 0},
    {"part": "error names of services", "cases": 114, "right": 104, "blamed": 0},
    {"part": "exceptions as text", "cases": 76, "right": 73, "blamed": 0},
    {"part": "exceptions of other languages", "cases": 75, "right": 68, "blamed": 0},
    {"part": "libraries in the table of types, and Python's own", "cases": 564, "right": 547, "blamed": 0},
    {"part": "other libraries", "cases": 258, "right": 225, "blamed": 0},
    {"part": "other libraries, second batch", "cases": 187, "right": 184, "blamed": 0},
    {"part": "other libraries, third batch", "cases": 168, "right": 166, "blamed": 0},
    {"part": "libraries, wrappers and unusual attributes", "cases": 113, "right": 97, "blamed": 0},
)
"""What `classify` answered on each batch before the tables were changed for it.

Two cases did not raise what their names say; they were repaired and count as wrong here. "before" is the result of the
tables before they had families of sentences. In the later batches, a case that allows two codes counted as right with
either, and is not in the set.
"""
NOTES = """
Each batch was labelled before it was classified, and classified once before the tables were changed for it. The overall
accuracy therefore shows how well the tables remember; the first answers show how well they generalise. Sentences are in
our own words, and no case allows two codes. What stays hard:

- sentences whose code depends on the program around them: "Not prepared", "request is not scoreable";
- the caller's text against a service's: "could not parse" is VALIDATION_ERROR for a date, else SERIALIZATION_ERROR;
- a refusal by state (CONFLICT) worded like a rule for the input (VALIDATION_ERROR): "must keep at least one admin";
- something missing in a file of the caller's, worded like NOT_FOUND: "No text raised in this PDF".
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
    """Run the bench; the result is 1 if the accuracy is below the target or a bug is blamed on the caller."""
    parser = argparse.ArgumentParser(prog="python -m bench.classify", description=__doc__)
    parser.add_argument("-v", "--verbose", action="store_true", help="show every wrong answer")
    parser.add_argument("--without", default="", metavar="LIBRARIES", help="leave out these libraries (commas between)")
    parser.add_argument("--results", type=Path, default=RESULTS, help="the file for the figures")
    parser.add_argument("--accuracy", action="store_true", help="measure only the accuracy, and write no page")
    parser.add_argument("--ablation", action="store_true", help="measure what each section of the phrases decides")
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
        "first_answers": FIRST_ANSWERS,
    }
    print(f"{len(raised)} real exceptions; libraries missing: {dict(missing)}")
    for name, judge in (("reference", classify_by_reference), ("classify", classify)):
        right, blamed = accuracy(raised, judge)
        percent = round(100 * right / len(raised), 2)
        report[name] = {"right": right, "percent": percent, "blamed": blamed}
        print(f"{name:10} {right:4} of {len(raised)}: {percent:.1f} %; bugs blamed on the caller: {blamed}")
    for batch in FIRST_ANSWERS:
        print(f"{batch['part']}: {batch['right']} of {batch['cases']} before the tables were changed for it")
    report["parts"] = by_part(raised)
    if options.ablation:
        report["ablation"] = ablation(raised)
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
    spread = sorted(microseconds(exc) for _, exc in raised[:: max(1, len(raised) // 60)])
    report["microseconds_over_the_set"] = {"median": round(spread[len(spread) // 2], 2), "worst": round(spread[-1], 2)}
    print(f"over the set: median {spread[len(spread) // 2]:.2f} us, worst {spread[-1]:.2f} us")
    options.results.write_text(json.dumps(report, indent=2) + "\n")
    options.results.with_suffix(".md").write_text(as_page(report))
    return 0 if met else 1


def by_part(raised: Sequence[tuple[Case, BaseException]]) -> dict[str, dict[str, int]]:
    """How many cases of each part are right."""
    part_of = {id(case): part for part in PARTS for case in all_cases((part,))}
    counts: dict[str, dict[str, int]] = {part: {"cases": 0, "right": 0} for part in PARTS}
    for case, exc in raised:
        counts[part_of[id(case)]]["cases"] += 1
        counts[part_of[id(case)]]["right"] += classify(exc) is case.label
    return counts


def ablation(cases: Sequence[tuple[Case, BaseException]]) -> dict[str, dict[str, int]]:
    """For each section of the phrases: its size, and how many answers become wrong without it."""
    figures: dict[str, dict[str, int]] = {}
    right = accuracy(cases, classify)[0]
    for section, rows in SECTIONS.items():
        read_only(row for name in SECTIONS if name != section for row in SECTIONS[name])
        without = accuracy(cases, classify)[0]
        figures[section] = {"phrases": sum(len(row.phrases) for row in rows), "lost": right - without}
        print(f"without {section:10} {without} of {len(cases)} are right, {right - without} fewer")
    read_only(MESSAGES)
    return figures


def read_only(rows: Iterable[PhraseRow]) -> None:
    """Have `classify` read messages by these rows and no others."""
    kept = list(rows)
    engine._MATCHER = Matcher(rows_for(kept, None))  # noqa: SLF001
    for only in engine._SCOPED:  # noqa: SLF001
        engine._SCOPED[only] = Matcher(rows_for(kept, only))  # noqa: SLF001
    engine._PLANS.clear()  # noqa: SLF001


def as_page(report: dict[str, Any]) -> str:
    """The figures as a page."""
    lines = ["# Classification", "", "`python -m bench.classify` writes this page.", ""]
    lines += ["| judge | right | of | percent | bugs blamed on the caller |", "|---|---|---|---|---|"]
    for judge in ("reference", "classify"):
        row = report[judge]
        lines.append(f"| {judge} | {row['right']} | {report['cases']} | {row['percent']} | {row['blamed']} |")
    lines += [
        "",
        "## First answers",
        "",
        "| part | right | of | percent | before |",
        "|---|---|---|---|---|",
    ]
    for row in report["first_answers"]:
        percent = f"{100 * row['right'] / row['cases']:.1f}"
        lines.append(f"| {row['part']} | {row['right']} | {row['cases']} | {percent} | {row.get('before', '')} |")
    lines += [NOTES, "## Cost of a call", "", "| | `classify` | `explain` | limit |", "|---|---|---|---|"]
    for name, row in report["microseconds"].items():
        lines.append(f"| {name} | {row['classify']} us | {row['explain']} us | {row['limit']} us |")
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
        "a message": (RuntimeError("The user 'ada' was not raised in the directory of project apollo"), 25),
        "a message that no row knows": (
            RuntimeError("The widget factory stopped after its 17th widget of the day"),
            25,
        ),
    }
    figures = {}
    for name, (exc, limit) in samples.items():
        if exc is not None:
            row = {
                "classify": round(microseconds(exc), 2),
                "explain": round(microseconds(exc, explain), 2),
                "limit": limit,
            }
            figures[name] = row
            print(f"{name:28} classify {row['classify']:6.2f} us (limit {limit}), explain {row['explain']:6.2f} us")
    return figures


if __name__ == "__main__":
    sys.exit(main())
