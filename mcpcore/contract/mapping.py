"""`FailureMode.on` and `.on_code`: exceptions and codes that become failures of a mode when they leave a handler."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Generic, NamedTuple, Never, Self, TypeAlias, cast, overload

from typing_extensions import TypeVar

from mcpcore.contract.codes import Code, is_code
from mcpcore.values.untrusted import is_async

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from pydantic import BaseModel

    from mcpcore.contract.errors import CodedError
    from mcpcore.contract.failure_modes import FailureMode

R_co = TypeVar("R_co", bound=str, covariant=True)
D_co = TypeVar("D_co", covariant=True, default=Any)
E1 = TypeVar("E1", bound=Exception)
E2 = TypeVar("E2", bound=Exception, default=Never)
E3 = TypeVar("E3", bound=Exception, default=Never)
E4 = TypeVar("E4", bound=Exception, default=Never)

_NONE: Final = cast("type[Never]", None)
"""In this form, all type checkers know the parameter that it is the default of."""

Kind: TypeAlias = "type[BaseException] | Code"
"""What is mapped: an exception class, or the code of coded errors without a reason."""

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    FailureData: TypeAlias = Mapping[str, Any] | BaseModel | DataclassInstance


class Mapped(NamedTuple):
    """The exceptions that become failures of a mode, and how data and message are made of them."""

    kinds: tuple[Any, ...]
    data: Callable[[Any], Any] | None
    message: Callable[[Any], str] | str | None


class Target(NamedTuple):
    """What an exception becomes."""

    becomes: Any
    """A code, a failure mode, or a reason."""
    data: Any
    message: Callable[[Any], str] | str | None

    def is_like(self, other: Target | None) -> bool:
        """Whether an exception with another target becomes the same failure; data is foreign and not compared."""
        return (
            other is not None
            and self.becomes == other.becomes
            and self.data is other.data
            and self.message is other.message
        )


class Mappable(Generic[R_co, D_co]):
    """The methods of a `FailureMode` that map exceptions to it."""

    __slots__ = ()

    if TYPE_CHECKING:
        _mapped: tuple[Mapped, ...]

    # Modes without a model come first, since type checkers report the last overload. mypy joins `*exceptions` to
    # Exception, hence four parameters; for more classes, calls chain. It also infers E2 to E4 from `message=str`,
    # unless a message for the first class is enough.
    @overload
    def on(
        self: Mappable[R_co, None],
        exc: type[E1],
        exc2: type[E2] = _NONE,
        exc3: type[E3] = _NONE,
        exc4: type[E4] = _NONE,
        /,
        *,
        data: Callable[[E1 | E2 | E3 | E4], FailureData] | None = None,
        message: Callable[[E1], str] | Callable[[E1 | E2 | E3 | E4], str] | str | None = None,
    ) -> FailureMode[R_co, None]: ...
    @overload
    def on(
        self,
        exc: type[E1],
        exc2: type[E2] = _NONE,
        exc3: type[E3] = _NONE,
        exc4: type[E4] = _NONE,
        /,
        *,
        data: Callable[[E1 | E2 | E3 | E4], D_co],
        message: Callable[[E1], str] | Callable[[E1 | E2 | E3 | E4], str] | str | None = None,
    ) -> Self: ...
    def on(self, *exceptions: Any, data: Any = None, message: Any = None) -> Any:
        """This failure mode, which exceptions of these classes become when they leave the handler.

        Works like a `ctx.guard` around the handler: the most specific class decides, a guard inside it acts first, and
        a reason that an exception carries already stays. Clients never read the exception's own text. Calls chain.

        ```python
        NO_ROW = FailureMode("no_row", ErrorCode.NOT_FOUND, when="There is no such row.", recovery="List the rows.")


        @tool(errors=[NO_ROW.on(KeyError)])
        def get_row(row: str) -> str:
            '''Get a row.'''
            return {"1": "one"}[row]
        ```

        Args:
            *exceptions: Subclasses of `Exception`.
            data: Makes the data of the failure from the exception. Required if the data model has a required field.
            message: The sentence for the client, or makes it from the exception; left out, `when`.

        Raises:
            ContractError: If an argument is of the wrong kind. If two entries of a contract map one class, the contract
                raises it.
        """
        return self._with("on", Mapped(exceptions, data, message), _class_problem)

    @overload
    def on_code(
        self: Mappable[R_co, None],
        code: Code,
        /,
        *codes: Code,
        data: Callable[[CodedError], FailureData] | None = None,
        message: Callable[[CodedError], str] | str | None = None,
    ) -> FailureMode[R_co, None]: ...
    @overload
    def on_code(
        self,
        code: Code,
        /,
        *codes: Code,
        data: Callable[[CodedError], D_co],
        message: Callable[[CodedError], str] | str | None = None,
    ) -> Self: ...
    def on_code(self, *codes: Any, data: Any = None, message: Any = None) -> Any:
        """This failure mode, which coded errors of these codes become if they have no reason yet.

        Such are the errors of `from_http_response`. An exception that is only classified has no code. Without `data`,
        the failure keeps the error's own data as far as the data model admits it. Its retry advice, such as a
        Retry-After, is kept unless the failure mode declares other advice.

        Args:
            *codes: Members of `ErrorCode`, or `CustomCode`s.
            data: Makes the data of the failure from the error. Required if the data model has a required field.
            message: The sentence for the client, or makes it from the error; left out, `when`.

        Raises:
            ContractError: If an argument is of the wrong kind. If two entries of a contract map one code, the contract
                raises it.
        """
        return self._with("on_code", Mapped(codes, data, message), _code_problem)

    def _with(self, method: str, mapped: Mapped, problem_of: Callable[[Any], str | None]) -> Any:
        mode = cast("FailureMode[Any]", self)
        nothing = f"name what is mapped, such as {'KeyError' if method == 'on' else 'ErrorCode.NOT_FOUND'}"
        problems = [problem_of(kind) for kind in mapped.kinds] or [nothing]
        problem = next(filter(None, (*problems, _option_problem(mode, mapped))), None)
        if problem is not None:
            from mcpcore import ContractError  # its module imports this one, and the package loads it by name
            from mcpcore.values.source_location import where_declared

            raise ContractError(f"{where_declared(mode.reason)}.{method}(…): {problem}")
        mapping = object.__new__(type(mode))
        for name in mode.__dataclass_fields__:
            object.__setattr__(mapping, name, getattr(mode, name))
        object.__setattr__(mapping, "_mapped", (*mode._mapped, mapped))  # noqa: SLF001 - its own
        return mapping

    # Frozen, so that a copy is the object itself, with all that it maps.
    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self


def _class_problem(kind: object) -> str | None:
    from mcpcore import CodedError

    if not isinstance(kind, type) or not issubclass(kind, BaseException):
        return f"takes exception classes, not {kind!r}"
    if kind is Exception:
        return "cannot map Exception itself, which would hide bugs; name the classes that the failure is known by"
    if not issubclass(kind, Exception):
        return f"cannot map {kind.__name__}: cancellation and exits are not failures; name subclasses of Exception"
    if issubclass(kind, CodedError):
        return f"cannot map {kind.__name__}, which has a code; write .on_code(ErrorCode.…)"
    return None


def _code_problem(kind: object) -> str | None:
    from mcpcore.contract.checks import not_a_code

    return None if is_code(kind) else not_a_code(kind)


def _option_problem(mode: FailureMode[Any], mapped: Mapped) -> str | None:
    for name, option in (("data", mapped.data), ("message", mapped.message)):
        if callable(option):
            if is_async(option):
                return f"{name} must be a function that returns the {name}, not an async one"
        elif option is not None and (name == "data" or not isinstance(option, str)):
            return f"{name} must be a function that makes the {name} from the exception, not {type(option).__name__}"
    required = (mode.data_schema() or {}).get("required") if mapped.data is None else None
    return f"the data model requires {', '.join(map(repr, required))}; add data=lambda exc: …" if required else None


def mapped_by(entries: Iterable[FailureMode[Any]], tool: str | None) -> dict[Kind, Target]:
    """What exceptions and codes become under the contract of `tool`, which has these entries.

    Raises:
        ContractError: If a class or a code is mapped twice.
    """
    targets: dict[Kind, Target] = {}
    for entry, mapped in ((mode, mapped) for mode in entries for mapped in mode._mapped):  # noqa: SLF001 - its base
        for kind in mapped.kinds:
            if (other := targets.get(kind)) is not None:
                from mcpcore import ContractError
                from mcpcore.values.source_location import where_used

                name = kind.__name__ if isinstance(kind, type) else kind.name
                to = f"to {other.becomes.reason!r} and to {entry.reason!r}"
                raise ContractError(f"{where_used(tool)}: {name} is mapped twice, {to}; keep one of them")
            targets[kind] = Target(entry, mapped.data, mapped.message)
    return targets
