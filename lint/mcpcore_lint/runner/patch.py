"""A file that was fixed, and its change as a patch that git and `patch` apply."""

from __future__ import annotations

import difflib
import os
import re
from typing import Final

from mcpcore_lint.dataclasses import light

_LINE: Final = re.compile(r"[^\n]*\n|[^\n]+\Z")
"""A line as git counts lines: a carriage return or a form feed does not end one."""
_ESCAPED: Final = {
    **{byte: f"\\{byte:03o}" for byte in (*range(0x20), *range(0x7F, 0x100))},
    **{ord(char): f"\\{letter}" for char, letter in zip('\a\b\t\n\v\f\r"\\', 'abtnvfr"\\', strict=True)},
}
"""Bytes of file names that git escapes, with their escapes."""


@light
class FixedFile:
    """A file before and after its fixes."""

    path: str
    """As diagnostics show it."""
    before: str
    after: str
    count: int
    """The number of fixes."""

    def diff(self, shown: str) -> str:
        """The change as a unified diff of a file that is called `shown`."""
        names = (shown, shown) if os.path.isabs(shown) else (f"a/{shown}", f"b/{shown}")
        return unified(self.before, self.after, *map(quoted, names))


def quoted(name: str) -> str:
    """The name of a file as git writes it in a patch: quoted and escaped if it has unusual characters."""
    if name.isprintable() and '"' not in name and "\\" not in name:
        return name
    raw = name.encode("utf-8", "surrogateescape")
    return '"' + "".join(_ESCAPED.get(byte) or chr(byte) for byte in raw) + '"'


def unified(before: str, after: str, old: str, new: str) -> str:
    """A unified diff; `old` and `new` are the names of the files."""
    lines = difflib.unified_diff(_LINE.findall(before), _LINE.findall(after), old, new)
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)
