"""Wrong codes and silence of `classify` on messages that nobody wrote for mcpcore.

`python -m bench.classify.unseen` prints the figures of the open sets, by which the tables were made, and of the closed
set if it is there, and writes bench/results/unseen.json. A set is three files: the texts, and the labels of two passes
(see bench/classify/messages/GUIDE.md). "held_out" judges each open set by the phrases that the others bear out, and
"open_half" is the last one, which was drawn and labelled as the closed set was. `--closed TEXTS FIRST SECOND` reads
another closed set. With `-v` it lists the wrong codes of the open sets, and for each phrase how often it is right and
in how many packages; the closed set stays unread while the tables are changed.

A label is the one code that a text has, or "none" where two would do. The passes of the last two sets name those codes
too, in a third column; a code is wrong if neither pass calls it right. "not_the_label" counts the codes that are the
label of neither pass, as the sets without that column do.
"""

from __future__ import annotations

import argparse
import functools
import json
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from unittest.mock import patch

from mcpcore.classification import engine, explain
from mcpcore.classification.matcher import Matcher, bound, mark, rows_for, without_names
from mcpcore.classification.phrases import SECTIONS, compile_phrase

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mcpcore.classification.phrases import PhraseRow

FOLDER = Path(__file__).with_name("messages")
LATER = [
    (FOLDER / f"closed-{number}.jsonl", FOLDER / f"closed-{number}-first.tsv", FOLDER / f"closed-{number}-second.tsv")
    for number in (2, 3, 4, 5, 6, 7, 8)
]
OPEN = [(FOLDER / "texts.jsonl", FOLDER / "first.tsv", FOLDER / "second.tsv"), *LATER[:-1]]
CLOSED = LATER[-1]
PACKAGE = re.compile("[^:]*:@?[^@]*")
RESULTS = Path(__file__).parents[1] / "results" / "unseen.json"
MOST_WRONG, MOST_BELOW_OPEN = 1, 3
PACKAGES, SETS = 3, 2
"""In how many packages of how many sets a form must be right; phrases of other sections state facts."""


class Message(NamedTuple):
    """A text, its package, the labels of both passes, and what `classify` says with the phrase that decides.

    `right` has the codes that a pass calls right beside its label. The package is that of a source such as
    `npm:@hono/node@1.2.3:lib/client.js:12`, in every version.
    """

    text: str
    package: str
    labels: tuple[str, str]
    code: str
    phrase: str
    right: frozenset[str] = frozenset()

    @property
    def agreed(self) -> bool:
        """Whether both passes give the same code, and not silence."""
        return self.labels[0] == self.labels[1] != "none"

    @property
    def wrong(self) -> bool:
        """Whether `classify` gives a code that neither pass calls right."""
        return self.code not in {"none", *self.labels, *self.right}


def messages(files: Sequence[Path]) -> tuple[Message, ...]:
    """Every message of a set with its labels, classified as an exception whose class says nothing."""
    texts, *passes = files
    first, second = (
        {row[0]: row[1:] for row in map(str.split, labels.read_text(encoding="utf-8").splitlines()) if row}
        for labels in passes
    )
    return tuple(
        Message(
            row["text"],
            PACKAGE.findall(row["source"])[0],
            (first[str(row["id"])][0], second[str(row["id"])][0]),
            *_said(row["text"]),
            frozenset(",".join([*first[str(row["id"])][1:], *second[str(row["id"])][1:]]).split(",")),
        )
        for row in map(json.loads, filter(str.strip, texts.read_text(encoding="utf-8").splitlines()))
    )


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
        "not_the_label": sum(message.code not in {"none", *message.labels} for message in labelled),
        "agreed": len(agreed),
        "agreed_coded": answered,
        "agreed_coded_percent": round(100 * answered / max(1, len(agreed)), 2),
        "agreed_right": sum(message.code == message.labels[0] for message in agreed),
    }


def borne_out(sets: Iterable[Iterable[Message]]) -> dict[str, tuple[int, int]]:
    """In how many packages of how many sets each phrase is right."""
    right: dict[str, set[tuple[str, int]]] = defaultdict(set)
    for index, labelled in enumerate(sets):
        for message in labelled:
            if not message.wrong:
                right[message.phrase].add((message.package, index))
    return {phrase: (len(messages), len({index for _, index in messages})) for phrase, messages in right.items()}


@functools.cache
def held_out(sets: tuple[tuple[Message, ...], ...], index: int) -> list[Message]:
    """One set, judged without what only it bears out.

    A form counts if it is right in three packages of two other sets. A word that excludes a code counts if a text of
    another set has it, and would have a wrong code if no word excluded any.
    """
    others = [*sets[:index], *sets[index + 1 :]]
    known = borne_out(others)
    rows = [(row, section.startswith("forms")) for section in SECTIONS for row in rows_for(SECTIONS[section], None)]
    unguarded = _judged([row for row, _ in rows if not _excludes(row)], [m for labelled in others for m in labelled])
    refuted = [(m.code, mark(without_names(bound(m.text)))) for m in unguarded if m.wrong]

    def counts(row: PhraseRow, is_form: bool, phrase: str) -> bool:
        if not _excludes(row):
            return not is_form or known.get(phrase, (0, 0)) >= (PACKAGES, SETS)
        expression = re.compile(compile_phrase(phrase)[0])
        return any(
            (row.silences is None or row.silences.name == code) and expression.search(text) for code, text in refuted
        )

    kept = [
        row._replace(phrases=tuple(phrase for phrase in _by_word(row) if counts(row, is_form, phrase)))
        for row, is_form in rows
    ]
    return _judged(kept, sets[index])


def _excludes(row: PhraseRow) -> bool:
    return row.code is None and not any(re.search("<(status|lone|ended|quoted)>", phrase) for phrase in row.phrases)


def _by_word(row: PhraseRow) -> list[str]:
    """The phrases of a row, one for each single word that excludes a code."""
    return [
        p for phrase in row.phrases for p in (phrase.split("|") if _excludes(row) and " " not in phrase else [phrase])
    ]


def _judged(rows: Iterable[PhraseRow], labelled: Iterable[Message]) -> list[Message]:
    """`labelled` by other rows than those of the table."""
    with patch.object(engine, "_MATCHER", Matcher(rows)):
        said = [(message, *_said(message.text)) for message in labelled]
    return [message._replace(code=code, phrase=phrase) for message, code, phrase in said]


def by_phrase(labelled: Sequence[Message]) -> str:
    """The wrong codes, and how often each phrase is right and wrong."""
    right, wrong = (Counter(m.phrase for m in labelled if m.wrong is blamed) for blamed in (False, True))
    known = borne_out([labelled])
    return "\n".join(
        [f"{m.code} for {m.labels} by {m.phrase!r}: {m.text}" for m in labelled if m.wrong]
        + [
            f"{right[p]:4} right {wrong[p]:4} wrong in {known.get(p, (0, 0))[0]:3} packages  {p or '(silence)'}"
            for p in sorted({*right, *wrong})
        ]
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Print the figures.

    The result is 1 if more than 1 % of a set has a wrong code, or if of the agreed messages of the closed set fewer
    have a code than of those of the open half, less 3 %.
    """
    parser = argparse.ArgumentParser(prog="python -m bench.classify.unseen", description=__doc__)
    parser.add_argument("-v", "--verbose", action="store_true", help="show the open set, phrase by phrase")
    parser.add_argument("--open", action="store_true", help="leave the closed set alone, and write no results")
    parser.add_argument(
        "--closed", nargs=3, type=Path, default=CLOSED, metavar=("TEXTS", "FIRST", "SECOND"), help="the closed set"
    )
    parser.add_argument("--results", type=Path, default=RESULTS, help="the file for the figures")
    options = parser.parse_args(argv)
    sets = tuple(messages(files) for files in OPEN)
    opened = [message for labelled in sets for message in labelled]
    if options.verbose:
        print(by_phrase(opened))
    report = {
        "open": figures(opened),
        "open_half": figures(sets[-1]),
        "held_out": figures([message for index in range(len(sets)) for message in held_out(sets, index)]),
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
    half, closed = report["open_half"], report.get("closed", report["open_half"])
    return (
        max(report["open"]["wrong_percent"], closed["wrong_percent"]) <= MOST_WRONG
        and closed["agreed_coded_percent"] >= half["agreed_coded_percent"] - MOST_BELOW_OPEN
    )


if __name__ == "__main__":
    sys.exit(main())
