"""`@tool`: a handler and its contract, tied together; `Tool`, which a test calls as it would call the handler."""

from __future__ import annotations

from dataclasses import fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Concatenate, Final, Generic, ParamSpec, TypeVar, cast, overload

from mcpcore.contract.failure_modes import ContractError, FailureMode
from mcpcore.declare.declaration import (
    Declaration,
    Declared,
    DeclaredMethod,
    P,
    R,
    S,
    S_contra,
    T,
    T_co,
    ToolOptions,
    as_declared,
    declare,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from typing_extensions import Unpack

    from mcpcore._shapes import SeenTool  # pyright: ignore[reportMissingModuleSource]
    from mcpcore.declare.context import Context
    from mcpcore.declare.keywords import ToolKeywords
    from mcpcore.declare.signature import ContextNamesAnUndeclaredReason, NoType

_OPTIONS: Final = tuple(field.name for field in fields(ToolOptions))

MYPY: Final = False
"""True to mypy, which knows the name; see `_shapes.pyi`."""

Q = ParamSpec("Q")
U = TypeVar("U")


class Tool(Declared[P, T_co]):
    """A tool: in a unit test, call it like its handler and leave out `ctx`.

    ```python
    @tool
    def double(number: int) -> int:
        '''Double a number.'''
        return 2 * number

    assert double(number=4) == 8
    assert double.handler(4) == 8
    ```
    """

    def with_options(self, **options: Any) -> Tool[P, T_co]:
        """The same tool with other options."""
        declared = self.declaration
        return Tool(
            Declaration(declared.handler, replace(declared.options, **options), method=declared.method),
            bound=self._bound,
        )

    if TYPE_CHECKING and not MYPY:
        # A handler in a class is a MethodTool; a checker that sees no context cannot tell, and asks here.
        @overload
        def __get__(self, instance: None, owner: type[Any]) -> Tool[P, T_co]: ...
        @overload
        def __get__(self: Tool[Concatenate[S, Q], U], instance: S, owner: type[Any] | None = None) -> Tool[Q, U]: ...
        @overload
        def __get__(self, instance: object, owner: type[Any] | None = None) -> Tool[..., T_co]: ...
        def __get__(self, instance: object, owner: type[Any] | None = None) -> Any: ...


class MethodTool(DeclaredMethod[S_contra, P, T_co]):
    """A tool that is a method: reached through an instance, it is a `Tool` of that instance."""

    kind = Tool

    @overload
    def __get__(self, instance: None, owner: type[Any]) -> MethodTool[S_contra, P, T_co]: ...
    @overload
    def __get__(self, instance: S_contra, owner: type[Any] | None = None) -> Tool[P, T_co]: ...
    def __get__(
        self, instance: S_contra | None, owner: type[Any] | None = None
    ) -> MethodTool[S_contra, P, T_co] | Tool[P, T_co]:
        """The tool of `instance`; on the class, the declaration itself."""
        return self if instance is None else self.bind(instance)

    def bind(self, instance: S_contra) -> Tool[P, T_co]:
        """The tool of `instance`."""
        return cast("Tool[P, T_co]", self.bound_to(instance))


class ToolDecorator(Generic[R]):
    """What `@tool(...)` returns: it ties a handler to the contract."""

    def __init__(self, options: ToolOptions) -> None:
        """Use `tool(...)` instead."""
        self._options = options

    # Only mypy reads a block that never runs; it gets its types from `_shapes.pyi`.
    if False:  # pragma: no cover - it never runs
        if MYPY:

            def __call__(self, fn: Callable[P, T], /) -> SeenTool[P, T]:
                """Make `fn` a tool."""

    # Checkers take the first overload that fits. The first two are for a first parameter without a type, which may be a
    # context; the next two for a context that names declared reasons only; then come those for a context that names
    # others, and for a handler without a context. mypy gives up on overloads if an argument has an Any in its type.
    if not MYPY:

        @overload
        def __call__(self, fn: Callable[Concatenate[NoType, P], T], /) -> Tool[..., T]: ...
        @overload
        def __call__(self, fn: Callable[Concatenate[S, NoType, P], T], /) -> Tool[..., T]: ...
        @overload
        def __call__(self, fn: Callable[Concatenate[Context[R, Any], P], T], /) -> Tool[P, T]: ...  # pyright: ignore[reportOverlappingOverload]
        @overload
        def __call__(self, fn: Callable[Concatenate[S, Context[R, Any], P], T], /) -> MethodTool[S, P, T]: ...  # pyright: ignore[reportOverlappingOverload]
        @overload
        def __call__(self, fn: Callable[Concatenate[Context[str, Any], P], T], /) -> ContextNamesAnUndeclaredReason: ...
        @overload
        def __call__(
            self, fn: Callable[Concatenate[S, Context[str, Any], P], T], /
        ) -> ContextNamesAnUndeclaredReason: ...
        @overload
        def __call__(self, fn: Callable[P, T], /) -> Tool[P, T]: ...
        def __call__(self, fn: Callable[..., Any], /) -> Any:
            """Make `fn` a tool.

            Raises:
                ContractError: If the contract or the handler cannot stand; the message names the file, the tool and
                    what.
            """
            return make_tool(fn, self._options)


if False:  # as above
    if MYPY:
        from mcpcore._shapes import tool as tool  # noqa: PLC0414 - mypy asks for it of a name that others import
if not MYPY:

    @overload
    def tool(fn: Callable[Concatenate[NoType, P], T], /) -> Tool[..., T]: ...
    @overload
    def tool(fn: Callable[Concatenate[S, NoType, P], T], /) -> Tool[..., T]: ...
    @overload
    def tool(fn: Callable[Concatenate[Context[Any, Any], P], T], /) -> Tool[P, T]: ...  # pyright: ignore[reportOverlappingOverload]
    @overload
    def tool(fn: Callable[Concatenate[S, Context[Any, Any], P], T], /) -> MethodTool[S, P, T]: ...  # pyright: ignore[reportOverlappingOverload]
    @overload
    def tool(fn: Callable[P, T], /) -> Tool[P, T]: ...
    @overload
    def tool(
        *,
        errors: Sequence[FailureMode[R]],
        **options: Unpack[ToolKeywords],
    ) -> ToolDecorator[R]: ...
    @overload
    def tool(
        **options: Unpack[ToolKeywords],
    ) -> ToolDecorator[Any]: ...
    def tool(fn: Callable[..., Any] | None = None, /, **options: Any) -> Any:
        """Make a function a tool of an MCP server: `@tool`, `@tool()` or `@tool(errors=[FailureMode(...), ...])`.

        The handler may be sync (it runs in a worker thread) or async; its first parameter may be a `Context`.

        ```python
        @tool(
            errors=[
                FailureMode("no_order", ErrorCode.NOT_FOUND, when="There is no order.", recovery="Call list_orders.")
            ],
            timeout=5,
        )
        def get_order(ctx: Context[Literal["no_order"]], order_id: int) -> str:
            '''Get an order by its number.'''
            raise ctx.fail("no_order", data={"order_id": order_id})
        ```

        Args:
            fn: The handler, where the decorator is used without parentheses.
            **options: `errors`, the contract; `name`, the function's own where left out; `title`, `description` (the
                docstring where left out), `annotations`, `icons`, `meta` and `structured_output`, as the SDK takes
                them; `timeout`, the seconds that a call may take; `max_concurrency`, the calls that may run
                concurrently; `auth`, the scopes that the access token of the caller needs; `read_only`, `idempotent`
                and `destructive`, the hints of these names in the annotations. From them follows the advice of a
                failure that declares neither `retry` nor `effects`: a call of a read-only tool changed nothing, and
                one of an idempotent tool can be repeated. A timeout or a crash of any other tool may have changed
                something, so the caller is not advised to repeat it.

        Raises:
            ContractError: At import, if the contract or the handler cannot stand.
            TypeError: If an option is unknown.
        """
        _check_names(options)
        if fn is None:
            return ToolDecorator(ToolOptions(**options))
        if not callable(fn) and not isinstance(fn, staticmethod | classmethod):
            raise ContractError(
                f"tool({fn!r}): a handler is a function; give everything else by keyword, such as tool(name={fn!r})"
            )
        return make_tool(fn, ToolOptions(**options))


def _check_names(options: Mapping[str, object]) -> None:
    for name in options:
        if name not in _OPTIONS:
            raise TypeError(
                f"@tool has no option {name!r}; its options are {', '.join(_OPTIONS)}. "
                "An option of FastMCP, such as tags, belongs to @mcp.tool above it"
            )


def make_tool(fn: Callable[..., Any], options: ToolOptions) -> Tool[..., Any] | MethodTool[Any, ..., Any]:
    """Tie a handler to its options, as a tool or as a tool that is a method."""
    return cast("Tool[..., Any]", declare(fn, partial(Declaration, options=options), MethodTool))


def as_tool(item: object) -> Tool[..., Any] | None:
    """The mcpcore tool that `item` is, bound if it is a method; None if it is not one."""
    return cast("Tool[..., Any] | None", as_declared(item, MethodTool))
