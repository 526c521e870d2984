"""`make_context`: the context for a handler that a test calls itself."""

from __future__ import annotations

from typing import Any

from mcpcore.declare.context import Context
from mcpcore.declare.declaration import Declared, DeclaredMethod


class _MadeContext(Context[Any, Any]):
    """A context outside a request."""

    __slots__ = ("_lifespan_context",)

    _lifespan_context: Any

    @property
    def lifespan_context(self) -> Any:
        """The object that the test passed."""
        if self._lifespan_context is None:
            return super().lifespan_context
        return self._lifespan_context


def make_context(
    tool: Declared[..., Any] | DeclaredMethod[Any, ..., Any], *, lifespan_context: Any = None
) -> Context[Any, Any]:
    """The context that the handler of `tool` takes, with its contract and outside any request.

    ```python
    order = await get_order.handler(make_context(get_order, lifespan_context=database), order_id="A-1")
    ```

    A tool that is called like a function makes its own context; `make_context` is for handlers that need
    `ctx.lifespan_context`, and for functions that take the context of a tool. Its failures do
    not count for reason coverage, since no tool was called.

    Args:
        tool: A tool, a resource or a prompt of mcpcore.
        lifespan_context: The value of `ctx.lifespan_context`, which the lifespan of a server would yield.

    Raises:
        TypeError: If `tool` was not declared with a decorator of mcpcore.
    """
    if not isinstance(tool, Declared | DeclaredMethod):
        raise TypeError(
            f"make_context(...) takes a tool, a resource or a prompt of mcpcore, not {type(tool).__name__}; declare it "
            "with @tool, @resource or @prompt"
        )
    ctx = _MadeContext(tool.contract, name=tool.name)
    ctx._lifespan_context = lifespan_context  # noqa: SLF001 - its own
    return ctx
