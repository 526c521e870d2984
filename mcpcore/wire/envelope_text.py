r"""The text form of an envelope, written so that no value in it can pass for a line of the framework, and its reader.

    Error: None of 3 PMIDs returned data.
        The second line of a message is indented.

    Recovery: Call search_articles to discover valid PMIDs first.

    Details: {"pmids":["1","2","3"]}

    This is the 3rd identical call, and it failed the same way each time. …

    This failure was injected by a test. …

    (reason no_match · NOT_FOUND · not retryable · nothing was changed · try search_articles · id 7c1e0f6a91b2d4e5)

Only the framework begins a line at the margin. The lines that continue a message or a hint are indented, and not
folded, so that diffs and compiler output stay readable. The details are one line of JSON. Only a call that was
repeated has the sentences about identical calls, in which the number alone differs. A reason or a tool that could be
taken for something else in the last line is written as a JSON string. The advice in it is a phrase of
`mcpcore.contract.advice`. The line begins with "inferred" where the code and the advice are not the server's own word,
but follow from its text. Only a failure that a test asked for says that it was injected. `read` accepts nothing that
`write` cannot have written, now or in an earlier version.

Source of the form: the section "The wire" of the design.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from mcpcore.contract.advice import BETWEEN, advice_phrase, read_advice
from mcpcore.contract.failure_modes import WRITTEN_DATA_KEYS
from mcpcore.values.escaping import clean_text, one_line
from mcpcore.values.jsonable import dumps, fit_object, to_json_object
from mcpcore.values.untrusted import json_object, quietly

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpcore.contract.codes import Effects, Retry, RetryKind
    from mcpcore.wire.envelope import Envelope

INDENT: Final = "    "
_ERROR: Final = "Error: "
_RECOVERY: Final = "Recovery: "
_DETAILS: Final = "Details: "
_INFERRED: Final = f"inferred{BETWEEN}"

_WIDEST: Final = 4
"""The most bytes of a character in UTF-8."""

_MAX_TEXT: Final = 1_000_000
"""Characters of a text that is read; no server writes a longer one."""

# Sections follow one another after a blank line; within one, a line is indented or blank.
_SECTION: Final = re.compile(r"\n\n(?=\S)")
_NAME: Final = re.compile(r"[A-Z][A-Z0-9_]*")
_ID: Final = re.compile(r"[0-9a-f]{16}")
# Neither a separator of the last line nor the quote that begins a JSON string, and no space at either end.
_PLAIN: Final = re.compile(r'[^\s·"](?:[^\t\n·]*[^\s·])?')
_REPEATED: Final = re.compile(r"This is the ([1-9][0-9]{0,8})[a-z]")
MAX_REPEATED: Final = 10**9
"""No number of identical calls that is read is as large."""


class TextFields(NamedTuple):
    """The values in a text that `write` made."""

    message: str
    name: str
    retry: Retry
    correlation_id: str
    effects: Effects | None = None
    reason: str | None = None
    hint: str | None = None
    fallback_tool: str | None = None
    details: Mapping[str, Any] = {}
    repeatable: bool = False
    repeated: int | None = None
    inferred: bool = False
    injected: bool = False


Parts: TypeAlias = "tuple[Mapping[str, Any] | None, str | None, tuple[str, str]]"
"""What the maker of an envelope knows of its data, so that the text need not read them again.

The recovery, whose texts are printable and have no space around them; the details as compact JSON without escapes, or
an empty text, or None if they have to be written; and the advice in words with the last line up to the id. A plain
tuple, since making another one calls a function of Python.
"""


def write(envelope: Envelope, *, max_details: int, parts: Parts | None = None) -> str:
    """The text for `envelope`; `max_details` is the most bytes of the details as JSON."""
    message = envelope.message
    recovery, details_json, (_, facts) = parts or (envelope.recovery, None, lines_of(envelope))
    text = _ERROR + (message if parts is not None and message.isprintable() else indented(message))
    hint = recovery.get("hint") if recovery is not None else None
    if hint is not None:
        text = f"{text}\n\n{_RECOVERY}{hint if parts is not None else indented(hint)}"
    if details_json is not None and _WIDEST * len(details_json) <= max_details:
        if details_json:
            text = f"{text}\n\n{_DETAILS}{details_json}"
    elif details := envelope.details:
        text = f"{text}\n\n{_DETAILS}{_json(details, max_details)}"
    if envelope.repeated is not None:
        text = f"{text}\n\n{repeat_notice(envelope.repeated)}"
    if envelope.injected:
        text = f"{text}\n\n{INJECTED}"
    # With parts, the id is one of this program's own.
    identity = envelope.correlation_id if parts is not None else word(envelope.correlation_id)
    return f"{text}\n\n({_INFERRED if envelope.inferred else ''}{facts}id {identity})"


INJECTED: Final = "This failure was injected by a test. The tool itself did not report it."
"""The paragraph in a failure that a test asked for."""


def repeat_notice(count: int) -> str:
    """The paragraph in a failure of the last of `count` identical calls."""
    suffix = "th" if count % 100 in (11, 12, 13) else _SUFFIXES.get(count % 10, "th")
    return (
        f"This is the {count}{suffix} identical call, and it failed the same way each time. Do not make it again until "
        "something has changed. Change the arguments, use another tool, or report the failure to the user."
    )


_SUFFIXES: Final = {1: "st", 2: "nd", 3: "rd"}


def lines_of(envelope: Envelope) -> tuple[str, str]:
    """The advice of `envelope` in words, and the last line of its text up to the id."""
    return advice_and_facts(
        envelope.reason,
        envelope.name,
        envelope.retry,
        envelope.effects,
        envelope.recovery,
        repeatable=envelope.repeatable,
    )


def advice_and_facts(
    reason: str | None,
    name: str,
    retry: Retry,
    effects: Effects | None,
    recovery: Mapping[str, Any] | None,
    *,
    repeatable: bool,
) -> tuple[str, str]:
    """The same of an envelope that is being made."""
    tool = sent if recovery and isinstance(sent := recovery.get("fallbackTool"), str) else None
    # An envelope that was read may have texts of any length, which must not stay in memory.
    is_short = len(name) + len(reason or "") + len(tool or "") <= _MAX_KEPT
    # The retry advice is taken in parts, since the hash of a whole one costs more than this function saves.
    return (_advice_and_facts if is_short else _advice_and_facts.__wrapped__)(
        reason, name, retry.kind, retry.after_ms, effects, repeatable, tool
    )


# The same for all failures of a reason, so it is written once. A reason that a caller made up cannot fill the memory.
_MAX_KEPT: Final = 500
"""Characters of a reason, a code and a fallback tool that are kept together with their line."""


@lru_cache(maxsize=1_000)
def _advice_and_facts(
    reason: str | None,
    name: str,
    retry_kind: RetryKind,
    after_ms: int | None,
    effects: Effects | None,
    repeatable: bool,  # noqa: FBT001 - for the cache
    fallback_tool: str | None,
) -> tuple[str, str]:
    tool = None if fallback_tool is None else word(fallback_tool)
    advice = advice_phrase(retry_kind, after_ms, effects, repeatable=repeatable, fallback_tool=tool)
    facts = [] if reason is None else [f"reason {word(reason)}"]
    return advice, "".join(fact + BETWEEN for fact in (*facts, word(name), advice))


def indented(text: str) -> str:
    """`text` with every line after the first indented, its controls escaped and the space around it removed."""
    if text.isprintable():
        return text.strip()
    text = clean_text(text).strip()
    if "\n" not in text:
        return text
    return "\n".join(INDENT + line if line and number else line for number, line in enumerate(text.split("\n")))


def read(text: str) -> TextFields | None:
    """The values in `text`; None where `write` cannot have written it."""
    text = text.strip()
    # `write` escapes controls, so a text with one in it is not from there.
    if len(text) > _MAX_TEXT or not text.startswith(_ERROR) or clean_text(text) != text:
        return None
    error, *middle = _SECTION.split(text)
    fields = _last_line(middle.pop()) if middle else None
    message = _unindented(error.removeprefix(_ERROR))
    if fields is None or message is None:
        return None
    fields = fields._replace(message=message)
    if middle and middle[0].startswith(_RECOVERY):
        hint = _unindented(middle.pop(0).removeprefix(_RECOVERY))
        if hint is None:
            return None
        fields = fields._replace(hint=hint)
    if middle and middle[0].startswith(_DETAILS):
        details = json_object(middle.pop(0).removeprefix(_DETAILS))
        # The last line has what the framework writes into the data.
        if not details or not WRITTEN_DATA_KEYS.isdisjoint(details):
            return None
        fields = fields._replace(details=details)
    match = _REPEATED.match(middle[0]) if middle else None
    # The whole sentence, since a caller's text may begin in the same way.
    if match is not None and middle[0] == repeat_notice(int(match[1])):
        del middle[0]
        fields = fields._replace(repeated=int(match[1]))
    if middle and middle[0] == INJECTED:
        del middle[0]
        fields = fields._replace(injected=True)
    return None if middle else fields


def _unindented(section: str) -> str | None:
    first, *rest = section.split("\n")
    if any(line and not line.startswith(INDENT) for line in rest):
        return None
    return "\n".join([first, *(line.removeprefix(INDENT) for line in rest)])


def _json(details: Mapping[str, Any], limit: int) -> str:
    whole = dict(details)
    try:
        text = dumps(whole)
        if _WIDEST * len(text) > limit:
            text = dumps(fit_object(whole, limit))
    except (ValueError, TypeError, RecursionError):  # an envelope that was read may hold a NaN, which JSON cannot
        text = dumps(fit_object(to_json_object(whole), limit))
    return one_line(text)


def word(value: str) -> str:
    """`value` as one word of the last line: a JSON string if it could be taken for something else."""
    # Nearly all are: reasons, codes, ids and the names of most tools.
    if value.isascii() and (value.isidentifier() or value.isalnum()):
        return value
    if _PLAIN.fullmatch(value) and clean_text(value) == value:
        return value
    return one_line(json.dumps(value, ensure_ascii=False)).replace("·", "\\u00b7")


def _untoken(token: str) -> str | None:
    if _PLAIN.fullmatch(token):
        return token
    value = quietly(lambda: json.loads(token), None)
    # A plain value is never written as a string, nor anything else in a second spelling.
    return value if isinstance(value, str) and word(value) == token else None


def _last_line(line: str) -> TextFields | None:
    if not (line.startswith("(") and line.endswith(")")) or "\n" in line:
        return None
    plain = line[1:-1].removeprefix(_INFERRED)
    facts = plain.split(BETWEEN)
    reason = _untoken(facts.pop(0).removeprefix("reason ")) if facts[0].startswith("reason ") else ...
    correlation_id = _untoken(facts.pop().removeprefix("id ")) if facts and facts[-1].startswith("id ") else None
    if reason is None or correlation_id is None or len(facts) < 2:
        return None
    name, advice = facts[0], read_advice(BETWEEN.join(facts[1:]))
    if advice is None or not _NAME.fullmatch(name) or not (correlation_id == "" or _ID.fullmatch(correlation_id)):
        return None
    tool = None if advice.fallback_tool is None else _untoken(advice.fallback_tool)
    if tool is None and advice.fallback_tool is not None:
        return None
    return TextFields(
        message="",
        name=name,
        retry=advice.retry,
        correlation_id=correlation_id,
        effects=advice.effects,
        reason=None if reason is ... else reason,
        fallback_tool=tool,
        repeatable=advice.repeatable,
        inferred=plain != line[1:-1],
    )
