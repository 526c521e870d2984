"""Matches messages with the table of phrases, in a time that grows with the message only."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple

from mcpcore.classification.phrases import PhraseRow, compile_phrase, triggers
from mcpcore.classification.status import STATUS_RETRY, code_for_status
from mcpcore.contract.codes import Code, ErrorCode, Retry

_THINGS: Final = frozenset(
    ("alias", "aliases", "arg", "args", "argument", "arguments", "attribute", "base", "branch", "category", "choice",
     "column", "field", "fields", "filename", "filter", "flag", "float", "hostname", "id", "identifier", "ids",
     "input", "item", "items", "key", "keyerror", "keys", "label", "labels", "name", "names", "nickname", "option",
     "options", "param", "parameter", "parameters", "params", "pattern", "prefix", "property", "queries", "query",
     "setting", "settings", "slug", "string", "subkey", "tag", "tags", "term", "title", "titles", "topic", "user",
     "username", "users", "value", "values", "variable", "word", "words"),
)  # fmt: skip
"""Nouns before words of the caller, also in the errors of Python (`KeyError: '...'`, `base 10: '...'`,
`string to float: '...'`). A message, a reason, a status or a response does not hold them."""

_ODD: Final = frozenset(
    ("bad", "duplicate", "illegal", "invalid", "malformed", "such", "unexpected", "unknown", "unrecognised",
     "unrecognized", "unsupported"),
)  # fmt: skip
"""Adjectives for words of the caller."""

_LEADS: Final = frozenset(("as", "is", "of", "to", "was", "with"))
"""Words that may come between those words and a quotation."""

_SPEECH: Final = frozenset(
    ("answer", "answered", "answers", "because", "body", "code", "detail", "details", "due", "error", "errors",
     "exception", "failed", "failure", "fails", "http", "message", "messages", "raised", "reason", "replied", "replies",
     "reply", "reported", "reports", "responded", "responds", "response", "returned", "returns", "said", "say",
     "saying", "says", "status", "warning"),
)  # fmt: skip
"""Words before the message of another program."""

_ENDED: Final = frozenset(
    ("aborted", "broke", "closed", "crashed", "denied", "ended", "exited", "refused", "rejected", "stopped",
     "terminated"),
)  # fmt: skip
"""Words before such a message with `in` or `with` in between: `the call ended in 'deadline exceeded'`."""

_RECEIVED: Final = frozenset(("got", "received"))
"""Words before both kinds of quotation."""

_VALUES: Final = _THINGS | _ODD | {"called", "matching", "named"}

_QUOTED_VALUE: Final = re.compile(
    r"[\"'`\u201c\u2018\xab](?<!\w.)(?:"
    r"(?<=\")[^\"]{2,400}+\"|(?<=')(?:[^']|(?<=\w)'(?=\w)){2,400}'|(?<=`)[^`]{2,400}+`|"
    r"(?<=\u201c)[^\u201d]{2,400}+\u201d|(?<=\u2018)[^\u2019]{2,400}+\u2019|(?<=\xab)[^\xbb]{2,400}+\xbb)(?!\w)"
)
"""A quotation in any marks; an apostrophe within a word does not begin one. The expression begins with the marks, since
a search for characters is much faster than one for a position between them."""

_QUOTES: Final = re.compile("[\"'`\u201c\u2018\xab]")

_EXPECTED: Final = re.compile(r"\bexpect", re.IGNORECASE)

_SPOKEN: Final = re.compile(
    r" (?:response|reply|answer|status|error|for url|(?:was |were )?(?:returned|received) (?:by|from)|"
    r"(?:was|were) (?:returned|received))\b",
    re.IGNORECASE,
)
"""Words after the message of another program: `unexpected '503 Service Unavailable' response`."""

_HEARD: Final = re.compile(r" (?:from|when|while)\b", re.IGNORECASE)
"""Words after both kinds of quotation: `unexpected '503 Service Unavailable' from x.example`."""

_COLON: Final = re.compile(r"[:=] ?(?![\"'`\s])")
_STATUS_LINE: Final = re.compile(r"[1-5]\d\d [A-Za-z][^\n,;]{0,200}")
_REST: Final = re.compile(r"[^\n:;,({\"'`]{3,80}\Z")

_LOOKS_BACK: Final = 60
_SHORT: Final = 12
"""The offset up to which a quotation follows the first word of a text."""


def without_values(text: str) -> str:
    """`text` with an `x` instead of each quoted value of the caller."""
    if _QUOTES.search(text) is not None:
        text = _QUOTED_VALUE.sub(_value_or_speech, text)
    return _without_unquoted(text) if ":" in text or "=" in text else text


def _without_unquoted(text: str) -> str:
    """`text` without values in no quotation marks: everything after `unknown id:`, and `value = 429 Too Many`.

    A status line after another noun and a colon is a response: `failed to load users: 503 Service Unavailable`.
    """
    for mark in _COLON.finditer(text):
        thing, odd = _last_words(text, mark.start())
        if thing not in _THINGS:
            continue
        value = _STATUS_LINE.match(text, mark.end()) if odd in _ODD or text[mark.start()] == "=" else None
        if value is None and odd in _ODD:
            value = _REST.match(text, mark.end())
        if value is not None:
            return f"{text[: mark.end()]}x{text[value.end() :]}"
    return text


def _last_words(text: str, end: int) -> tuple[str, str]:
    """The last word before `end`, and the one before it; in lower case, and empty if `text` has no such word."""
    words = text[max(0, end - _LOOKS_BACK) : end].rstrip(" :=([").lower().rsplit(None, 2)
    last = words[-1] if words else ""
    if not last.isalpha():
        # `x.id`, `user_name`, `(key`: what follows the last mark.
        at = len(last)
        while at and last[at - 1].isalpha():
            at -= 1
        last = last[at:]
    return last, words[-2] if len(words) > 1 else ""


def _value_or_speech(quotation: re.Match[str]) -> str:
    text, start, end = quotation.string, quotation.start(), quotation.end()
    last, before = _last_words(text, start)
    if before in _ENDED and last in ("in", "with"):
        return quotation[0]
    if last in _LEADS:
        last, before = before, ""
    if last in _SPEECH or (last in _THINGS and before in _SPEECH):
        return quotation[0]
    if not (
        last in _VALUES
        # The value of a field that is named: `invalid parameter 'q': '...'`
        or (not last and before in _THINGS)
        or (last in _RECEIVED and (start < _SHORT or _EXPECTED.search(text) is not None))
        or (last not in _RECEIVED and _is_part_of_a_sentence(quotation))
    ):
        return quotation[0]
    if last not in _THINGS and (
        _SPOKEN.match(text, end) is not None
        or ((last in _ODD or last in _RECEIVED or not start) and _HEARD.match(text, end) is not None)
    ):
        return quotation[0]
    # The marks stay, since phrases may need them.
    return f"{quotation[0][0]}x{quotation[0][-1]}"


def _is_part_of_a_sentence(quotation: re.Match[str]) -> bool:
    """Whether several words are quoted as the subject or object of a sentence: after a word, without a colon."""
    text, start, end = quotation.string, quotation.start(), quotation.end()
    if " " not in quotation[0]:
        return False
    if start == 0:
        return text[end : end + 1] == " "
    return start > 1 and text[start - 1] == " " and text[start - 2].isalpha()


_WEAK: Final = (ErrorCode.INVALID_PARAMS, ErrorCode.INVALID_REQUEST)
"""Codes of statuses such as 400, with which services send any failure: the words beside such a number say more."""

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
        """The first row that matches a bounded text in lower case; `words` are its `words_of`, if known.

        "Authentication failed: timeout of 30 s exceeded" has two codes, and the text does not tell the cause. Of two
        phrases for the same words, such as "no such host" and "no such", the first decides.
        """
        by_word = self._compile() if self._by_word is None else self._by_word
        candidates: dict[int, _Lazy] = {}  # two words of the text may lead to one phrase
        if words is None:
            words = words_of(text)
        # Not `words.intersection(by_word)`, which would visit the whole table.
        for word in words:
            for candidate in by_word.get(word, ()):
                for needed in candidate.needed:
                    if words.isdisjoint(needed):
                        break
                else:
                    candidates[candidate.order] = candidate
        weak: TextMatch | None = None
        decided: tuple[TextMatch, int, int] | None = None
        silenced: tuple[Code, ...] = ()
        for order in sorted(candidates):
            candidate = candidates[order]
            row = candidate.row
            # Once a code is decided, only a row of another one can change anything.
            counts = row.code not in silenced and (
                decided is None or (row.contests and row.code is not decided[0].code)
            )
            match = candidate.search(text) if counts else None
            # `API_DIRECTORY not found` is about no directory: a match of several words does not begin inside a name.
            if match is not None and (
                "_" not in text
                or row.code is None
                or " " not in match[0]
                or text[match.start() - 1 : match.start()] != "_"
            ):
                if row.silences is not None:
                    silenced += (row.silences,)
                    continue
                if decided is not None:
                    if row.code is None:
                        break  # what follows in the table may say nothing of such a text
                    if not (decided[1] < match.end() and match.start() < decided[2]):
                        return None
                    continue
                if row.code is not None:
                    decided = TextMatch(row.code, row.retry, candidate.phrase, None), *match.span()
                    if row.contests:
                        continue
                    break
                if match.lastindex is None:
                    return weak  # a statement that says nothing, whatever words it has
                status = int(match[1])
                if status >= 300 and weak is None:
                    by_status = TextMatch(code_for_status(status), STATUS_RETRY.get(status), candidate.phrase, status)
                    if by_status.code not in _WEAK:
                        return by_status
                    weak = by_status
        return weak if decided is None else decided[0]


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


_ENVIRONMENT = re.compile(
    r"(?<![A-Za-z0-9_$])(?=[A-Z0-9]{1,40}_)[A-Z][A-Z0-9]{0,39}(?:_[A-Z0-9]{1,40}){1,8}(?![A-Za-z0-9_])"
)

_LEAD: Final = re.compile(r"\s*error:\s+", re.IGNORECASE)


def bound(text: str) -> str:
    """The part of a message that is read: its ends, without an SQL statement and without "Error:" in front."""
    if len(text) > HEAD + TAIL:
        text = f"{text[:HEAD]}\n{text[-TAIL:]}"
    text = text.partition("\n[SQL: ")[0]
    return text[lead.end() :] if (lead := _LEAD.match(text)) else text


_PLAIN: Final = str.maketrans({"\u2019": "'", "\u2018": "'", "\u00df": "ss", "\u2013": "-", "\u2014": "-"})


def fold(text: str) -> str:
    """A bounded message in lower case, with plain apostrophes and dashes, and letters without accents."""
    text = text.lower()
    if text.isascii():
        return text
    import unicodedata  # most messages never need it

    parts = unicodedata.normalize("NFKD", text.translate(_PLAIN)[: HEAD + TAIL + 1])
    return "".join(letter for letter in parts if not unicodedata.combining(letter))[: HEAD + TAIL + 1]


_QUOTED = re.compile(r"""(["'`])(?<![\w"'`].)(?=[A-Za-z])((?:[^"'`\n{}\[\]=:]|:(?=\w)){2,80})\1(?![\w"'`:=])""")
_LONG = re.compile(r"""["'`](?=[^"'`\n ]{1,80}+ )[^"'`\n]{2,80}+["'`]""")
_ADDRESS = re.compile(
    r"(\b[a-z][a-z0-9+]{1,9}://)[^\s\"'<>]{1,300}|((?<![\w./])/)(?:[\w.@+-]{1,80}/){1,12}[\w.@+-]{0,80}|"
    r"((?<![\w-])--)[a-z][\w-]{0,40}|((?<![\w#&])#)[a-z][\w-]{0,80}|(?<![\w./])(?:\.{1,2}/)?\w{1,80}/(?:\w{1,80}/){0,8}\w{0,80}-[\w-]{1,80}"
)


def without_names(text: str) -> str:
    """A message without quoted names, addresses, paths and options, whose words may mean anything.

    Quotations after a colon stay, since they are the message of another program.
    """
    text = without_values(text)
    if "/" in text or "--" in text or "#" in text:
        text = _ADDRESS.sub(lambda match: f"{match[match.lastindex] if match.lastindex else ''}x", text)
    return _QUOTED.sub(_name_or_speech, text) if '"' in text or "'" in text or "`" in text else text


def with_speech(text: str) -> str | None:
    """A message without quoted single words, but with longer quotations; None if it has no longer quotation."""
    if _LONG.search(text) is None:
        return None
    text = without_values(text)
    if not any(" " in quoted[2] for quoted in _QUOTED.finditer(text)):
        return None
    return _QUOTED.sub(lambda quoted: quoted[0] if " " in quoted[2] else _name_or_speech(quoted), text)


def _name_or_speech(quotation: re.Match[str]) -> str:
    text, start = quotation.string, quotation.start()
    before = text[max(0, start - 20) : start].rstrip()
    last = before.rpartition(" ")[2].lower()
    if not last:
        return quotation[0] if quotation.end() == len(text) else _UNNAMED[quotation[1]]
    says = last[-1] in ":={[(,>" or (last == "code" and before.lower().endswith(_CODES))
    return quotation[0] if says else _UNNAMED[quotation[1]]


_UNNAMED: Final = {mark: f"{mark}x{mark}" for mark in "\"'`"}
_CODES: Final = ("error code", "status code", "reason code", "with code")


_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|_")
_NAME = re.compile(r"(?:\A|(?<=[.(])|(?<=: ))[A-Z][A-Za-z]{3,81}(?=[:)(]|\Z)")
_HUMP = re.compile(r"[a-z][A-Z][A-Za-z]")
_CAMEL_WORDS = 8


def mark(text: str) -> str:
    """A bounded message, prepared for the phrases of the table.

    It is folded, gets a dollar before each name like API_BASE, and the words of names like OrderNotFound at its end,
    so far apart that no phrase spans the message and a name.
    """
    shape = text.encode("ascii", "replace").translate(_SHAPE)
    names = [word for word in _NAME.findall(text) if _HUMP.search(word, 1)] if b"aA" in shape else ()
    plain = fold(_ENVIRONMENT.sub(r"$\g<0>", text) if b"A_" in shape or b"0_" in shape else text)
    return plain + "".join(f"\n;\n{name_words(name)}" for name in names[:_CAMEL_WORDS]) if names else plain


def name_words(name: str) -> str:
    """The name of a class as words: "HTTPNotFoundError" becomes "http not found error"."""
    return _CAMEL.sub(" ", name[-200:]).lower()


def rows_for(rows: Sequence[PhraseRow], only: str | None) -> list[PhraseRow]:
    """The rows for one class, or those for any class if `only` is None."""
    return [row for row in rows if row.only == only]
