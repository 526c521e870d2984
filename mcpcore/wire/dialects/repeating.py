"""Words about another call in any text of a failed answer; `fields` reads what its fields say."""

from __future__ import annotations

import re
from typing import Final

_FORBIDS: Final = re.compile(
    r"\b(?:do not|don'?t|never|must not|should not|shouldn't|cannot|can't|not safe to|unsafe to|not to|avoid) "
    r"(?:(?:be|attempt to|try to|(?!immediate|quick|rapid|frequent|repeated|constant|continuous)\w{1,20}ly) ){0,2}"
    r"(?:re-?(?:try|tried|trying|submit|submitted|send|sent|run)\b|repeat(?:ed|ing)?\b"
    r"|(?:repeat|call|submit|send|try)\b[^.\n]{0,40}?\b(?:again|twice)\b)"
    r"(?![^.\n;:,]{0,40}?\b(?:(?:for|before|within|in|until) (?:at least |about |another |the next )?\d"
    r"|more than|immediately|right away|yet\b|too (?:often|soon|quickly|fast)))"
    r"|\b(?:not|non)[-_ ]?re-?(?:try-?able|triable|peatable)|\bretry(?:able)?[\"']?\s?[:=]\s?(?:false|no|never)\b"
    r"|\bretry(?:ing)? (?:will not|won't|does not|doesn't|cannot|can't) "
    r"|\bretr(?:y|ying|ies) (?:is |are |would be )?(?:not|never|pointless|useless|unsafe|dangerous|disabled|futile)\b"
    r"|\bno (?:point|use|sense) (?:in )?(?:retrying|trying again|calling)|\bstop (?:retrying|calling)\b"
    r"|\bno retr(?:y|ies)(?: (?:is |are )?(?:allowed|possible|permitted)|[.!]?$)",
    re.IGNORECASE | re.MULTILINE,
)
"""Words with which a server forbids another call, and not only one too soon."""

# Words with which a server asks for the same call after a while, and not after something was changed.
_WAITS: Final = re.compile(
    r"\bwait\b[^.;\n]{0,60}?\b(?:again|retry|retrying)\b|\b(?:again|retry) (?:later|shortly|soon|in|after)\b",
    re.IGNORECASE,
)

_MAX_SEARCHED: Final = 20_000
"""Characters of a text that are searched."""

_BETWEEN: Final = re.compile(r"(?:[^\S\n]|[*_`~])+|(?<=[a-z])\n(?=[a-z])")
"""What may be between two words of a sentence: space, the marks of Markdown, and the end of a wrapped line."""


def forbids_retry(text: str) -> bool:
    """Whether a text says that the call must not be made again; one that says for how long does not."""
    return _FORBIDS.search(_BETWEEN.sub(" ", text[:_MAX_SEARCHED].replace("\u2019", "'"))) is not None


def asks_to_wait(text: str) -> bool:
    """Whether a text asks for the same call after a while."""
    return _WAITS.search(_BETWEEN.sub(" ", text[:_MAX_SEARCHED])) is not None
