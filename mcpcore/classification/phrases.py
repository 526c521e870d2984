"""The little language in which message patterns are written, so that a table of them can be read and printed.

A phrase is words in order, e.g. `rate limit|limits exceeded|reached`. Between two words of the text stand spaces,
underscores or hyphens; a word never begins or ends inside another (`dns` is not in `kaldns`), whatever the case.

- `a|b` is either word; `limit*` any word that begins so; `[word]` may be left out;
- `..` is a gap of up to four words within the same clause: it does not cross a comma, a full stop or a line; `...` is
  one of up to six, which may cross a comma; `..` does not cross a "not" or "never" either;
- `!word` is a guard: the next word is not this one;
- `^` first: the text begins here; `#` is a number, with or without a short unit; `<env>` a name in capitals with
  underscores, such as API_BASE (see `matcher.mark`);
- `<status>` is an HTTP error status, which then gives the code; `<lone>` one that stands by itself: a whole line, in
  brackets or before a colon; `<quoted>` one that a key of JSON has; `<ended>` one that ends the text, behind a colon;
- `{service}` is any word of that name in `VOCABULARY`.
"""

from __future__ import annotations

import functools
import re
from typing import Final

_SEPARATOR: Final = r"[\s_\-]{1,8}"
_GAP: Final = r"(?:[^\S\n]{1,8}(?!not\b|never\b)[^\s]{1,60}(?<![.,;:!?])){0,4}"
_LONG_GAP: Final = r"""[,:)'"]?(?:[^\S\n]{1,8}[^\s]{1,60}(?<![.;!?])){0,6}"""
_START: Final = r"(?<![^\W_])"
_END: Final = r"(?![^\W_])"
_STATUS_SEPARATOR: Final = r"""[\s_\-:=("'\[]{1,8}"""
_NAME_SEPARATOR: Final = r"""[\s:("'`\[]{1,8}"""
_AFTER_NAME: Final = r"""["'`)\]]?[\s_\-]{1,8}"""
_SLOT_SEPARATORS: Final = {"<status>": _STATUS_SEPARATOR, "<env>": _NAME_SEPARATOR, "<quoted>": "", "<ended>": ""}
_MANY: Final = 12
"""From how many words on a guard before the letters is faster than one behind each word's letters."""
_VOCABULARY_NAME = re.compile(r"\{([a-z]+)\}")
_WORD = re.compile(r"[a-z0-9_'./:()&]+\*?\Z")
_SLOTS: Final = {
    "#": r"\d{1,12}(?:ms|min|s|m|h)?",
    "<status>": r"([1-5]\d\d)",
    "<lone>": r"(?:(?<=\A)|(?<=[\n(\[]))([45]\d\d)(?=\s?(?:\Z|[\n)\]:,;]|\s[\-|/]))",
    "<ended>": r":\s?([45]\d\d)(?=\s{0,4}\Z)",
    "<quoted>": r"""["']\s?:\s?["']?([45]\d\d)""",
    "<env>": r"\$[a-z0-9_]{1,80}(?![a-z0-9_])",
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
"""The statuses that a text must have one of: a figure that stands alone counts only where it is a known status."""
VOCABULARY: Final[dict[str, str]] = {
    "service": "service|services|server|servers|api|apis|backend|backends|upstream|host|hosts|site|website|system"
    "|systems|provider|gateway|broker|brokers|node|nodes|cluster|endpoint|peer|daemon|platform|registry"
    "|proxy|remote|portal|origin|replica|replicas|primary|leader|shard|shards|mirror|vendor|carrier"
    "|instance|machine|relay|mainframe",
    "secret": "password|passwords|passphrase|passcode|pin|otp|credentials|credential",
    "credential": "token|tokens|jwt|bearer|password|passphrase|passcode|pin|otp|credential|credentials|signature|hmac"
    "|login|cookie|secret|username",
    "wrong": "wrong|incorrect|bad|mistyped",
    "is": "is|are|was|were|be|been|being|has|have|seems|appears|became",
    "no": "not|isn't|aren't|wasn't|weren't|never",
    "person": "you|user|users|guest|guests|viewer|viewers|member|members|caller|account|accounts|role|principal|bot"
    "|client|visitor|visitors|tenant|identity|group|app|application",
    "entity": "user|users|resource|entity|item|city|country|account|project|repository|repo|customer|order|topic"
    "|session|device|job|task|document|page|file|channel|team|group|product|model|manifest|blob|image|tag|branch|revision|commit"
    "|bucket|object|article|post|comment|issue|ticket|invoice|workspace|thread|message|folder|directory|dataset|record"
    "|row|entry|symbol|ticker|station|queue|mailbox|organization|organisation|instance|cluster|namespace|pod|container"
    "|volume|network|snapshot|package|release|player|team|event|recipient|contact|employee|student|patient|book|recipe"
    "|song|movie|place|address|airport|flight|node|vm|subscription|coupon|template|collection|table|sheet|chart",
    "store": "storage|store|index|bucket|cache|database|db|catalog|catalogue|registry|disk|repo|repository|archive|list"
    "|folder|directory|collection|inventory|system|records|table|vault|library|tree|map|workspace|project|account",
    "per": "second|sec|minute|min|hour|day|week|month",
    "unit": "calls|requests|messages|queries|lookups|searches|emails|tokens|downloads|uploads|posts|invit"
    "es|transactions|events",
    "spent": "exceeded|exhausted|depleted|reached|used|spent|consumed|hit|over",
    "time": "ms|s|sec|secs|second|seconds|m|min|mins|minute|minutes|h|hour|hours|millisecond|milliseconds|days",
}
"""Words that mean the same in many phrases."""

WORDS: Final = re.compile(r"[a-z0-9]+")
"""What counts as a word of a lower-cased text when candidates are looked up."""


class PhraseError(ValueError):
    """A phrase that cannot be read."""


def expand(phrase: str) -> str:
    """A phrase with the words of `VOCABULARY` in place of their names.

    Raises:
        PhraseError: If there is no such name.
    """
    try:
        return _VOCABULARY_NAME.sub(lambda found: VOCABULARY[found[1]], phrase)
    except KeyError as missing:
        raise PhraseError(f"phrase {phrase!r}: VOCABULARY has no words named {missing}") from None


def compile_phrase(phrase: str) -> tuple[str, tuple[frozenset[str], ...]]:
    """The regular expression of a phrase, and sets of words: a matching text has at least one of each, rarest first.

    Raises:
        PhraseError: If the phrase cannot be read, or if no word of it is fixed.
    """
    slots = expand(phrase).lower().split()
    anchored = bool(slots) and slots[0].startswith("^")
    if anchored:
        slots[0] = slots[0][1:]
    pattern = r"\A" if anchored else ""
    separator = ""
    for slot in slots:
        if slot in {"..", "..."}:
            pattern += _GAP if slot == ".." else _LONG_GAP
            continue
        if slot.startswith("!") and separator and all(_WORD.match(word) for word in slot[1:].split("|")):
            pattern += f"(?!{separator}(?:{'|'.join(_body(word) for word in slot[1:].split('|'))}){_END})"
            continue
        optional = slot.startswith("[") and slot.endswith("]")
        words = (slot[1:-1] if optional else slot).split("|")
        if slot in _SLOTS:
            body = _SLOTS[slot] if pattern or slot == "<lone>" else _START + _SLOTS[slot]
        elif all(_WORD.match(word) for word in words):
            if pattern:
                body = "|".join(map(_body, words))
            elif len(words) > _MANY:
                body = f"{_START}(?:{'|'.join(map(_body, words))})"
            else:
                body = "|".join(map(_first, words))
        else:
            raise PhraseError(f"phrase {phrase!r}: cannot read {slot!r}; see the module's docstring for the language")
        before = _SLOT_SEPARATORS.get(slot, separator) if separator else separator
        # An optional word takes the separator that follows it, or the one before it once there is one.
        pattern += f"(?:{before}(?:{body}))?" if optional else f"{before}(?:{body})"
        if optional and not separator:
            raise PhraseError(f"phrase {phrase!r}: the first word cannot be left out")
        separator = _AFTER_NAME if slot == "<env>" else _SEPARATOR
    return pattern + _END, triggers(phrase)


def triggers(phrase: str) -> tuple[frozenset[str], ...]:
    """Sets of words of which a text that the phrase matches has at least one each, rarest first.

    Raises:
        PhraseError: If no word of the phrase is fixed.
    """
    found = map(_triggers_of, phrase.lower().removeprefix("^").split())
    needed = sorted(filter(None, found), key=_rarity, reverse=True)
    if not needed:
        raise PhraseError(f"phrase {phrase!r}: at least one word must be fixed, without * or brackets")
    return tuple(needed)


@functools.lru_cache(maxsize=4_096)
def _triggers_of(slot: str) -> frozenset[str]:
    """What one slot asks of a text; nothing where it may be left out or begins a word. Many phrases share a slot."""
    if slot in _SLOTS:
        return frozenset("$") if slot == "<env>" else _STATUSES.get(slot, frozenset())
    if slot in {"..", "..."} or slot.startswith(("[", "!")):
        return frozenset()
    words = expand(slot).split("|")
    found = [] if any(word.endswith("*") for word in words) else [_trigger(word) for word in words]
    return frozenset(found) if all(found) else frozenset()


def _first(word: str) -> str:
    # The guard stands behind the letters: an expression that begins with letters is searched for much faster.
    letters = re.escape(word.rstrip("*"))
    return _body(word).replace(letters, f"{letters}(?<![^\\W_]{letters})", 1)


def _body(word: str) -> str:
    return re.escape(word[:-1]) + r"[^\W_]{0,40}" if word.endswith("*") else re.escape(word)


def _trigger(word: str) -> str:
    # "doesn't" is two words to the tokeniser: the longest part stands for it.
    return max(WORDS.findall(word), key=len, default="")


def _rarity(words: frozenset[str]) -> tuple[bool, int]:
    if len(words) > _MOST:
        # Statuses: few texts have one, but an index of hundreds of words for each phrase is no gain.
        return (False, 0)
    # A candidate is cheap to reject where its trigger is a rare word: not a stop word, and long.
    return ("$" in words or not _STOP.intersection(words), 99 if "$" in words else min(map(len, words)))


_MOST: Final = 150
_STOP: Final = frozenset(
    ("not", "no", "is", "a", "an", "the", "to", "in", "of", "for", "be", "error", "request", "service", "value", "such",
     "was", "has"),
)  # fmt: skip
