"""Removes the quoted words of a caller from a message: values of ids, names, keys and options decide no code.

`unknown id '429 Too Many Requests'` says that an id is unknown, whatever the id looks like. Quotations of several
words count only next to a verb of speech: `the server returned '429 Too Many Requests'`.
"""

from __future__ import annotations

import re
from typing import Final

_THINGS: Final = frozenset(
    ("alias", "aliases", "arg", "args", "argument", "arguments", "base", "category", "choice", "column", "field",
     "fields", "filename", "filter", "flag", "float", "hostname", "id", "identifier", "ids", "input", "item", "items",
     "key", "keyerror", "keys", "label", "labels", "name", "names", "nickname", "option", "options", "param",
     "parameter", "parameters", "params", "pattern", "prefix", "queries", "query", "slug", "string", "subkey", "tag",
     "tags", "term", "title", "titles", "topic", "user", "username", "users", "value", "values", "word", "words"),
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

_QUOTED: Final = re.compile(
    r"(?<!\w)(?:"
    r"\"[^\"]{2,400}+\"|'(?:[^']|(?<=\w)'(?=\w)){2,400}'|`[^`]{2,400}+`|"
    r"\u201c[^\u201d]{2,400}+\u201d|\u2018[^\u2019]{2,400}+\u2019|\xab[^\xbb]{2,400}+\xbb)(?!\w)"
)
"""A quotation in any marks; an apostrophe within a word does not begin one."""

_QUOTES: Final = re.compile("[\"'`\u201c\u2018\xab]")

_EXPECTED: Final = re.compile(r"\bexpect", re.IGNORECASE)

_AFTER: Final = re.compile(
    r" (?:(?:is|was)(?: not|n't)? (?:a|an|in|one|un|valid|known|allowed|odd|too)|isn't)", re.IGNORECASE
)
"""Words after words of the caller: `'...' is not a valid id`."""

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
        text = _QUOTED.sub(_value_or_speech, text)
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
        or _AFTER.match(text, end) is not None
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
