"""Counts failures, and drafts an overlay from them: grouped by shape, without secrets, for a person to finish."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from mcpcore.proxy.disguises import cleaned
from mcpcore.proxy.overlay import Facts, Overlay, compiled, escaped
from mcpcore.reports import counted
from mcpcore.values.escaping import clean_text, whole_characters
from mcpcore.values.logs import LOGGER
from mcpcore.wire.redaction import REDACTED, redact_shapes, redact_text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from mcpcore.proxy.messages import Json
    from mcpcore.wire.envelope import Envelope


_MAX_KINDS: Final = 10_000
"""The most kinds of failures that are counted; clients may call tools of any name."""


@dataclass(slots=True)
class Statistics:
    """The counts of one run."""

    calls: int = 0
    restarts: int = 0
    failures: Counter[tuple[str, str]] = field(default_factory=Counter)

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
        unfired = list(overlay.unfired())
        if unfired:
            yield f"{counted(len(unfired), 'entry', 'entries')} of {overlay.source} matched nothing:"
            for place, reason in unfired:
                yield f"          {place}  {reason}"


_MAX_SHAPES: Final = 500
_MAX_TEXT: Final = 300
"""Characters of a failure that its shape is made of; they are the first line of its text."""

RECOVERY: Final = "TODO: say what the caller can do about it."

_VARIABLE: Final = re.compile(
    rf"""{re.escape(REDACTED)}|"""
    r"""(?P<quote>["'`]).{1,200}?(?P=quote)"""
    r"|[a-zA-Z][a-zA-Z0-9+.-]*://\S+"
    r"|[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"
    r"|(?:[A-Za-z]:)?(?:[~.]{0,2}[/\\])[^\s:,;()'\"]+"
    r"|[\w.+-]+@[\w-]+\.[\w.]+"
    r"|\S*\d\S*"
)
"""What differs between two failures of the same shape: quoted words, URLs, ids, paths, addresses, numbers."""

_VARIABLE_IN_JSON: Final = re.compile(_VARIABLE.pattern + r"""|[^ -~]+|["\\]""")
"""The same, and the characters that JSON may write in several ways."""

_MIN_WORDS: Final = 12
"""Letters and digits of a pattern that is looked for anywhere; a shorter one must match a line, or a text of JSON."""


@dataclass(slots=True)
class _Shape:
    section: str
    name: str
    pattern: str
    code: str
    sample: str
    native: int | None
    status: int | None
    count: int = 1


@dataclass(slots=True)
class Learner:
    """Collects the shapes of failures, and writes them after each new one."""

    path: Path
    server: str
    """The command or the URL of the server, for the draft of a server that does not say its name."""

    name: str | None = None
    """The name of the server; None until it has said it."""

    _shapes: dict[tuple[str, str, str, int | None, int | None], _Shape] = field(default_factory=dict)

    def saw(self, section: str, name: str, envelope: Envelope, facts: Facts) -> None:
        """Take a failure that no entry matches; `section` is the key in the overlay, and `name` the key in that."""
        # The draft is a file of UTF-8, which has no halves of surrogate pairs.
        name, text = whole_characters(name), whole_characters(facts.text)
        # In JSON, the message alone says what kind of failure it is.
        in_json = text.lstrip().startswith("{") and bool(facts.json)
        line = _first_line(cleaned(envelope.message if in_json else text))
        statuses = set(filter(_is_status, facts.statuses))
        status = statuses.pop() if len(statuses) == 1 else None
        if not line and facts.code is None and status is None:
            return  # nothing that a match could name
        pattern = _pattern_of(line, text, in_json=in_json)
        key = section, name, pattern, facts.code, status
        known = self._shapes.get(key)
        if known is not None:
            known.count += 1
            return
        if len(self._shapes) < _MAX_SHAPES:
            self._shapes[key] = _Shape(section, name, pattern, envelope.name, line, facts.code, status)
            self.write()

    @property
    def is_empty(self) -> bool:
        """Whether there was no failure to learn from."""
        return not self._shapes

    def write(self) -> None:
        """Write the draft."""
        sections: dict[str, dict[str, list[Json]]] = {}
        # A pattern also matches the failures of the same shape that name a status; those entries must come first.
        for shape in sorted(self._shapes.values(), key=lambda shape: shape.status is None):
            entries = sections.setdefault(shape.section, {}).setdefault(shape.name, [])
            entries.append(_entry(shape, [entry["reason"] for entry in entries]))
        server = whole_characters(self.name or self.server)
        if self.path.suffix == ".json":
            text = json.dumps({"version": 1, "server": server, **sections}, indent=2, ensure_ascii=False) + "\n"
        else:
            text = _toml(server, sections, sum(shape.count for shape in self._shapes.values()))
        from mcpcore_lint.runner.files import write_text

        try:
            write_text(str(self.path), text)
        except OSError as exc:
            LOGGER.error("the draft %s cannot be written: %s", self.path, exc.strerror or exc)  # noqa: TRY400 - no bug


def _is_status(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 100 <= value <= 599


_SEARCHED: Final = 100_000
"""Characters of a text that are searched for secrets; the draft shows the beginning of one line."""


def _first_line(text: str) -> str:
    # The text is searched as in a log: the draft is a file that people pass on. A secret that is cut at the end of this
    # much text is far behind what the draft shows.
    lines = redact_text(redact_shapes(clean_text(text.lstrip()[:_SEARCHED]))).splitlines()
    return next((line.strip() for line in lines if line.strip()), "")[:_MAX_TEXT]


def _pattern_of(line: str, text: str, *, in_json: bool) -> str:
    """A regular expression for texts of the same shape as `line`, which is a part of `text`."""
    parts, end = [], 0
    for match in (_VARIABLE_IN_JSON if in_json else _VARIABLE).finditer(line):
        parts += [escaped(line[end : match.start()]), ".+"]
        end = match.end()
    parts.append(escaped(line[end:]))
    pattern = re.sub(r"\.\+(?:\s*\.\+)+", ".+", "".join(parts))
    # A pattern of nothing but variable parts would match every failure.
    pattern = pattern if re.search(r"[^\W_]{3}", pattern.replace(".+", "")) else escaped(line)
    if not line or len(re.findall(r"[^\W_]", pattern)) >= _MIN_WORDS:
        return pattern
    anchored = f'"{pattern}"'
    if not in_json:
        # The words that SDKs put before the text are in the same line.
        whole = next(whole for whole in text.splitlines() if whole.strip())
        before, _, after = whole.partition(line)
        anchored = f"{'' if text == whole else '(?m)'}^{escaped(before)}{pattern}{escaped(after)}$"
    return anchored if compiled(anchored)(text) else pattern


def _entry(shape: _Shape, taken: list[str]) -> dict[str, Any]:
    reason = base = shape.code.lower() if shape.code != "UNKNOWN_ERROR" else _slug(shape.sample)
    number = 2
    while reason in taken:
        reason, number = f"{base}_{number}", number + 1
    match: dict[str, Any] = {"text": shape.pattern} if shape.pattern else {}
    if shape.native is not None:
        match["code"] = shape.native
    if shape.status is not None:
        match["status"] = shape.status
    return {
        "reason": reason,
        "code": shape.code,
        "when": shape.sample or "The tool failed without a text.",
        "recovery": RECOVERY,
        "match": match,
    }


def _slug(text: str) -> str:
    words = re.findall(r"[a-z]{2,}", _VARIABLE.sub(" ", text).lower())
    return "_".join(words[:4]) or "failed"


def _toml(server: str, sections: dict[str, dict[str, list[Json]]], count: int) -> str:
    lines = [
        f"# Drafted from {counted(count, 'failure')}. Name the reasons, complete each recovery, and say how to retry.",
        "version = 1",
        f"server = {_string(server)}",
    ]
    named = (
        (f"{kind}.{_string(name)}", entries) for kind, by_name in sections.items() for name, entries in by_name.items()
    )
    for place, entries in named:
        for entry in entries:
            lines += ["", f"[[{place}]]"]
            lines += [f"{key} = {_string(entry[key])}" for key in ("reason", "code", "when", "recovery")]
            for key, value in entry["match"].items():
                lines.append(f"match.{key} = {_string(value) if isinstance(value, str) else value}")
    return "\n".join(lines) + "\n"


def _string(text: str) -> str:
    # A JSON string is one of TOML, but for DEL, which TOML wants escaped.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
