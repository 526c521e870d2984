"""Whether a broken contract fails the call: the option `strict` of a server, and scopes in which tests override it."""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Final

from mcpcore import provided

STRICT_VARIABLE: Final = "MCPCORE_STRICT"


class Strictness:
    """Whether a server is strict now."""

    __slots__ = ("__weakref__", "_option", "_scopes", "on")

    def __init__(self, option: bool = False) -> None:  # noqa: FBT001, FBT002 - the option of that name
        """Be strict by the option, or by the environment variable MCPCORE_STRICT."""
        self._option = option or os.environ.get(STRICT_VARIABLE, "").lower() in ("1", "true", "yes")
        self._scopes: list[list[bool]] = []
        self.on = self._option
        """Whether a broken contract fails the call."""

    @contextmanager
    def scope(self, *, strict: bool) -> Iterator[None]:
        """Set `on` for the block; of scopes that overlap, the last one that was entered decides."""
        # Scopes of other tasks may end in any order, so each is removed by its identity.
        mine = [strict]
        self._scopes.append(mine)
        self._decide()
        try:
            yield
        finally:
            self._scopes = [scope for scope in self._scopes if scope is not mine]
            self._decide()

    def _decide(self) -> None:
        self.on = self._scopes[-1][0] if self._scopes else self._option


_of_servers: Final[weakref.WeakKeyDictionary[object, Strictness]] = weakref.WeakKeyDictionary()


def strictness_of(server: object) -> Strictness:
    """The strictness of a server that has no such option: a FastMCP server without a `ContractMiddleware`."""
    strictness = _of_servers.get(server)
    if strictness is None:
        strictness = _of_servers[server] = Strictness()
    return strictness


@contextmanager
def strict_scope(server: object, *, strict: bool = True) -> Iterator[None]:
    """Make `server` strict for the block, whatever its option says; with `strict=False`, make it lenient.

    ```python
    with strict_scope(server):
        run_tests(server)
    ```

    Args:
        server: A `Server`, or a FastMCP server with or without a `ContractMiddleware`, and with it all servers that are
            mounted on it. On other servers, nothing changes.
        strict: Whether a broken contract fails the call.
    """
    with ExitStack() as scopes:
        # Each of the mounted servers may answer a call by its own option.
        below = provided("mounted")(server) if hasattr(server, "providers") else ()
        for part in {id(part): part for part in (server, *below)}.values():
            owners = (part, *getattr(part, "middleware", ()))
            # Other objects may have an attribute of that name, too.
            own = [kept for owner in owners if type(kept := getattr(owner, "strictness", None)) is Strictness]
            for strictness in own or [strictness_of(part)]:
                scopes.enter_context(strictness.scope(strict=strict))
        yield
