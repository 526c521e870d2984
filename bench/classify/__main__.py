"""Accuracy and cost of `classify` on the labelled set, beside the reference table alone.

`python -m bench.classify [--quick] [--only dev] [-v]` prints the figures and writes bench/results/classify.json.
"""

from __future__ import annotations

import argparse
import importlib
import json
import platform
import sys
import timeit
import warnings
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.classify.reference import classify_by_reference
from bench.classify.servers import Peers
from mcpcore.classify import classify, explain
from mcpcore.codes import ErrorCode

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bench.classify.case import Case

PARTS = ("stdlib", "databases", "clients", "validation", "sentences", "held_back")
RESULTS = Path(__file__).parents[1] / "results" / "classify.json"


def all_cases(parts: Iterable[str] = PARTS) -> list[Case]:
    """Every case of the set."""
    return [case for part in parts for case in importlib.import_module(f"bench.classify.sets.{part}").CASES]


def captured(cases: Sequence[Case], peers: Peers) -> list[tuple[Case, BaseException]]:
    """Each case that the installed libraries can raise, with what it raised."""
    return [(case, case.capture(peers)) for case in cases if case.installed]


def accuracy(found: Sequence[tuple[Case, BaseException]], judge: Any) -> tuple[int, int]:
    """How many codes are right, and how many mistakes of the program are blamed on the caller."""
    right = sum(judge(exc) is case.label for case, exc in found)
    blamed = sum(case.bug and judge(exc).category == "client" for case, exc in found)
    return right, blamed


def microseconds(exc: BaseException, call: Any = classify) -> float:
    """The cost of one call, as the best of several runs."""
    timer = timeit.Timer(lambda: call(exc))
    return min(timer.repeat(repeat=7, number=2_000)) / 2_000 * 1e6


def main(argv: Sequence[str] | None = None) -> int:
    """Run the bench."""
    parser = argparse.ArgumentParser(prog="python -m bench.classify", description=__doc__)
    parser.add_argument("-v", "--verbose", action="store_true", help="show every case that came out wrong")
    options = parser.parse_args(argv)
    warnings.simplefilter("ignore")
    cases = all_cases()
    missing = Counter(case.library for case in cases if not case.installed)
    with Peers() as peers:
        found = captured(cases, peers)
    held = [pair for pair in found if pair[0].held_back]
    known = [pair for pair in found if not pair[0].held_back]
    report: dict[str, Any] = {
        "python": platform.python_version(),
        "cases": len(found),
        "not_installed": dict(missing),
        "mistakes_of_the_program": sum(case.bug for case, _ in found),
    }
    print(
        f"{len(found)} real exceptions ({len(held)} of them held back), {len(missing)} libraries missing {dict(missing) or ''}"
    )
    for name, judge in (("reference", classify_by_reference), ("classify", classify)):
        right, blamed = accuracy(found, judge)
        parts = {"all": found, "known": known, "held_back": held}
        shares = {part: round(100 * accuracy(pairs, judge)[0] / max(1, len(pairs)), 2) for part, pairs in parts.items()}
        report[name] = {"right": right, "blamed": blamed, "percent": shares}
        print(f"{name:10} {right:4} of {len(found)}: {shares['all']:.1f} % (known {shares['known']:.1f} %, held back "
              f"{shares['held_back']:.1f} %); mistakes of the program blamed on the caller: {blamed}")  # fmt: skip
    if options.verbose:
        for case, exc in found:
            if classify(exc) is not case.label:
                verdict = explain(exc)
                print(f"  {'HELD ' if case.held_back else ''}{case.name}: said {verdict.code.name} by {verdict.matched.layer} "
                      f"{verdict.matched.row!r}, label {case.label.name}\n      {type(exc).__module__}.{type(exc).__qualname__}: "
                      f"{str(exc)[:150]!r}")  # fmt: skip
    costs = {
        "a known type": (TimeoutError("slow"), 5),
        "a known library's type": (_of(found, "httpx2: a dead port"), 5),
        "a status that is carried": (_of(found, "httpx2: answered 503"), 25),
        "a message": (RuntimeError("The user 'ada' was not found in the directory of project apollo"), 25),
        "a message that no row knows": (
            RuntimeError("The widget factory stopped while making its 17th widget of the day"),
            25,
        ),
    }
    report["microseconds"] = {}
    for name, (exc, limit) in costs.items():
        if exc is not None:
            cost = microseconds(exc)
            report["microseconds"][name] = {
                "classify": round(cost, 2),
                "explain": round(microseconds(exc, explain), 2),
                "limit": limit,
            }
            print(
                f"{name:28} classify {cost:6.2f} us (limit {limit}), explain {report['microseconds'][name]['explain']:6.2f} us"
            )
    spread = sorted(microseconds(exc) for _, exc in found[:: max(1, len(found) // 60)])
    report["microseconds_over_the_set"] = {"median": round(spread[len(spread) // 2], 2), "worst": round(spread[-1], 2)}
    print(f"over the set: median {spread[len(spread) // 2]:.2f} us, worst {spread[-1]:.2f} us")
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    RESULTS.write_text(json.dumps(report, indent=2) + "\n")
    percent = report["classify"]["percent"]["all"]
    return 0 if percent >= 97 and report["classify"]["blamed"] == 0 else 1


def _of(found: Sequence[tuple[Case, BaseException]], name: str) -> BaseException | None:
    return next((exc for case, exc in found if case.name == name), None)


if __name__ == "__main__":
    assert isinstance(ErrorCode.TIMEOUT, int)
    sys.exit(main())
