"""Matches messages with the table of phrases, in a time that grows with the message only."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from mcpcore.classification.callers import without_values
from mcpcore.classification.phrases import compile_phrase, triggers
from mcpcore.classification.status import STATUS_RETRY, code_for_status

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from mcpcore.classification.phrase_table import PhraseRow
    from mcpcore.contract.codes import Code
    from mcpcore.contract.retry import Retry

HEAD: Final = 1000
TAIL: Final = 500
"""The characters of a message that are read, at its beginning and its end."""


class TextMatch(NamedTuple):
    """A match: the code, its advice, the phrase, and the HTTP status if the text has one."""

    code: Code
    retry: Retry | None
    phrase: str
    status: int | None


class Matcher:
    """Rows of phrases, indexed by word: the cost grows with the text, not with the table."""

    __slots__ = ("_by_word", "_rows")

    def __init__(self, rows: Iterable[PhraseRow]) -> None:
        """Take `rows`; they are compiled with the first text, so that the import stays cheap."""
        self._rows = tuple(rows)
        self._by_word: dict[str, list[_Lazy]] | None = None

    def _compile(self) -> dict[str, list[_Lazy]]:
        by_word: dict[str, list[_Lazy]] = {}
        phrases = ((row, phrase) for row in self._rows for phrase in row.phrases)
        for order, (row, phrase) in enumerate(phrases):
            first, *others = triggers(phrase)
            lazy = _Lazy(order, row, phrase, tuple(others))
            for word in first:
                by_word.setdefault(word, []).append(lazy)
        self._by_word = by_word
        return by_word

    def find(self, text: str, words: frozenset[str] | None = None) -> TextMatch | None:
        """The first row that matches a bounded text in lower case; `words` are its `words_of`, if known."""
        by_word = self._compile() if self._by_word is None else self._by_word
        candidates: list[_Lazy] = []
        if words is None:
            words = words_of(text)
        # Not `words.intersection(by_word)`, which would visit the whole table.
        for word in words:
            for candidate in by_word.get(word, ()):
                for needed in candidate.needed:
                    if words.isdisjoint(needed):
                        break
                else:
                    candidates.append(candidate)
        if len(candidates) > 1:
            candidates.sort(key=_order)
        last: _Lazy | None = None
        for candidate in candidates:
            if candidate is last:
                continue  # reached by two words of the text
            last = candidate
            match = candidate.search(text)
            if match is not None:
                row = candidate.row
                if row.code is not None:
                    return TextMatch(row.code, row.retry, candidate.phrase, None)
                status = int(match[1])
                if status >= 300:
                    return TextMatch(code_for_status(status), STATUS_RETRY.get(status), candidate.phrase, status)
        return None


_LETTERS: Final = bytes(c if chr(c) in "abcdefghijklmnopqrstuvwxyz0123456789" else 32 for c in range(256))
_SHAPE: Final = bytes(
    97 if 97 <= c <= 122 else 65 if 65 <= c <= 90 else 48 if 48 <= c <= 57 else 95 if c == 95 else 32
    for c in range(256)
)
"""Maps each byte to its kind: a small letter, a capital, a digit, an underscore, or anything else."""


def words_of(text: str) -> frozenset[str]:
    """The words of a text in lower case, by which phrases are found; a dollar marks a name like API_BASE."""
    # Three passes in C are faster than one regular expression.
    words = text.encode("ascii", "replace").translate(_LETTERS).decode("ascii").split()
    if "$" in text:
        words.append("$")
    return frozenset(words)


class _Lazy:
    """A phrase that is compiled on first use, since most are never needed."""

    __slots__ = ("needed", "order", "phrase", "row", "search")

    search: Callable[[str], re.Match[str] | None]

    def __init__(self, order: int, row: PhraseRow, phrase: str, needed: tuple[frozenset[str], ...]) -> None:
        self.needed = needed
        self.order = order
        self.row = row
        self.phrase = phrase
        self.search = self._first

    def _first(self, text: str) -> re.Match[str] | None:
        self.search = search = re.compile(compile_phrase(self.phrase)[0]).search
        return search(text)


def _order(candidate: _Lazy) -> int:
    return candidate.order


def prepare(text: str) -> str:
    """A message in the form that phrases expect: bounded, in lower case, with plain apostrophes, without SQL."""
    return fold(bound(text))


_ENVIRONMENT = re.compile(
    r"(?<![A-Za-z0-9_$])(?=[A-Z0-9]{1,40}_)[A-Z][A-Z0-9]{0,39}(?:_[A-Z0-9]{1,40}){1,8}(?![A-Za-z0-9_])"
)


def bound(text: str) -> str:
    """The part of a message that is read: its ends, without an SQL statement."""
    if len(text) > HEAD + TAIL:
        text = f"{text[:HEAD]}\n{text[-TAIL:]}"
    statement = text.find("\n[SQL: ")
    return text[:statement] if statement >= 0 else text


_PLAIN: Final = str.maketrans({"\u2019": "'", "\u2018": "'", "\u00df": "ss", "\u2013": "-", "\u2014": "-"})


def fold(text: str) -> str:
    """A bounded message in lower case, with plain apostrophes and dashes, and letters without accents."""
    text = text.lower()
    if text.isascii():
        return text
    import unicodedata  # most messages never need it

    parts = unicodedata.normalize("NFKD", text.translate(_PLAIN)[: HEAD + TAIL + 1])
    return "".join(letter for letter in parts if not unicodedata.combining(letter))[: HEAD + TAIL + 1]


_QUOTED = re.compile(r"""(?<![\w"'`])(["'`])(?=[A-Za-z])((?:[^"'`\n{}\[\]=:]|:(?=\w)){2,80})\1(?![\w"'`:=])""")
_ADDRESS = re.compile(
    r"(\b[a-z][a-z0-9+]{1,9}://)[^\s\"'<>]{1,300}|((?<![\w./])/)(?:[\w.@+-]{1,80}/){1,12}[\w.@+-]{0,80}|((?<![\w-])--)[a-z][\w-]{0,40}"
)
_GOES_ON = re.compile(r" [a-z]")
_SAYS: Final = frozenset(
    ("with", "said", "says", "say", "saying", "error", "message", "reason", "returned", "replied", "answered",
     "because", "got", "responded", "response", "status", "exception", "failed", "reported", "reads",
     "received", "detail"),
)  # fmt: skip
"""Words before quoted speech; other quotations hold the name of a thing."""


def without_names(text: str) -> str:
    """A message without quoted names, addresses, paths and options, whose words may mean anything.

    Quotations after a colon or a word such as "said" stay, since they are the message of another program.
    """
    text = without_values(text)
    if "/" in text or "--" in text:
        text = _ADDRESS.sub(_shortened, text)
    return _QUOTED.sub(_name_or_speech, text) if '"' in text or "'" in text or "`" in text else text


def with_speech(text: str) -> str | None:
    """A message without quoted single words, but with longer quotations; None if it has no longer quotation."""
    text = without_values(text)
    quotations = [quoted[2] for quoted in _QUOTED.finditer(text)] if '"' in text or "'" in text or "`" in text else []
    if not any(" " in words for words in quotations):
        return None
    return _QUOTED.sub(lambda quoted: quoted[0] if " " in quoted[2] else _name_or_speech(quoted), text)


def _shortened(match: re.Match[str]) -> str:
    return f"{match[1] or match[2] or match[3]}x"


def _name_or_speech(found: re.Match[str]) -> str:
    text, start = found.string, found.start()
    before = text[max(0, start - 20) : start].rstrip()
    last = before.rpartition(" ")[2].lower()
    if not last:
        return found[0] if found.end() == len(text) else _UNNAMED[found[1]]
    if last in _SAYS or (last == "code" and before.lower().endswith(_CODES)):
        return found[0]
    if last[-1] in ":={[(,>":
        goes_on = last[-1] == ":" and found[2].isalnum() and _GOES_ON.match(text, found.end())
        return _UNNAMED[found[1]] if goes_on else found[0]
    return _UNNAMED[found[1]]


_UNNAMED: Final = {mark: f"{mark}x{mark}" for mark in "\"'`"}
_CODES: Final = ("error code", "status code", "reason code", "with code")


_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|_")
_LETTERS_ONLY = re.compile(r"[A-Za-z]{4,82}")
_HUMP = re.compile(r"[a-z][A-Z][A-Za-z]")
_CAMEL_WORDS = 8


def mark(text: str) -> str:
    """A bounded message, prepared for the phrases of the table.

    It is folded, gets a dollar before each name like API_BASE, and the words of names like OrderNotFound at its end,
    so far apart that no phrase spans the message and a name.
    """
    shape = text.encode("ascii", "replace").translate(_SHAPE)
    names = [word for word in _LETTERS_ONLY.findall(text) if _HUMP.search(word, 1)] if b"aA" in shape else ()
    plain = fold(_ENVIRONMENT.sub(r"$\g<0>", text) if b"A_" in shape or b"0_" in shape else text)
    return plain + "".join(f"\n;\n{name_words(name)}" for name in names[:_CAMEL_WORDS]) if names else plain


def name_words(name: str) -> str:
    """The name of a class as words: "HTTPNotFoundError" becomes "http not found error"."""
    return _CAMEL.sub(" ", name[-200:]).lower()


def rows_for(rows: Sequence[PhraseRow], only: str | None) -> list[PhraseRow]:
    """The rows for one class, or those for any class if `only` is None."""
    return [row for row in rows if row.only == only]
