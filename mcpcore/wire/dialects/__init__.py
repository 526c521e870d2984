"""Envelopes in the field, written and read: one module each, found by name.

A dialect writes a failure exactly as its document says and reads it back; facts that it has no field for are lost,
all others are kept.
"""

from __future__ import annotations

from typing import Final

from mcpcore.wire.dialects.canonical import Canonical
from mcpcore.wire.dialects.dialect import Dialect as Dialect
from mcpcore.wire.dialects.ok_envelope import OkEnvelope
from mcpcore.wire.dialects.system_error import SystemError_
from mcpcore.wire.dialects.taxonomy import Taxonomy
from mcpcore.wire.dialects.tool_error import ToolErrorDialect
from mcpcore.wire.envelope import Envelope

_ALL: Final[tuple[Dialect, ...]] = (
    Canonical(),
    Taxonomy(),
    SystemError_(),
    ToolErrorDialect(),
    OkEnvelope(hidden=False),
    OkEnvelope(hidden=True),
)

DIALECTS: Final[dict[str, Dialect]] = {dialect.name: dialect for dialect in _ALL}
"""Every dialect, by name, in the order in which they are tried: the most recognizable first.

```python
assert {"canonical", "taxonomy"} <= DIALECTS.keys()
```
"""


def dialect_named(name: str) -> Dialect:
    """The dialect of a name.

    ```python
    assert dialect_named("taxonomy").name == "taxonomy"
    ```

    Args:
        name: The name.

    Raises:
        ValueError: If there is no such dialect.
    """
    try:
        return DIALECTS[name]
    except (KeyError, TypeError):
        raise ValueError(f"dialect must be one of {', '.join(map(repr, DIALECTS))}, not {name!r}") from None


def read_result(result: object) -> Envelope | None:
    """The failure in the answer to a call, as `Envelope.from_result` reads it; None for a success.

    A failure in no known dialect is an `UNKNOWN_ERROR` of the dialect "unknown", with the text as its message.

    ```python
    failure = read_result({"isError": True, "content": [{"type": "text", "text": "no such order"}]})
    assert failure is not None
    assert (failure.dialect, failure.message) == ("unknown", "no such order")
    ```

    Args:
        result: A result of the SDK or of FastMCP, a dict, or JSON.

    Raises:
        TypeError: If `result` is a Python object of an unknown type.
    """
    from mcpcore.wire.dialects.reading import read

    return read(result, DIALECTS.values())
