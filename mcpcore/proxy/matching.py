"""What an entry of an overlay matches: a text, a place in JSON, an error code, a status.

Regular expressions take linear time on any text, so that a server cannot keep the proxy busy. They have no look-around
and no back-references.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from pydantic_core import SchemaError

from mcpcore.client.schemas import matcher
from mcpcore.values.escaping import whole_characters

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

MAX_TEXT: Final = 20_000
"""Characters of a text that a regular expression is tried on."""

MAX_PATTERN: Final = 2_000

_ESCAPED: Final = frozenset(r"\.+*?()|[]{}^$")

_STATUS_KEYS: Final = ("status", "statusCode", "status_code", "httpStatus", "http_status")
_STATUS_TEXT: Final = re.compile(
    r"\b(?:HTTP(?:/\d(?:\.\d)?)?|status(?: code)?|error|code)[ :=(]{1,3}(?P<status>[1-5]\d\d)\b", re.IGNORECASE
)
_CODE_KEYS: Final = ("code", "error_code", "errorCode")


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is known of a failure, and what entries are compared with."""

    text: str = ""
    json: Mapping[str, Any] = field(default_factory=dict)
    """The structured content, the JSON of the text, or the data of a JSON-RPC error."""

    code: int | None = None
    """The code of a JSON-RPC error."""

    @property
    def _objects(self) -> list[Mapping[str, Any]]:
        inner = self.json.get("error")
        return [self.json, inner] if isinstance(inner, dict) else [self.json]

    @property
    def codes(self) -> list[Any]:
        """The codes of the failure: that of JSON-RPC, and those in its JSON."""
        own = [found[key] for found in self._objects for key in _CODE_KEYS if key in found]
        return own if self.code is None else [self.code, *own]

    @property
    def statuses(self) -> list[Any]:
        """The HTTP statuses that the failure names."""
        named = [found[key] for found in self._objects for key in _STATUS_KEYS if key in found]
        return [*named, *(int(match["status"]) for match in _STATUS_TEXT.finditer(self.text[:MAX_TEXT]))]


def escaped(text: str) -> str:
    """A regular expression of both engines that matches `text` alone."""
    return "".join(f"\\{char}" if char in _ESCAPED else char for char in text)


def compiled(pattern: str) -> Callable[[str], bool]:
    """Whether a text has a part that `pattern` matches.

    Raises:
        ValueError: If the pattern is too long, or not a regular expression of this kind.
    """
    if len(pattern) > MAX_PATTERN:
        raise ValueError(f"the regular expression has {len(pattern)} characters; the most is {MAX_PATTERN}")
    try:
        matches = matcher(pattern)
    except SchemaError as exc:
        problem = str(exc).strip().splitlines()[-1].removeprefix("error: ")
        raise ValueError(f"the regular expression {pattern!r} cannot be used: {problem}") from exc
    return lambda text: matches(whole_characters(text[:MAX_TEXT]))


def place(value: Any, path: Sequence[str]) -> Any:
    """The value at a dotted path, such as `error.details.0.type`; `...` if it does not exist."""
    for step in path:
        if isinstance(value, dict):
            value = value.get(step, ...)
        elif isinstance(value, list) and step.isascii() and step.isdigit() and int(step) < len(value):
            value = value[int(step)]
        else:
            return ...
    return value


def same(expected: object, value: object) -> bool:
    """Whether two JSON scalars are equal; 1 and true are not."""
    return expected == value and isinstance(expected, bool) == isinstance(value, bool)
