"""Counts failures, and drafts an overlay from them: grouped by shape, without secrets, for a person to finish."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple

from mcpcore.contract.codes import ErrorCode
from mcpcore.contract.failure_modes import TODO
from mcpcore.proxy.disguises import cleaned
from mcpcore.proxy.messages import Json
from mcpcore.proxy.overlay import ANY, Facts, Overlay, escaped
from mcpcore.reports import counted
from mcpcore.values.escaping import clean_text, whole_characters
from mcpcore.values.logs import LOGGER
from mcpcore.wire.envelope import Envelope
from mcpcore.wire.redaction import REDACTED, redact_shapes, redact_text

# The most kinds of failures that are counted; clients may call tools of any name.
_MAX_KINDS: Final = 10_000


@dataclass(slots=True)
class Statistics:
    """The counts of one run."""

    calls: int = 0
    restarts: int = 0
    failures: Counter[tuple[str, str]] = field(default_factory=Counter)
    # Successes that may be failures, by their tools.
    suspected: Counter[str] = field(default_factory=Counter)

    def suspect(self, name: str) -> None:
        """Count a success that may be a failure, and that was sent as it is."""
        if name[:200] in self.suspected or len(self.suspected) < _MAX_KINDS:
            self.suspected[name[:200]] += 1

    def count(self, name: str, envelope: Envelope) -> None:
        """Count a failure by its tool and its reason, or its code if it has none."""
        kind = (name[:200], envelope.reason or envelope.name)
        if kind in self.failures or len(self.failures) < _MAX_KINDS:
            self.failures[kind] += 1

    def lines(self, overlay: Overlay) -> Iterator[str]:
        """The counts as lines of text, with the entries of the overlay that never matched."""
        failed = sum(self.failures.values())
        yield f"{counted(self.calls, 'tool call')}, {counted(failed, 'failure')}, {counted(self.restarts, 'restart')}"
        for (name, reason), count in self.failures.most_common():
            yield f"  {count:>6}  {name}  {reason}"
        if self.suspected:
            total = sum(self.suspected.values())
            yield f"{counted(total, 'success', 'successes')} passed unchanged, and may be failures; see --learn:"
            for name, count in self.suspected.most_common():
                yield f"  {count:>6}  {name}"
        unfired = list(overlay.unfired())
        if unfired:
            yield f"{counted(len(unfired), 'entry', 'entries')} of {overlay.source} matched nothing:"
            for place, reason in unfired:
                yield f"          {place}  {reason}"


_MAX_SHAPES: Final = 500

# Characters of a failure that its shape is made of; they are the first line of its text.
_MAX_TEXT: Final = 300

RECOVERY: Final = f"{TODO}: say what the caller can do about it."

# The mark in a shape for a part that varies; the texts themselves have no control characters.
_ANY: Final = "\0"
# And for one that may also be missing.
_MAYBE: Final = "\1"
_PATTERNS: Final = {_ANY: ".+", _MAYBE: ".*"}

# What differs between two failures of the same shape: quoted words, URLs, ids, paths, addresses, numbers.
_VARIABLE: Final = re.compile(
    rf"""{re.escape(REDACTED)}|"""
    r"""(?P<quote>["'`]).{1,200}?(?P=quote)"""
    r"|[a-zA-Z][a-zA-Z0-9+.-]*://\S+"
    r"|[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"
    r"|(?:[A-Za-z]:)?(?:[~.]{0,2}[/\\])[^\s:,;()'\"]+"
    r"|[\w.+-]+(?:[/\\][\w.+-]+)+"
    r"|[\w.+-]+@[\w-]+\.[\w.]+"
    r"|\S*\d\S*"
)

# The same, and the characters that JSON may write in several ways.
_VARIABLE_IN_JSON: Final = re.compile(_VARIABLE.pattern + r"""|[^ -~]+|["\\]""")

_PATH: Final = re.compile(r"/|\b[A-Za-z]:\\")

# Letters and digits of a pattern that is looked for anywhere; a shorter one must match a line, or a text of JSON.
_MIN_WORDS: Final = 12


class _Kind(NamedTuple):
    """The facts that two results must share, besides their words, to be covered by one entry."""

    section: str
    code: str
    native: int | None = None
    status: int | None = None
    in_json: bool = False
    # The tool, the path of the words in the object, and the flags, if it is a success that may be a failure.
    success: tuple[str, str, tuple[tuple[str, Any], ...]] | None = None


@dataclass(slots=True)
class _Shape:
    # The words of the text and the spaces between them; `_ANY` and `_MAYBE` for a part that varies.
    words: list[str]
    names: set[str]
    count: int = 1


def _common(words: list[str], others: list[str]) -> list[str] | None:
    """The words with one gap that cover two texts; None unless they share two words, and half, at their ends."""
    if words == others:
        return words
    most = min(len(words), len(others))
    first = next((index for index in range(most) if words[index] != others[index]), most)
    last = next((index for index in range(most - first) if words[-1 - index] != others[-1 - index]), most - first)
    covering = [
        *words[:first],
        _MAYBE if first + last == most or _MAYBE in words[first : len(words) - last] else _ANY,
        *words[len(words) - last :],
    ]
    fixed = sum(any(map(str.isalpha, word)) for word in covering)
    return covering if fixed >= 2 and 4 * fixed >= max(len(words), len(others)) else None


@dataclass(slots=True)
class Learner:
    """Collects the shapes of failures, and writes them after each new one."""

    path: Path
    server: str
    """The command or the URL of the server, for the draft of a server that does not say its name."""

    name: str | None = None
    """The name of the server; None until it has said it."""

    _shapes: list[tuple[_Kind, _Shape]] = field(default_factory=list)

    def saw(self, section: str, name: str, envelope: Envelope, facts: Facts, arguments: Mapping[str, Any]) -> None:
        """Take a failure that no entry matches; `section` is the key in the overlay, and `name` the key in that."""
        # In JSON, the message alone says what kind of failure it is.
        in_json = facts.text.lstrip().startswith("{") and bool(facts.json)
        statuses = {status for status in facts.statuses if type(status) is int and 100 <= status <= 599}
        status = statuses.pop() if len(statuses) == 1 else None
        kind = _Kind(section, envelope.name, facts.code, status, in_json)
        self._take(kind, name, cleaned(envelope.message if in_json else facts.text), arguments)

    def suspect(self, name: str, text: str, path: str, flags: Json, arguments: Mapping[str, Any]) -> None:
        """Take a success of a tool that may be a failure: its words, their path in its object, and its flags."""
        kind = _Kind("tools", ErrorCode.UNKNOWN_ERROR.name, success=(name, path, tuple(flags.items())))
        self._take(kind, name, text, arguments)

    def _take(self, kind: _Kind, name: str, text: str, arguments: Mapping[str, Any]) -> None:
        words, name = _words_of(text, arguments, in_json=kind.in_json), whole_characters(name)
        if not words and (kind.native, kind.status, kind.success) == (None, None, None):
            return  # nothing that a match could name
        for index, (known, shape) in enumerate(self._shapes):
            # Of texts that differ in a later line, the code may too; a pattern that all have says none.
            merged = known if known == kind else kind._replace(code=ErrorCode.UNKNOWN_ERROR.name)
            is_same = known == kind or (shape.words == words and known._replace(code=merged.code) == merged)
            covering = _common(shape.words, words) if is_same else None
            if covering is not None:
                shape.count += 1
                if (merged, covering, shape.names) != (known, shape.words, shape.names | {name}):
                    self._shapes[index] = merged, _Shape(covering, shape.names | {name}, shape.count)
                    self.write()
                return
        if len(self._shapes) < _MAX_SHAPES:
            self._shapes.append((kind, _Shape(words, {name})))
            self.write()

    @property
    def is_empty(self) -> bool:
        """Whether there was no failure to learn from."""
        return not self._shapes

    def write(self) -> None:
        """Write the draft."""
        sections: dict[str, dict[str, list[Json]]] = {}
        # A pattern also matches the failures of the same shape that name a status; those entries must come first.
        for kind, shape in sorted(self._shapes, key=lambda pair: pair[0].status is None):
            name = ANY if len(shape.names) > 1 else next(iter(shape.names))
            entries = sections.setdefault(kind.section, {}).setdefault(name, [])
            entries.append(_entry(kind, shape, [entry["reason"] for entry in entries]))
        server = whole_characters(self.name or self.server)
        if self.path.suffix == ".json":
            text = json.dumps({"version": 1, "server": server, **sections}, indent=2, ensure_ascii=False) + "\n"
        else:
            text = _toml(server, sections, sum(shape.count for _, shape in self._shapes))
        from mcpcore_lint.runner.files import write_text

        try:
            write_text(str(self.path), text)
        except OSError as exc:
            LOGGER.error("the draft %s cannot be written: %s", self.path, exc.strerror or exc)  # noqa: TRY400 - no bug


# Characters of a text that are searched for secrets; the draft shows the beginning of one line.
_SEARCHED: Final = 100_000


def _words_of(text: str, arguments: Mapping[str, Any], *, in_json: bool) -> list[str]:
    """The first line of `text` as a shape: its words, and `_ANY` for what varies in it, as what the caller sent does.

    A line of nothing else is its own shape, unless it holds a path; that says no more than that the tool failed.
    """
    # The text is searched as in a log: the draft is a file that people pass on. A secret that is cut at the end of this
    # much text is far behind what the draft shows.
    lines = redact_text(redact_shapes(clean_text(whole_characters(text).lstrip()[:_SEARCHED]))).splitlines()
    line = next((line.strip() for line in lines if line.strip()), "")[:_MAX_TEXT]
    # A shorter argument may be any word, and a longer one is not in the line. The pattern of a JSON text must fit what
    # is between quotes.
    texts = (part for part in islice(arguments.values(), 50) if isinstance(part, str) and 2 < len(part) <= _MAX_TEXT)
    sent = sorted((re.escape(part) for part in texts if not in_json and part not in REDACTED), key=len)
    varies = _VARIABLE_IN_JSON if in_json else _VARIABLE
    masked = varies.sub(_ANY, re.sub(rf"(?<!\w)(?:{'|'.join(sent[::-1])})(?!\w)", _ANY, line) if sent else line)
    if re.search(r"[^\W_]{3}", masked) is None:
        masked = "" if _PATH.search(line) else line
    return re.split(r"(\s+)", masked) if masked else []


def _pattern_of(words: list[str], kind: _Kind) -> str | None:
    """A regular expression for the texts of a shape."""
    pattern = re.sub(
        r"\.[+*](?:\s*\.[+*])+",
        ".+",
        "".join(_PATTERNS.get(part) or escaped(part) for part in re.split(f"([{_ANY}{_MAYBE}])", "".join(words))),
    )
    if kind.success is not None and words:
        return rf"^\s*{pattern}"  # a success may have the same words anywhere else
    if not words or len(re.findall(r"[^\W_]", pattern)) >= _MIN_WORDS:
        return pattern or None
    # The words that SDKs put before a text end with a colon.
    return f'(?:"|: ){pattern}"' if kind.in_json else rf"(?m)(?:^|: )\s*{pattern}\s*$"


def _entry(kind: _Kind, shape: _Shape, taken: list[str]) -> dict[str, Any]:
    # "no such table: x" is a sentence without the name behind the colon.
    sentence = re.sub(rf"[{_ANY}{_MAYBE}](?:\s*[{_ANY}{_MAYBE}])*", "…", "".join(shape.words)).removesuffix(": …")
    slug = "_".join(re.findall(r"[a-z]{2,}", sentence.lower())[:4]) or "failed"
    reason = base = kind.code.lower() if kind.code != ErrorCode.UNKNOWN_ERROR.name else slug
    number = 2
    while reason in taken:
        reason, number = f"{base}_{number}", number + 1
    _, path, flags = kind.success or ("", "", ())
    text = _pattern_of(shape.words, kind)
    match = {
        "text": None if path else text,
        "code": kind.native,
        "status": kind.status,
        "json": {**dict(flags), **({path: {"pattern": text}} if path else {})} or None,
        "in_success": True if kind.success else None,
    }
    return {
        "reason": reason,
        "code": kind.code,
        "when": sentence or "The tool failed without a text.",
        "recovery": RECOVERY,
        "match": {key: value for key, value in match.items() if value is not None},
    }


def _toml(server: str, sections: dict[str, dict[str, list[Json]]], count: int) -> str:
    lines = [
        f"# Drafted from {counted(count, 'result')}. An entry counts once its recovery is written.",
        "# Name the reasons, and say how to retry. Delete an entry with in_success if what it matches is no failure.",
        "version = 1",
        f"server = {_value(server)}",
    ]
    named = (
        (f"{kind}.{_value(name)}", entries) for kind, by_name in sections.items() for name, entries in by_name.items()
    )
    for place, entries in named:
        for entry in entries:
            lines += ["", f"[[{place}]]"]
            lines += [f"{key} = {_value(entry[key])}" for key in ("reason", "code", "when", "recovery")]
            lines += [f"match.{key} = {_value(value)}" for key, value in entry["match"].items()]
    return "\n".join(lines) + "\n"


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{_value(key)} = {_value(part)}' for key, part in value.items())} }}"
    # A scalar of JSON is one of TOML, but for DEL, which TOML wants escaped.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
