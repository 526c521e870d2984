"""The address of a catalog in a `server.json`, the file with which a server is published in the MCP registry."""

from __future__ import annotations

import json
import re
from typing import Any, Final
from urllib.parse import urlsplit

from mcpcore.catalog.model import CatalogError

PUBLISHER: Final = "io.modelcontextprotocol.registry/publisher-provided"
"""The only key of `_meta` that the official registry keeps."""
CATALOG_KEY: Final = "dev.mcpcore/catalog"
MAX_BYTES: Final = 4096
"""The registry refuses longer metadata of a publisher."""

_INDENT: Final = re.compile(r"^\{\r?\n([ \t]+)")


def with_address(text: str, address: str) -> str:
    """The text of a `server.json`, with the address in the metadata of its publisher and nothing else changed.

    Raises:
        CatalogError: If the address or the text cannot be used.
    """
    try:
        parts = urlsplit(address)
        usable = parts.scheme in {"http", "https"} and parts.hostname and address.isprintable() and " " not in address
    except ValueError:
        usable = False
    if not usable:
        raise CatalogError(f"the address must be a whole URL that begins with https://, got {address!r}")
    try:
        server: Any = json.loads(text, object_pairs_hook=_unique)
    except (ValueError, RecursionError) as exc:
        raise CatalogError(f"it is not JSON: {exc}") from exc
    if not isinstance(server, dict) or not isinstance(server.get("name"), str):
        raise CatalogError('this is not a server.json: expected an object with a "name"')
    inner, path = server, ""
    for key in ("_meta", PUBLISHER):
        path = f"{path}[{json.dumps(key)}]"
        inner = inner.setdefault(key, {})
        if not isinstance(inner, dict):
            raise CatalogError(f"{path} must be an object, and is not")
    inner[CATALOG_KEY] = address
    size = len(json.dumps(inner, ensure_ascii=False, separators=(",", ":")).encode(errors="surrogatepass"))
    if size > MAX_BYTES:
        raise CatalogError(f"the publisher's metadata would have {size} bytes; the registry takes {MAX_BYTES}")
    indent = _INDENT.match(text)
    # A file that escapes all other letters keeps them escaped.
    made = json.dumps(server, ensure_ascii=text.isascii(), indent=indent[1] if indent else None)
    end = text[len(text.rstrip()) :]
    return (made.replace("\n", "\r\n") if "\r\n" in text else made) + end


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose keys are there once; of two, one would be lost.

    Raises:
        ValueError: If a key appears twice.
    """
    made = dict(pairs)
    if len(made) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"the key {next(key for key in keys if keys.count(key) > 1)!r} appears twice")
    return made
