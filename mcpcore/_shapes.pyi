# What `@tool` is to mypy.
#
# mypy gives up on overloads, and answers Any, as soon as an argument has an Any anywhere in its type and more than one
# overload fits: every handler with a context, or with a `dict[str, Any]`. So mypy gets one signature that keeps the
# whole of the handler, and the context is left out where the tool is called. Nothing of this exists at run time.

from collections.abc import Callable, Sequence
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, overload

from typing_extensions import Unpack

from mcpcore.contract.failure_modes import FailureMode
from mcpcore.declare.context import Context
from mcpcore.declare.decorators import Tool, ToolDecorator
from mcpcore.declare.keywords import ToolKeywords

_P = ParamSpec("_P")
_Q = ParamSpec("_Q")
_R = TypeVar("_R", bound=str)
_S = TypeVar("_S")
_T = TypeVar("_T")
_T_co = TypeVar("_T_co", covariant=True)
_U = TypeVar("_U")

class SeenTool(Tool[..., _T_co], Generic[_P, _T_co]):
    @overload
    def __call__(self: SeenTool[Concatenate[Context[Any, Any], _Q], _U], *args: _Q.args, **kwargs: _Q.kwargs) -> _U: ...
    @overload
    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _T_co: ...
    @overload
    def __get__(self, instance: None, owner: type[Any]) -> SeenMethod[_P, _T_co]: ...
    @overload
    def __get__(  # pyright: ignore[reportIncompatibleMethodOverride] - to mypy, a Tool has no __get__
        self, instance: object, owner: type[Any] | None = None
    ) -> SeenBound[_P, _T_co]: ...

class SeenMethod(Tool[..., _T_co], Generic[_P, _T_co]):
    @overload
    def __call__(
        self: SeenMethod[Concatenate[_S, Context[Any, Any], _Q], _U],
        instance: _S,
        /,
        *args: _Q.args,
        **kwargs: _Q.kwargs,
    ) -> _U: ...
    @overload
    def __call__(
        self: SeenMethod[Concatenate[Context[Any, Any], _Q], _U], *args: _Q.args, **kwargs: _Q.kwargs
    ) -> _U: ...
    @overload
    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _T_co: ...

class SeenBound(Tool[..., _T_co], Generic[_P, _T_co]):
    @overload
    def __call__(
        self: SeenBound[Concatenate[_S, Context[Any, Any], _Q], _U], *args: _Q.args, **kwargs: _Q.kwargs
    ) -> _U: ...
    @overload
    def __call__(self: SeenBound[Concatenate[_S, _Q], _U], *args: _Q.args, **kwargs: _Q.kwargs) -> _U: ...
    @overload
    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _T_co: ...

@overload
def tool(fn: Callable[_P, _T], /) -> SeenTool[_P, _T]: ...
@overload
def tool(
    *,
    errors: Sequence[FailureMode[_R]],
    **options: Unpack[ToolKeywords],
) -> ToolDecorator[_R]: ...
@overload
def tool(
    **options: Unpack[ToolKeywords],
) -> ToolDecorator[Any]: ...
