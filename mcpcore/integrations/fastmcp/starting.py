"""Failures of a FastMCP server itself: while it starts, and while it stops.

FastMCP calls its middleware for requests only. The lifespan of the server is entered before the first request and left
after the last one, so a failure to start or to stop passes through it.
"""

from __future__ import annotations

import contextlib
import functools
import sys
import weakref
from typing import TYPE_CHECKING, Any

from mcpcore.boundary.outcome import FailedCall
from mcpcore.sdk.startup import Startup

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping
    from contextlib import AbstractAsyncContextManager

    from fastmcp import FastMCP

    from mcpcore.boundary.script import Boundary
    from mcpcore.contract.codes import ErrorCode
    from mcpcore.wire.envelope import Envelope


class Startups:
    """The `Startup` of each server that a middleware serves."""

    def __init__(self, make_boundary: Callable[..., Boundary], fields: Mapping[str, str | None]) -> None:
        """Record by boundaries of `make_boundary(server=name)`, with the bound `fields`."""
        self._make_boundary = make_boundary
        self._fields = {key: value for key, value in fields.items() if value is not None}
        self._startups: weakref.WeakKeyDictionary[FastMCP[Any], Startup] = weakref.WeakKeyDictionary()

    def of(self, server: FastMCP[Any]) -> Startup:
        """The object that records the failures of `server` to start and to stop."""
        startup = self._startups.get(server)
        if startup is None:
            # The value must not hold the server, or its entry would never go.
            record = functools.partial(self._record, self._make_boundary(server=server.name), server.name)
            startup = self._startups[server] = Startup(server.name, record)
        return startup

    def _record(self, boundary: Boundary, name: str, exc: BaseException, code: ErrorCode | None) -> Envelope:
        call = FailedCall(name=name, surface="server", context=dict(self._fields), code=code)
        return boundary.record_failure(exc, call).envelope

    def watched(
        self, lifespan: Callable[[FastMCP[Any]], AbstractAsyncContextManager[Any]]
    ) -> Callable[[FastMCP[Any]], AbstractAsyncContextManager[Any]]:
        """`lifespan`, with its failures recorded, and the failure to listen on a port."""

        @contextlib.asynccontextmanager
        async def watching(server: FastMCP[Any]) -> AsyncIterator[Any]:
            startup = self.of(server)
            async with startup.watched(lifespan)(server) as state:
                try:
                    yield state
                finally:
                    # FastMCP does not pass the exception that ends the server, but leaves the lifespan while Python
                    # handles it.
                    startup.ended(sys.exception())

        return watching
