"""`@prompt`: a handler for a prompt and its contract."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Concatenate, Generic, cast, overload

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
    as_declared,
    declare,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mcp_types import Icon
    from typing_extensions import Unpack

    from mcpcore.declare.context import Context
    from mcpcore.declare.keywords import PromptKeywords
    from mcpcore.declare.signature import ContextNamesAnUndeclaredReason, NoType


# In the order in which the SDK takes them by position. Internal, so not frozen: freezing slows the import.
@dataclass(slots=True, eq=False, repr=False)
class PromptOptions:
    """The arguments of the decorator: those of the SDK's own registration, and the contract.

    Attributes:
        name: The name of the prompt; by default, the name of the function.
        title: A name for people.
        description: The purpose of the prompt; by default, the docstring of the function.
        icons: Pictures for the user interface of a host.
        errors: The contract: a `FailureMode` for each way in which the prompt fails that its author knows.
    """

    name: str | None = None
    title: str | None = None
    description: str | None = None
    icons: list[Icon] | None = None
    errors: Sequence[FailureMode[Any]] = ()


class PromptDeclaration(Declaration):
    """A prompt's handler, its options and its contract."""

    noun: ClassVar[str] = "prompt"


class DeclaredPrompt(Declared[P, T_co]):
    """A prompt: in a unit test, call it like its handler and leave out `ctx`."""

    noun = "prompt"


class MethodPrompt(DeclaredMethod[S_contra, P, T_co]):
    """A prompt that is a method: reached through an instance, it is a `DeclaredPrompt` of that instance."""

    kind = DeclaredPrompt

    @overload
    def __get__(self, instance: None, owner: type[Any]) -> MethodPrompt[S_contra, P, T_co]: ...
    @overload
    def __get__(self, instance: S_contra, owner: type[Any] | None = None) -> DeclaredPrompt[P, T_co]: ...
    def __get__(
        self, instance: S_contra | None, owner: type[Any] | None = None
    ) -> MethodPrompt[S_contra, P, T_co] | DeclaredPrompt[P, T_co]:
        """The prompt of `instance`; on the class, the declaration itself."""
        return self if instance is None else cast("DeclaredPrompt[P, T_co]", self.bound_to(instance))


class PromptDecorator(Generic[R]):
    """The decorator that `prompt(...)` returns: it ties a handler to the contract."""

    def __init__(self, options: PromptOptions) -> None:
        """Use `prompt(...)` instead."""
        self._options = options

    # The order is that of `mcpcore.tool.ToolDecorator`, for the same reasons.
    @overload
    def __call__(self, fn: Callable[Concatenate[NoType, P], T], /) -> DeclaredPrompt[..., T]: ...  # type: ignore[overload-overlap]
    @overload
    def __call__(self, fn: Callable[Concatenate[S, NoType, P], T], /) -> DeclaredPrompt[..., T]: ...  # type: ignore[overload-overlap]
    @overload
    def __call__(self, fn: Callable[Concatenate[Context[R, Any], P], T], /) -> DeclaredPrompt[P, T]: ...  # type: ignore[overload-overlap]  # pyright: ignore[reportOverlappingOverload]
    @overload
    def __call__(self, fn: Callable[Concatenate[S, Context[R, Any], P], T], /) -> MethodPrompt[S, P, T]: ...  # type: ignore[overload-overlap]  # pyright: ignore[reportOverlappingOverload]
    @overload
    def __call__(self, fn: Callable[Concatenate[Context[str, Any], P], T], /) -> ContextNamesAnUndeclaredReason: ...
    @overload
    def __call__(self, fn: Callable[Concatenate[S, Context[str, Any], P], T], /) -> ContextNamesAnUndeclaredReason: ...
    @overload
    def __call__(self, fn: Callable[P, T], /) -> DeclaredPrompt[P, T]: ...
    def __call__(self, fn: Callable[..., Any], /) -> Any:
        """Make `fn` a prompt.

        Raises:
            ContractError: If the contract or the handler cannot be served; the message names the file, the prompt
                and the problem.
        """
        return declare(fn, partial(PromptDeclaration, options=self._options), MethodPrompt)


@overload
def prompt(fn: Callable[Concatenate[NoType, P], T], /) -> DeclaredPrompt[..., T]: ...  # type: ignore[overload-overlap]
@overload
def prompt(fn: Callable[Concatenate[S, NoType, P], T], /) -> DeclaredPrompt[..., T]: ...
@overload
def prompt(fn: Callable[Concatenate[Context[Any, Any], P], T], /) -> DeclaredPrompt[P, T]: ...  # type: ignore[overload-overlap]  # pyright: ignore[reportOverlappingOverload]
@overload
def prompt(fn: Callable[Concatenate[S, Context[Any, Any], P], T], /) -> MethodPrompt[S, P, T]: ...  # pyright: ignore[reportOverlappingOverload]
@overload
def prompt(fn: Callable[P, T], /) -> DeclaredPrompt[P, T]: ...
@overload
def prompt(
    *,
    errors: Sequence[FailureMode[R]],
    **options: Unpack[PromptKeywords],
) -> PromptDecorator[R]: ...
@overload
def prompt(
    **options: Unpack[PromptKeywords],
) -> PromptDecorator[Any]: ...
def prompt(fn: Callable[..., Any] | None = None, /, **options: Any) -> Any:
    """Make a function a prompt of an MCP server: `@prompt`, `@prompt()` or `@prompt(errors=[FailureMode(...), ...])`.

    The handler may be sync (it runs in a worker thread) or async; its first parameter may be a `Context`. It returns
    what a prompt of the SDK returns: a text, a message, a content block, or a list of these.

    ```python
    @prompt(
        errors=[
            FailureMode("no_style", ErrorCode.NOT_FOUND, when="The style is unknown.", recovery="Call list_styles.")
        ]
    )
    def review(ctx: Context[Literal["no_style"]], style: str) -> str:
        '''Ask for a review in a style.'''
        if style not in ("short", "long"):
            raise ctx.fail("no_style")
        return f"Write a {style} review."
    ```

    Args:
        fn: The handler, if the decorator is used without parentheses.
        **options: `errors`, the contract; `name`, the function's own if left out; `title`, `description` (the
            docstring if left out) and `icons`, as the SDK takes them.

    Raises:
        ContractError: At import, if the contract or the handler cannot be served.
    """
    decorator: PromptDecorator[Any] = PromptDecorator(PromptOptions(**options))
    if fn is None:
        return decorator
    if not callable(fn) and not isinstance(fn, staticmethod | classmethod):
        raise ContractError(
            f"prompt({fn!r}): a handler is a function; give everything else by keyword, such as prompt(name={fn!r})"
        )
    return decorator(fn)


def as_prompt(item: object) -> DeclaredPrompt[..., Any] | None:
    """The prompt of mcpcore that `item` is, bound if it is a method; None if it is not one."""
    return cast("DeclaredPrompt[..., Any] | None", as_declared(item, MethodPrompt))
