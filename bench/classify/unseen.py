"""Wrong codes and silence of `classify` on messages that nobody wrote for mcpcore.

`python -m bench.classify.unseen` prints the figures of the open set, by which the tables were made, and of the closed
set if it is there, and writes bench/results/unseen.json. A set is three files: the texts, and the labels of two passes
(see bench/classify/messages/GUIDE.md); the open set is made of three. `--closed TEXTS FIRST SECOND` reads another
closed set. With `-v` it lists the wrong codes of the open set, and for each phrase how often it is right and in how
many packages; the closed set stays unread while the tables are changed.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from mcpcore.classification import explain

if TYPE_CHECKING:
    from collections.abc import Sequence

FOLDER = Path(__file__).with_name("messages")
EARLIER = (FOLDER / "texts.jsonl", FOLDER / "first.tsv", FOLDER / "second.tsv")
LATER = (FOLDER / "closed-2.jsonl", FOLDER / "closed-2-first.tsv", FOLDER / "closed-2-second.tsv")
LATEST = (FOLDER / "closed-3.jsonl", FOLDER / "closed-3-first.tsv", FOLDER / "closed-3-second.tsv")
CLOSED = (FOLDER / "closed-4.jsonl", FOLDER / "closed-4-first.tsv", FOLDER / "closed-4-second.tsv")
PACKAGE = re.compile("[^:]*:@?[^@]*")
RESULTS = Path(__file__).parents[1] / "results" / "unseen.json"
MOST_WRONG = 1
MOST_BELOW_OPEN = 3


class Message(NamedTuple):
    """A text, its package, the labels of both passes, and what `classify` says with the phrase that decides.

    The package is that of a source such as `npm:@hono/node@1.2.3:lib/client.js:12`, in every version.
    """

    text: str
    package: str
    labels: tuple[str, str]
    code: str
    phrase: str

    @property
    def agreed(self) -> bool:
        """Whether both passes give the same code, and not silence."""
        return self.labels[0] == self.labels[1] != "none"

    @property
    def wrong(self) -> bool:
        """Whether `classify` gives a code, and neither pass does."""
        return self.code not in {"none", *self.labels}


def messages(files: Sequence[Path]) -> list[Message]:
    """Every message of a set with its labels, classified as an exception whose class says nothing."""
    texts, *passes = files
    first, second = (
        {row.split()[0]: row.split()[1] for row in labels.read_text(encoding="utf-8").splitlines() if row.strip()}
        for labels in passes
    )
    rows = [json.loads(row) for row in texts.read_text(encoding="utf-8").splitlines() if row.strip()]
    return [
        Message(
            row["text"],
            PACKAGE.findall(row["source"])[0],
            (first[str(row["id"])], second[str(row["id"])]),
            *_said(row["text"]),
        )
        for row in rows
    ]


def _said(text: str) -> tuple[str, str]:
    explanation = explain(Exception(text))
    if explanation.matched.layer != "message":
        return "none", ""
    return explanation.code.name, explanation.matched.row


def figures(labelled: Sequence[Message]) -> dict[str, float]:
    """The counts of one set, and the shares on which the limits are."""
    agreed = [message for message in labelled if message.agreed]
    wrong = sum(message.wrong for message in labelled)
    coded = sum(message.code != "none" for message in labelled)
    answered = sum(message.code != "none" for message in agreed)
    return {
        "messages": len(labelled),
        "packages": len({message.package for message in labelled}),
        "coded": coded,
        "wrong": wrong,
        "wrong_percent": round(100 * wrong / len(labelled), 2),
        "wrong_percent_of_coded": round(100 * wrong / max(1, coded), 2),
        "agreed": len(agreed),
        "agreed_coded": answered,
        "agreed_coded_percent": round(100 * answered / max(1, len(agreed)), 2),
        "agreed_right": sum(message.code == message.labels[0] for message in agreed),
    }


def across_packages(labelled: Sequence[Message]) -> dict[str, float]:
    """What a phrase is worth in packages other than those it was made for.

    Each package is judged with the phrases that are right in another package, and there at least 20 times as often as
    wrong.
    """
    right: Counter[tuple[str, str]] = Counter()
    wrong: Counter[tuple[str, str]] = Counter()
    for message in labelled:
        for package in ("", message.package):
            (wrong if message.wrong else right)[message.phrase, package] += 1

    def holds_elsewhere(message: Message) -> bool:
        everywhere, here = (message.phrase, ""), (message.phrase, message.package)
        return right[everywhere] - right[here] >= max(1, 20 * (wrong[everywhere] - wrong[here]))

    return figures(
        [message if holds_elsewhere(message) else message._replace(code="none", phrase="") for message in labelled]
    )


def of_later_packages(earlier: Sequence[Message], later: Sequence[Message]) -> dict[str, float]:
    """What the phrases that are right in a package of `earlier` are worth on `later`."""
    right = {message.phrase for message in earlier if message.phrase and not message.wrong}
    return figures([m if m.phrase in right else m._replace(code="none", phrase="") for m in later])


def by_phrase(labelled: Sequence[Message]) -> str:
    """The wrong codes, and how often each phrase is right and wrong."""
    lines = [f"{m.code} for {m.labels} by {m.phrase!r}: {m.text}" for m in labelled if m.wrong]
    rows: dict[str, list[Message]] = defaultdict(list)
    for message in labelled:
        rows[message.phrase].append(message)
    for phrase, matching in sorted(rows.items()):
        wrong = sum(message.wrong for message in matching)
        packages = len({message.package for message in matching})
        lines.append(
            f"{len(matching) - wrong:4} right {wrong:4} wrong in {packages:3} packages  {phrase or '(silence)'}"
        )
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> int:
    """Print the figures.

    The result is 1 if more than 1 % of a set has a wrong code, or if of the agreed messages of the closed set fewer
    have a code than of those of the open set, less 3 %.
    """
    parser = argparse.ArgumentParser(prog="python -m bench.classify.unseen", description=__doc__)
    parser.add_argument("-v", "--verbose", action="store_true", help="show the open set, phrase by phrase")
    parser.add_argument("--open", action="store_true", help="leave the closed set alone, and write no results")
    parser.add_argument(
        "--closed", nargs=3, type=Path, default=CLOSED, metavar=("TEXTS", "FIRST", "SECOND"), help="the closed set"
    )
    parser.add_argument("--results", type=Path, default=RESULTS, help="the file for the figures")
    options = parser.parse_args(argv)
    earlier, latest = messages(EARLIER) + messages(LATER), messages(LATEST)
    opened = earlier + latest
    if options.verbose:
        print(by_phrase(opened))
    report = {
        "open": figures(opened),
        "open_across_packages": across_packages(opened),
        "open_by_earlier_packages": of_later_packages(earlier, latest),
    }
    if not options.open and (options.closed != CLOSED or CLOSED[0].exists()):
        report["closed"] = figures(messages(options.closed))
    print(json.dumps(report, indent=2))
    for name, row in report.items():
        print(f"{name}: {row['wrong_percent']} % wrong, {row['agreed_coded_percent']} % of the agreed have a code")
    if not options.open:
        options.results.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    return int(not met(report))


def met(report: dict[str, dict[str, float]]) -> bool:
    """Whether the sets of a report keep their limits."""
    opened, closed = report["open"], report.get("closed", report["open"])
    return (
        max(opened["wrong_percent"], closed["wrong_percent"]) <= MOST_WRONG
        and closed["agreed_coded_percent"] >= opened["agreed_coded_percent"] - MOST_BELOW_OPEN
    )


if __name__ == "__main__":
    sys.exit(main())
