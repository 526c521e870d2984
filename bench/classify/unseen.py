"""Wrong codes and silence of `classify` on messages that nobody wrote for mcpcore.

`python -m bench.classify.unseen` prints the figures of both halves from the texts and labels in
bench/classify/messages, and writes bench/results/unseen.json. With `-v` it lists the wrong codes of the open half and
counts what each phrase decides there; the closed half stays unread while the tables are changed.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from mcpcore.classification import explain

if TYPE_CHECKING:
    from collections.abc import Sequence

FOLDER = Path(__file__).with_name("messages")
RESULTS = Path(__file__).parents[1] / "results" / "unseen.json"


class Message(NamedTuple):
    """A text, its half, the labels of both passes, and what `classify` says with the phrase that decides."""

    text: str
    half: str
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


def messages() -> list[Message]:
    """Every message with its labels, classified as an exception whose class says nothing."""
    labels = [(FOLDER / f"{name}.tsv").read_text(encoding="utf-8").split() for name in ("first", "second")]
    rows = map(json.loads, (FOLDER / "texts.jsonl").read_text(encoding="utf-8").splitlines())
    return [
        Message(row["text"], row["half"], (first, second), *_said(row["text"]))
        for row, first, second in zip(rows, labels[0][1::2], labels[1][1::2], strict=True)
    ]


def _said(text: str) -> tuple[str, str]:
    explanation = explain(Exception(text))
    if explanation.matched.layer != "message":
        return "none", ""
    return explanation.code.name, explanation.matched.row


def figures(half: Sequence[Message]) -> dict[str, float]:
    """The counts of one half, and the shares on which the limits are."""
    agreed = [message for message in half if message.agreed]
    wrong = sum(message.wrong for message in half)
    coded = sum(message.code != "none" for message in half)
    answered = sum(message.code != "none" for message in agreed)
    return {
        "messages": len(half),
        "coded": coded,
        "wrong": wrong,
        "wrong_percent": round(100 * wrong / len(half), 2),
        "wrong_percent_of_coded": round(100 * wrong / coded, 2),
        "agreed": len(agreed),
        "agreed_coded": answered,
        "agreed_coded_percent": round(100 * answered / len(agreed), 2),
        "agreed_right": sum(message.code == message.labels[0] for message in agreed),
    }


def main(argv: Sequence[str] | None = None) -> int:
    """Print the figures.

    The result is 1 if more than 1 % of the closed half has a wrong code, or if of its agreed messages fewer have a code
    than of the open half's, less 3 %.
    """
    parser = argparse.ArgumentParser(prog="python -m bench.classify.unseen", description=__doc__)
    parser.add_argument("-v", "--verbose", action="store_true", help="show the open half, phrase by phrase")
    parser.add_argument("--open", action="store_true", help="leave the closed half alone, and write no results")
    options = parser.parse_args(argv)
    every = messages()
    opened = [message for message in every if message.half == "open"]
    if options.verbose:
        counts: dict[str, Counter[str]] = defaultdict(Counter)
        for message in opened:
            if message.wrong:
                print(f"{message.code} for {message.labels} by {message.phrase!r}: {message.text}")
            counts[message.phrase]["wrong" if message.wrong else "right"] += 1
        for phrase, count in sorted(counts.items()):
            print(f"{count['right']:4} right {count['wrong']:4} wrong  {phrase or '(silence)'}")
    report = {"open": figures(opened)}
    if not options.open:
        report["closed"] = figures([message for message in every if message.half == "closed"])
    print(json.dumps(report, indent=2))
    if options.open:
        return 0
    RESULTS.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    closed, least = report["closed"], report["open"]["agreed_coded_percent"] - 3
    return int(closed["wrong_percent"] > 1 or closed["agreed_coded_percent"] < least)


if __name__ == "__main__":
    sys.exit(main())
