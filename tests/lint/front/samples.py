"""A small server with two findings, and one without any."""

from __future__ import annotations

STORE = """\
from mcpcore import conflict, not_found


class Store:
    def get(self, key: str) -> str:
        return self._request(key)

    def _request(self, key: str) -> str:
        if not key:
            raise not_found("There is no such key.")
        raise conflict("It changed.")
"""

SERVER = '''\
from typing import Literal

from mcpcore import Context, ErrorCode, FailureMode, not_found, tool
from store import Store


@tool(errors=[FailureMode("no_match", ErrorCode.NOT_FOUND, when="None.", recovery="Call search_keys to find one.")])
async def fetch(ctx: Context[Literal["no_match"]], store: Store) -> str:
    """Fetch a value."""
    if store.get("a"):
        raise not_found("There is nothing.")
    raise ctx.fail("no_match")
'''

CLEAN = '''\
from mcpcore import tool


@tool
async def ping() -> str:
    """Answer."""
    return "pong"
'''

CONFLICT = ("server.py", 10, "error-contract-conformance")
DIRECT = ("server.py", 11, "error-contract-prefer-fail")
