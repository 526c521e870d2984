"""Notices that a server has changed its tools, in a session of the SDK's client."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def watch_tools(session: Any, changed: Callable[[], object]) -> None:
    """Call `changed` when the server of `session`, a `ClientSession`, says that its tools have changed.

    The session keeps its own handler of messages. A session is watched once; any other object is left alone.
    """
    from mcp.client.session import ClientSession
    from mcp_types import ToolListChangedNotification

    if not isinstance(session, ClientSession):
        return
    handler = session._message_handler  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]
    if isinstance(handler, _Watcher):
        return
    session._message_handler = _Watcher(handler, ToolListChangedNotification, changed)  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]


class _Watcher:
    """A handler of messages that passes all of them on."""

    def __init__(self, handler: Callable[[Any], Any], kind: type, changed: Callable[[], object]) -> None:
        self._handler = handler
        self._kind = kind
        self._changed = changed

    async def __call__(self, message: Any) -> None:
        if isinstance(message, self._kind):
            self._changed()
        await self._handler(message)
