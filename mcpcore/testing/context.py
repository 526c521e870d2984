"""`make_context`: the context for a handler that a test calls itself."""

from __future__ import annotations

import inspect
import sys
from typing import TYPE_CHECKING, Any

from mcpcore.boundary import coverage_hook
from mcpcore.declare.context import Context
from mcpcore.declare.declaration import Declared, DeclaredMethod

if TYPE_CHECKING:
    from types import CodeType

    from mcpcore.contract.errors import CodedError


class _MadeContext(Context[Any, Any]):
    """A context outside a request. It counts the failures of the handler, since no server sees what is raised."""

    __slots__ = ("_code", "_lifespan_context")

    _code: CodeType | None
    _lifespan_context: Any

    @property
    def lifespan_context(self) -> Any:
        """The object that the test passed."""
        if self._lifespan_context is None:
            return super().lifespan_context
        return self._lifespan_context

    def fail(self, *args: Any, **options: Any) -> CodedError:  # type: ignore[override]
        """The failure of a declared reason, which counts as raised if the handler makes it."""
        error: CodedError = super().fail(*args, **options)
        if coverage_hook.observer is not None and self._is_in_handler():
            coverage_hook.observer.failed("tool", self._name, self._contract, error.code.name, error.reason)
        return error

    def _is_in_handler(self) -> bool:
        """Whether the handler is among the callers: a test that makes a failure itself has tried no tool."""
        if self._code is None:  # a callable object, or a partial
            return True
        frame = sys._getframe(2)  # noqa: SLF001 - as `inspect.currentframe`, without the frames of this class
        while frame is not None and frame.f_code is not self._code:
            frame = frame.f_back  # type: ignore[assignment]
        return frame is not None


def make_context(
    tool: Declared[..., Any] | DeclaredMethod[Any, ..., Any], *, lifespan_context: Any = None
) -> Context[Any, Any]:
    """The context that the handler of `tool` takes, with its contract and outside any request.

    ```python
    order = await get_order.handler(make_context(get_order, lifespan_context=database), order_id="A-1")
    ```

    A tool that is called like a function makes its own context; `make_context` is for handlers that need
    `ctx.lifespan_context`, and for functions that take the context of a tool. A failure counts
    for reason coverage if the handler makes it, and not if the test does so itself.

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
    handler = inspect.unwrap(tool.declaration.handler)
    ctx._code = getattr(handler, "__code__", None)  # noqa: SLF001 - its own
    ctx._lifespan_context = lifespan_context  # noqa: SLF001 - its own
    return ctx
