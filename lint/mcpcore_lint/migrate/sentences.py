"""Makes a whole sentence of a message that leaves out its verb, its article or its subject.

Each form is one whose missing words are certain. A message in another form does not change.
"""

from __future__ import annotations

import re
from typing import Final

_HOLE: Final = r"['\"`]?\{\w+\}['\"`]?"
VERB: Final = (
    r"(?:is|are|was|were|be|been|has|have|had|do|does|did|must|can|could|cannot|may|might|should|will|would|needs?"
    r"|requires?|exists?|failed|returned)\b"
)
_NOUNS: Final = rf"(?:(?!{VERB})[\w'\"`{{}}/.-]+ )+?"
"""Words without a verb that is known, each with the blank behind it."""
_TAIL: Final = re.compile(
    r"(?:,? (?:but )?(?:got|received):? [^.;]*\{\w+\}[^.;]*"
    rf"|\s*[(\[][^()\[\]]*\{{\w+\}}[^()\[\]]*[)\]]|(?<=[\w)])(?:: ?|=){_HOLE}(?: [a-z]+)?)+\.$"
)
"""Values at the end, which the message of a failure shows."""
_OPEN: Final = re.compile(
    r"\b(?:of|to|in|are|is|be|from|with|for|at|by|than|as|between|and|or|includes?|either|following|the)$"
)
"""Words that need what follows."""
_HAPPENED: Final = frozenset(
    {
        "found",
        "specified",
        "provided",
        "given",
        "returned",
        "supplied",
        "stored",
        "selected",
        "blocked",
        "denied",
        "rejected",
        "exceeded",
        "reached",
    }
)
_GOES_ON: Final = (
    r"[.,;:(]| (?:in|for|of|on|at|to|from|with|within|by|as|under|via|yet|that|and|or|but|matching|named|called)\b|$"
)
"""What follows a participle, and no object of a verb."""
_PARTICIPLE: Final = (
    rf"(?P<participle>{'|'.join(sorted(_HAPPENED))}|configured|available|set|defined|registered|loaded|supported|allowed|installed"
    r"|connected|authenticated|initialized|running|enabled)\b"
)
_MISSING_VERB: Final = re.compile(
    rf"(?:(?P<no>No {_NOUNS})|(?P<nouns>{_NOUNS})(?P<negation>not )){_PARTICIPLE}(?P<rest>(?:{_GOES_ON}).*)"
    rf"|(?P<what>{_NOUNS})(?P<done>blocked|denied|rejected|exceeded|reached|disabled|missing|required)\.$"
)
_TOO: Final = re.compile(rf"({_NOUNS})(too \w+.*)")
_ADJECTIVE: Final = re.compile(
    rf"(Invalid|Unknown|Unsupported|Unexpected|Unrecognized|Ambiguous|Duplicate|Malformed|Unbalanced|Missing) "
    rf"(?!error|exception|.* and no )((?:(?!{VERB})[\w'\"`{{}}/-]+ )*(?!\w+ed\.)[\w'\"`{{}}/-]+)\.$"
)
_PREPOSITION: Final = re.compile(r" (?:of|for|in|on|at|to|from|with|by|matching|as|named|called)\b| ['\"`]?\{| ['\"`]")
_SUBJECT: Final = re.compile(
    rf"(?:The )?((?!The )[\w-]+(?: [a-z][\w-]*)?) {_HOLE}(?= (?:{VERB}|already|matched|matches))"
)
_FORMS: Final = (
    (re.compile(r"Invalid ([^:{}]+): ((?:is|are|must|should|cannot|does|has) .*)"), r"The \1 \2"),
    (re.compile(r"(?:Could not|Couldn't|Unable to) (?=[a-z])"), "The server could not "),
    (re.compile(r"Failed to (?=[a-z])"), "The server failed to "),
    (re.compile(r"(?:Error|Failure)(?: while| when| in)? ([a-z]+ing [^:]*)\.$"), r"\1 failed."),
)


def whole(when: str) -> str:
    """A sentence with its verb and its subject, and without values that only the message of a failure shows."""
    tail = _TAIL.search(when)
    if tail is not None and " " in when[: tail.start()] and not _OPEN.search(when[: tail.start()]):
        # Only the dropped value told the noun from others, as in "found with ID: {id}".
        when = re.sub(
            r"(?<=found )(with|for) (?!an?\b|the\b|that\b|this\b|all\b|any\b)(\w+)\.$",
            r"\1 that \2.",
            f"{when[: tail.start()].rstrip(' ,:;-')}.",
        )
    for pattern, text in _FORMS:
        if (match := pattern.match(when)) is not None:
            when = match.expand(text) + when[match.end() :]
            return when[0].upper() + when[1:]
    if (match := _ADJECTIVE.match(when)) is not None:
        when = f"The {match[2]} {_verb(match[2], was=False)} {match[1].lower()}."
    elif (match := _MISSING_VERB.match(when)) is not None:
        part = match.groupdict("")
        nouns, participle = part["no"] or part["nouns"] or part["what"], part["participle"] or part["done"]
        when = f"{nouns}{_verb(nouns, was=participle in _HAPPENED)} {part['negation']}{participle}{part['rest'] or '.'}"
    elif (match := _TOO.match(when)) is not None:
        when = f"{match[1]}{_verb(match[1], was=False)} {match[2]}"
    if (match := _SUBJECT.match(when)) is not None:
        noun = match[1]
        first = noun.partition(" ")[0]
        when = f"The {noun[0].lower() if first.istitle() else noun[0]}{noun[1:]}{when[match.end() :]}"
    return when


def _verb(nouns: str, *, was: bool) -> str:
    """The form of `to be` for some nouns: by the ending of the last one in front of a preposition or a value."""
    head = _PREPOSITION.split(nouns.strip())[0]
    plural = head.endswith("s") and not head.endswith(("ss", "us", "is"))
    return ("were" if plural else "was") if was else "are" if plural else "is"
