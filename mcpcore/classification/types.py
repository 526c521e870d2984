"""Exception types by name, so that no library has to be imported to recognise its exceptions.

A row is found by the module and the qualified name of a class, also without inner parts of the module
(`httpx._exceptions.ReadTimeout` is `httpx.ReadTimeout`), nearest base class first. The rule of a row:

- "decides": the code applies whatever the attributes and the message are;
- "bug": like "decides", with INTERNAL_ERROR: a mistake in the program, never of the caller;
- "yields": the code applies unless an attribute or an inner exception is more specific;
- "falls back": like "yields", but the message is read first.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Final, Literal, NamedTuple

from mcpcore.contract.codes import ErrorCode, Retry

Rule = Literal["decides", "bug", "yields", "falls back"]


class TypeRow(NamedTuple):
    """An exception class by name, its code, and its rule."""

    name: str
    code: ErrorCode
    rule: Rule
    retry: Retry | None = None


_RETRIES: Final = {None: None, "soon": Retry.after(seconds=1), "never": Retry.never()}


def _rows() -> Iterator[TypeRow]:
    for entry in json.loads(Path(__file__).with_name("types.json").read_bytes()):
        code, rule, retry = ErrorCode[entry["code"]], entry.get("rule", "decides"), _RETRIES[entry.get("retry")]
        for module, name in product(entry["modules"], entry["names"]):
            yield TypeRow(f"{module}.{name}", code, rule, retry)


TYPES: Final[dict[str, TypeRow]] = {row.name: row for row in _rows()}
"""Every row by its name, read from types.json."""

PARTS: Final[dict[str, tuple[str, ...]]] = {
    "sqlalchemy.StatementError": ("orig",),
    "tenacity.RetryError": ("last_attempt",),
    "urllib3.MaxRetryError": ("reason",),
    "urllib.URLError": ("reason",),
    "aiohttp.ClientConnectorError": ("os_error",),
    "google.api_core.RetryError": ("cause",),
    "elastic_transport.TransportError": ("errors",),
    "elasticsearch.TransportError": ("errors",),
    "opensearchpy.TransportError": ("info",),
    "botocore.BotoCoreError": ("kwargs",),
    "pymongo.AutoReconnect": ("errors",),
}
"""Attributes of wrappers that hold exceptions, besides their causes and arguments."""

DEFINES_NAMES: Final = frozenset({
    "builtins.ValueError", "builtins.LookupError", "builtins.KeyError", "builtins.IndexError", "builtins.OSError",
    "builtins.RuntimeError", "builtins.ArithmeticError", "builtins.ConnectionError",
    "builtins.NotImplementedError",
})  # fmt: skip
"""Common base classes of an application's exceptions: the name of the derived class says more."""
