"""The call in which something was seen, in words and as a command."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING, Final

from mcpcore.wire.redaction import redact_text

if TYPE_CHECKING:
    from mcpcore.check.model import Finding, Probe

_MAX_ARGUMENTS: Final = 160
"""Characters of arguments that a report shows."""

_MAX_SEEN: Final = 1_000
"""Characters of what was seen that a report shows; the judge cuts the texts of answers earlier."""

_MAX_NAME: Final = 128
"""Characters of a tool's name; the specification allows no more."""

_KINDS: Final = {
    "unknown-tool": "a tool that does not exist",
    "missing": "without {}",
    "wrong-type": "a wrong type for {}",
    "out-of-range": "a value out of range for {}",
    "unknown": "an unknown argument",
    "valid": "valid arguments",
    "hostile": "a large text with line feeds for {}",
    "cancelled": "a cancelled call",
}


def in_words(probe: Probe) -> str:
    """What the call tries."""
    return _KINDS[probe.kind].format(named(probe.argument))


def as_command(probe: Probe) -> str:
    """The words of `mcpcore call` after the server, cut if the arguments are long."""
    arguments = json.dumps(probe.arguments, ensure_ascii=False)
    if len(arguments) > _MAX_ARGUMENTS:
        return f"{shlex.quote(named(probe.tool))} {arguments[:_MAX_ARGUMENTS]}…"
    return f"{shlex.quote(named(probe.tool))} {shlex.quote(arguments)}"


def named(name: str) -> str:
    """The name of a tool or an argument, cut if it is longer than names are."""
    return name if len(name) <= _MAX_NAME else f"{name[:_MAX_NAME]}…"


def seen(finding: Finding) -> str:
    """What was seen, without secrets: reports are kept and shown."""
    return redact_text(finding.message[:_MAX_SEEN])


def times(finding: Finding) -> str:
    """In how many calls it was seen, unless in one."""
    return f" ({finding.count} calls)" if finding.count > 1 else ""
