"""The table of phrases, read from phrases.json: which words in a message or a class name mean which code.

`MESSAGES` is read in order and the first match decides. It begins with names and statuses, and with statements that say
nothing. Then come facts, which are sentences of widely used software, and forms, which several unrelated packages bear
out; it ends with the patterns of the reference table.
`NAMES` holds words in class names: those of `UserNotFoundError` are "user not found error". The JSON file holds data
only and parses in half a millisecond; `phrases.py` describes the language of the phrases.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from mcpcore.classification.code_tables import ORACLE
from mcpcore.contract.codes import Code, ErrorCode
from mcpcore.contract.retry import Retry


class PhraseRow(NamedTuple):
    """Phrases with the same meaning, and their code.

    The code is None where the phrase holds an HTTP status, which gives the code, where the statement says nothing, and
    where it only rules out one code.
    """

    code: Code | None
    phrases: tuple[str, ...]
    retry: Retry | None = None
    only: str | None = None
    """The class, as `types` names it, to whose messages the row is limited; such rows are read first."""
    silences: Code | None = None
    """The one code that later rows may not give to a text of this row."""
    contests: bool = False
    """Whether a text says nothing if it also has such a row of another code, with other words."""


_RETRIES: Final = {None: None, "soon": Retry.after(seconds=1), "never": Retry.never()}


def _rows(entries: Iterable[dict[str, Any]], *, contests: bool = False) -> Iterator[PhraseRow]:
    for entry in entries:
        code, silences = (ErrorCode[entry[key]] if key in entry else None for key in ("code", "silences"))
        for only in entry.get("only", (None,)):
            yield PhraseRow(code, tuple(entry["phrases"]), _RETRIES[entry.get("retry")], only, silences, contests)


def _oracle_rows() -> Iterator[PhraseRow]:
    """Oracle's errors as they appear in a message, such as ORA-00054, from the table of their numbers."""
    numbers: dict[ErrorCode, list[str]] = {}
    for number, fact in ORACLE.items():
        numbers.setdefault(fact.code, []).append(f"{number:05}")
    for code, texts in numbers.items():
        yield PhraseRow(code, (f"ora {'|'.join(texts)}",))


_data: Final = json.loads(Path(__file__).with_name("phrases.json").read_bytes())

VOCABULARY: Final[dict[str, str]] = {name: "|".join(words) for name, words in _data["vocabulary"].items()}
"""Words that mean the same in many phrases."""

SECTIONS: Final[dict[str, tuple[PhraseRow, ...]]] = {
    "oracle": tuple(_oracle_rows()),
    # A fact decides whatever form the rest of its text has. The patterns of the reference come last, and deny no code.
    **{name: tuple(_rows(entries, contests=name.startswith("forms"))) for name, entries in _data["messages"].items()},
}
"""The rows for messages by section, in the order in which they are read."""

MESSAGES: Final[tuple[PhraseRow, ...]] = tuple(row for section in SECTIONS.values() for row in section)
"""Every row for messages. Rows with `only` are read first, for their class; then all others, in order."""

NAMES: Final = tuple(_rows(_data["names"]))
"""Class names that decide before the message is read."""

SERVICE_NAMES: Final = tuple(_rows(_data["service_names"]))
"""Names of errors that services send, read before `NAMES`: here a word may mean a state or a refusal, not a mistake."""

VAGUE_NAMES: Final = tuple(_rows(_data["vague_names"]))
"""Class names that count only where the message says nothing."""
