"""The language of the message patterns, readable in a table; and the table, read from phrases.json.

A phrase is a sequence of words, e.g. `rate limit|limits exceeded|reached`. Words of the text are separated by spaces,
underscores or hyphens and match as a whole (`dns` does not match `kaldns`), in any case. A phrase of several words does
not begin inside a name with underscores.

- `a|b` is either word; `limit*` any word with this beginning; `[word]` is optional;
- `..` is a gap of up to four words within the same clause: it does not cross a comma, a full stop or a line; `...` is
  one of up to six, which may cross a comma; `..` does not cross a "not" or "never" either;
- `!word` is a guard: the next word is not this one; after `!<word>` there is no next word;
- `^` first: the text begins here; `#` is a number, with or without a short unit; `<env>` a name in capitals with
  underscores, such as API_BASE (see `matcher.mark`);
- `<status>` is an HTTP error status, which decides the code; `<lone>` is a status on its own: a whole line, in brackets
  or before a colon; `<quoted>` is the value of a JSON key; `<ended>` comes after a colon at the end of the text;
  `<end>` is the end of the text or of a line, `<word>` any one word, and `<quality>` one that does not end like a
  participle, since "must be called" is about a program and "must be absolute" about a value;
- `<value>` is a value, written after a colon, in quotation marks, or with a digit, a dot, a slash or an
  underscore in it;
- `<clause>` is the beginning of the text, of a quotation, or of a clause after a mark such as a colon; `<named>` comes
  after a quotation, a number or a closing bracket; `<name>` is a
  quotation, `<id>` any text without a space, and `<than>` a comparison such as `>= 2`; `[<name>]` is optional;
- `{service}` is any word of that name in `VOCABULARY`.

`MESSAGES` is read in order and the first match decides. It begins with names and statuses, and with statements that say
nothing. Then come facts, which are sentences of widely used software, and forms, which several unrelated packages bear
out; it ends with the patterns of the reference table. `NAMES` holds words in class names: those of `UserNotFoundError`
are "user not found error". The JSON file holds data only and parses in half a millisecond.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from mcpcore.classification.code_tables import ORACLE, RETRIES
from mcpcore.contract.codes import Code, ErrorCode, Retry


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


def _rows(entries: Iterable[dict[str, Any]], *, contests: bool = False) -> Iterator[PhraseRow]:
    for entry in entries:
        code, silences = (ErrorCode[entry[key]] if key in entry else None for key in ("code", "silences"))
        for only in entry.get("only", (None,)):
            yield PhraseRow(code, tuple(entry["phrases"]), RETRIES[entry.get("retry")], only, silences, contests)


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


_SEPARATOR: Final = r"[\s_\-]{1,8}"
_GAP: Final = r"(?:[^\S\n]{1,8}(?!not\b|never\b)[^\s]{1,60}(?<![.,;:!?])){0,4}"
_LONG_GAP: Final = r"""[,:)'"]?(?:[^\S\n]{1,8}[^\s]{1,60}(?<![.;!?])){0,6}"""
_START: Final = r"(?<![^\W_])"
_END: Final = r"(?![^\W_])"
_STATUS_SEPARATOR: Final = r"""[\s_\-:=("'\[]{1,8}"""
_NAME_SEPARATOR: Final = r"""[\s:("'`\[]{1,8}"""
_AFTER_NAME: Final = r"""["'`)\]]?[\s_\-]{1,8}"""
_SLOT_SEPARATORS: Final = {
    "<status>": _STATUS_SEPARATOR, "<env>": _NAME_SEPARATOR, "<quoted>": "", "<ended>": "", "<end>": "", "<value>": "",
}  # fmt: skip
_MANY: Final = 12
"""The number of words above which one guard before all words is faster than one after each word."""
_VOCABULARY_NAME = re.compile(r"\{([a-z]+)\}")
_WORD = re.compile(r"[a-z0-9_'./:()&]+\*?\Z")
_SLOTS: Final = {
    "#": r"\d{1,12}(?:ms|min|s|m|h)?",
    "<status>": r"([1-5]\d\d)",
    "<lone>": r"(?:(?<=\A)|(?<=[\n(\[]))([45]\d\d)(?=\s?(?:\Z|[\n)\]:,;]|\s[\-|/]))",
    "<ended>": r":\s?([45]\d\d)(?=\s{0,4}\Z)",
    "<quoted>": r"""["']\s?:\s?["']?([45]\d\d)""",
    "<word>": r"[^\W_]{1,40}",
    "<quality>": r"[^\W_]{1,40}(?<!ed|en)",
    "<end>": r"(?=[\s.!:]{0,4}(?:\Z|\n))",
    "<env>": r"\$(?=[a-z0-9]{1,40}_)[a-z0-9_]{1,80}(?![a-z0-9_])",
    "<id>": r"[^\s;,]{1,60}(?<!:)",
    "<name>": r"""["'`][^"'`\n]{0,80}["'`]:?""",
    "<than>": r"[<>]=?\s{0,2}[^\W_]{1,40}",
    "<value>": (
        r"""(?:\s{0,2}[:=]\s?|\s)(?:"[^"\n]{0,80}"|'[^'\n]{0,80}'|`[^`\n]{0,80}`|\((?=["'`]))|\s?[:=]\s?"""
        r"""[^\s:"'`]{1,60}?(?=[.,;]?\s{0,2}\Z|[.,;]\s|\s\()|\s(?:[-+#@]?\d|[^\s:/._]{1,40}[/._](?=\w))[^\s:]{0,60}(?=:|\s|\Z)"""
    ),
}
_KNOWN: Final = frozenset(
    map(
        str,
        (400, 401, 402, 403, 404, 405, 406, 408, 409, 410, 411, 412, 413, 414, 415, 416, 417, 421, 422, 423, 424, 425,
         426, 428, 429, 431, 451, 500, 501, 502, 503, 504, 505, 506, 507, 508, 510, 511, 520, 521, 522, 523, 524, 525,
         526, 529),
    )
)  # fmt: skip
_STATUSES: Final = {
    "<status>": frozenset(map(str, range(100, 600))), "<lone>": _KNOWN, "<quoted>": _KNOWN, "<ended>": _KNOWN,
}  # fmt: skip
"""The statuses of which a text must contain one; a number on its own counts only if it is a known status."""
WORDS: Final = re.compile(r"[a-z0-9]+")
"""A word of a text in lower case, for the index of phrases."""


class PhraseError(ValueError):
    """A phrase has a syntax error."""


def expand(phrase: str) -> str:
    """A phrase with the words of `VOCABULARY` instead of their names.

    Raises:
        PhraseError: If a name is unknown.
    """
    try:
        return _VOCABULARY_NAME.sub(lambda name: VOCABULARY[name[1]], phrase)
    except KeyError as missing:
        raise PhraseError(f"phrase {phrase!r}: VOCABULARY has no words named {missing}") from None


def compile_phrase(phrase: str) -> tuple[str, tuple[frozenset[str], ...]]:
    """The regular expression of a phrase, and sets of words of which a match has at least one each, rarest first.

    Raises:
        PhraseError: If the phrase has a syntax error, or no fixed word.
    """
    slots = expand(phrase).lower().removeprefix("^").split()
    first = _first
    if slots and slots[0] in _BEGINNINGS:
        first = functools.partial(_first_after, _BEGINNINGS[slots.pop(0)])
    pattern = r"\A" if phrase.startswith("^") else ""
    separator = ""
    for slot in slots:
        if slot in {"..", "..."}:
            pattern += _GAP if slot == ".." else _LONG_GAP
            continue
        if (
            slot.startswith("!")
            and separator
            and all(word == "<word>" or _WORD.match(word) for word in slot[1:].split("|"))
        ):
            pattern += f"(?!{separator}(?:{'|'.join(_body(word) for word in slot[1:].split('|'))}){_END})"
            continue
        optional = slot.startswith("[") and slot.endswith("]")
        content = slot[1:-1] if optional else slot
        words = content.split("|")
        if content in _SLOTS:
            body = _SLOTS[content] if pattern or slot == "<lone>" else _START + _SLOTS[content]
        elif all(_WORD.match(word) for word in words):
            body = "|".join(map(_body, words)) if len(words) <= _MANY else _by_letter(words)
            if not pattern:
                body = f"{_START}(?:{body})" if len(words) > _MANY else "|".join(map(first, words))
        else:
            raise PhraseError(f"phrase {phrase!r}: cannot read {slot!r}; see the module's docstring for the language")
        before = _SLOT_SEPARATORS.get(slot, separator) if separator else separator
        # An optional word includes the separator before it.
        pattern += f"(?:{before}(?:{body}))?" if optional else f"{before}(?:{body})"
        if optional and not separator:
            raise PhraseError(f"phrase {phrase!r}: the first word cannot be left out")
        separator = _AFTER_NAME if slot == "<env>" else _SEPARATOR
    return pattern + _END, triggers(phrase)


def triggers(phrase: str) -> tuple[frozenset[str], ...]:
    """Sets of words of which each matching text has at least one, rarest first.

    Raises:
        PhraseError: If the phrase has no fixed word.
    """
    sets = map(_triggers_of, phrase.lower().removeprefix("^").split())
    needed = sorted(filter(None, sets), key=_rarity, reverse=True)
    if not needed:
        raise PhraseError(f"phrase {phrase!r}: at least one word must be fixed, without * or brackets")
    return tuple(needed)


@functools.lru_cache(maxsize=4_096)
def _triggers_of(slot: str) -> frozenset[str]:
    """The words that one slot requires; empty if it is optional or has a prefix. Many phrases share a slot."""
    if slot in _SLOTS or slot in _BEGINNINGS:
        return frozenset("$") if slot == "<env>" else _STATUSES.get(slot, frozenset())
    if slot in {"..", "..."} or slot.startswith(("[", "!")):
        return frozenset()
    words = expand(slot).split("|")
    if any(word.endswith("*") for word in words):
        return frozenset()
    # "doesn't" is two words for the tokeniser; the longer one is used.
    required = [max(WORDS.findall(word), key=len, default="") for word in words]
    return frozenset(required) if all(required) else frozenset()


def _first(word: str) -> str:
    # The guard comes after the letters: a search is much faster if the expression begins with letters.
    letters = re.escape(word.rstrip("*"))
    return _body(word).replace(letters, f"{letters}(?<![^\\W_]{letters})", 1)


def _first_after(beginning: str, word: str) -> str:
    letters = re.escape(word)
    return letters + beginning.replace("@", letters)


_BEGINNINGS: Final = {
    "<clause>": r"""(?:(?<=\A@)|(?<=[:;.!?(\["'`\n$]@)|(?<=[:;.!?] @))""", "<named>": r"""(?<=[\d"'`)\]] @)""",
}  # fmt: skip
"""What comes before the first word of a phrase, by the slot that says so; `@` is that word."""


def _by_letter(words: list[str]) -> str:
    # Python tries one alternative after the other, so one for each letter is several times as fast.
    return "|".join(
        f"{re.escape(letter)}(?:{'|'.join(_body(word[1:]) for word in words if word[0] == letter)})"
        for letter in sorted({word[0] for word in words})
    )


def _body(word: str) -> str:
    return _SLOTS.get(word) or (re.escape(word[:-1]) + r"[^\W_]{0,40}" if word.endswith("*") else re.escape(word))


def _rarity(words: frozenset[str]) -> tuple[bool, int]:
    if len(words) > _MOST:
        # Statuses: few texts have one, but hundreds of index entries for each phrase would not pay off.
        return (False, 0)
    # Rare words reject most phrases early: long ones, and not stop words.
    return ("$" in words or not _STOP.intersection(words), 99 if "$" in words else min(map(len, words)))


_MOST: Final = 150
_STOP: Final = frozenset(
    ("not", "no", "is", "a", "an", "the", "to", "in", "of", "for", "be", "error", "request", "service", "value", "such",
     "was", "has"),
)  # fmt: skip
