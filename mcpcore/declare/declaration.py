"""What a handler declares, read and checked once: its name, its contract and its signature."""

from __future__ import annotations

import functools
import inspect
import sys
import types
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, ParamSpec, TypeVar, cast

from mcpcore import provided
from mcpcore.boundary import coverage_hook
from mcpcore.boundary.request import CallLimits, Request, checked_limits, checked_scopes
from mcpcore.contract.effects import HINTS, hint_of
from mcpcore.contract.errors import CodedError, FrameworkError
from mcpcore.contract.failure_modes import Contract, ContractError, FailureMode
from mcpcore.declare.context import Context
from mcpcore.declare.signature import Signature, is_method, name_of, plain_function, read_signature, which_parameter
from mcpcore.values.request_var import current
from mcpcore.values.source_location import where_function
from mcpcore.values.templates import placeholders
from mcpcore.values.untrusted import is_async

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from mcp_types import Icon, ToolAnnotations

    from mcpcore.sdk.definition import ToolDefinition

P = ParamSpec("P")
R = TypeVar("R", bound=str)
S = TypeVar("S")
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
S_contra = TypeVar("S_contra", contravariant=True)


# In the order in which the SDK takes them by position. Internal, so not frozen: freezing slows the import.
@dataclass(slots=True, eq=False, repr=False)
class ToolOptions:
    """The arguments of the decorator: those of the SDK's own registration, and the contract.

    Attributes:
        name: The name of the tool; by default, the name of the function.
        title: A name for people.
        description: The purpose of the tool, for the model; by default, the docstring of the function.
        annotations: The SDK's hints for hosts, such as `ToolAnnotations(title="Find books")`.
        icons: Pictures for the user interface of a host.
        meta: The `_meta` of the tool in `tools/list`; the contract is added under `dev.mcpcore/errors`.
        structured_output: Whether the result has structured content and the tool an output schema; by default, if the
            return annotation allows it.
        errors: The contract: a `FailureMode` for each way in which the tool fails that its author knows.
        timeout: Seconds that a call may take; by default, those of the server. `math.inf` lifts the server's limit.
        max_concurrency: Calls of the tool that may run concurrently.
        auth: The OAuth scopes that the access token of the caller needs.
        read_only: Whether the tool changes nothing: the `read_only_hint` of the annotations.
        idempotent: Whether a second call with the same arguments changes nothing more: the `idempotent_hint`.
        destructive: Whether the tool may delete or replace something: the `destructive_hint`.
    """

    name: str | None = None
    title: str | None = None
    description: str | None = None
    annotations: ToolAnnotations | None = None
    icons: list[Icon] | None = None
    meta: dict[str, Any] | None = None
    structured_output: bool | None = None
    errors: Sequence[FailureMode[Any]] = ()
    timeout: float | None = None
    max_concurrency: int | None = None
    auth: Sequence[str] = ()
    read_only: bool | None = None
    idempotent: bool | None = None
    destructive: bool | None = None


class Declaration:
    """A handler, its options and its contract, checked once; shared by a method's tools of all instances."""

    noun: ClassVar[str] = "tool"

    def __init__(self, handler: Callable[..., Any], options: Any, *, method: bool = False) -> None:
        """Read and check the declaration; `options` are the `ToolOptions`, or those of a resource or a prompt.

        Raises:
            ContractError: If the contract or the handler cannot stand.
        """
        self.handler = handler
        self.options = options
        self.method = method
        self.name: str = options.name or name_of(handler)
        self.contract: Contract[Any] = Contract(options.errors, tool=self.name)
        if not isinstance(self.name, str):
            raise ContractError(f"{where_function(handler, str(self.name), self.noun)}: name must be a string")
        self.is_async = is_async(handler)
        plain = inspect.unwrap(plain_function(handler))
        self.where = where_function(plain, self.name, self.noun)
        if inspect.isgeneratorfunction(plain) or inspect.isasyncgenfunction(plain):
            raise ContractError(
                f"{self.where}: the handler yields; a {self.noun} answers once: return the result, and report progress "
                "with ctx.report_progress(...)"
            )
        self.run = handler
        """The handler as it is called: with the guard of a contract that maps exceptions."""
        if self.contract.mapped:
            from mcpcore.services.guarding import contract_guard

            self.run = contract_guard(self.contract)(handler)
        self.limits: CallLimits | None = None
        self.scopes: tuple[str, ...] = ()
        if isinstance(options, ToolOptions):
            try:
                self.limits = checked_limits(
                    self.where, self.noun, timeout=options.timeout, max_concurrency=options.max_concurrency
                )
                self.scopes = checked_scopes(self.where, options.auth)
            except ValueError as exc:
                raise ContractError(str(exc)) from None
            self.hints_beside(options.annotations)
        try:
            self._read()
        except NameError:
            # An annotation names what is defined further down: read again when a server takes the tool.
            vars(self).pop("signature", None)
        if coverage_hook.observer is not None:
            coverage_hook.observer.declared(self.noun, self.name, plain, self.contract)

    # Cached, as is the definition: every call asks for both.
    @functools.cached_property
    def signature(self) -> Signature:
        """The handler's parameters, resolved.

        Raises:
            ContractError: If an annotation names something undefined, or the context is not the first parameter.
        """
        try:
            return self._read()
        except NameError as exc:
            vars(self).pop("signature", None)
            missing = exc.name or str(exc)
            place = which_parameter(plain_function(self.handler), missing)
            raise ContractError(
                f"{self.where}: {place}an annotation names {missing!r}, which is "
                f"not defined; define it before the server takes the {self.noun}, or import it outside of "
                "`if TYPE_CHECKING:`"
            ) from exc

    @functools.cached_property
    def definition(self) -> ToolDefinition:
        """The schemas, and the conversion of arguments and results through them.

        Raises:
            ContractError: If the handler's parameters or result cannot be described.
        """
        definition: ToolDefinition = provided("ToolDefinition").of(self)
        return definition

    def hints_beside(self, annotations: object) -> dict[str, bool]:
        """The hints of the options, by their names in the annotations.

        Raises:
            ContractError: If they contradict `annotations` or each other.
        """
        hints: dict[str, bool] = {}
        for name in HINTS:
            value = getattr(self.options, name)
            if value is None:
                continue
            if not isinstance(value, bool):
                raise ContractError(f"{self.where}: {name} must be True or False, not {value!r}")
            beside = hint_of(annotations, name)
            if beside is not None and beside is not value:
                raise ContractError(
                    f"{self.where}: {name}={value} contradicts {name}_hint={beside!r} in its annotations; remove one "
                    "of the two"
                )
            hints[f"{name}_hint"] = value
        together = {name: hints.get(f"{name}_hint", hint_of(annotations, name)) for name in HINTS}
        if hints and together["read_only"] is True and together["destructive"] is True:
            raise ContractError(
                f"{self.where}: a tool that is read_only cannot be destructive; remove one of the two hints"
            )
        return hints

    def _read(self) -> Signature:
        # The definition is made from the signature, and making it checks, at import, what can be checked.
        signature = vars(self)["signature"] = read_signature(
            self.handler, self.where, self.contract, method=self.method
        )
        arguments = {name for name, _ in self.definition.argument_names}
        for entry in self.contract:
            for name in () if entry.fallback_arguments is None else placeholders(entry.fallback_arguments):
                # Data without a model may have any key.
                if name not in arguments and entry.data is not None and not entry.has_field(name):
                    raise ContractError(
                        f"{self.where}: the fallback_arguments of {entry.reason!r} have the placeholder {{{name}}}, "
                        f"which is neither an argument of the {self.noun} nor a field of its data; correct the name, "
                        "or write {{ and }} for braces"
                    )
        return signature


class _SignatureOfDeclared:
    """The handler's parameters without its context; if FastMCP is in use, the signature that FastMCP calls."""

    # Not a property: `inspect.signature(Tool)` reads the class's own signature if the class has None here.
    def __get__(self, declared: Declared[..., Any] | None, owner: type[Any]) -> inspect.Signature | None:
        if declared is None:
            return None
        if _uses_fastmcp():
            return cast("inspect.Signature", provided("signature_of")(declared))
        signature = declared.declaration.signature
        return inspect.Signature([*signature.parameters, *signature.injected], return_annotation=signature.returns)


class _OfDeclaration:
    """What a declared handler and a declared method have in common."""

    def __init__(self, declaration: Declaration) -> None:
        """Use the decorator instead."""
        functools.update_wrapper(cast("Any", self), declaration.handler, updated=())
        self.declaration = declaration

    @property
    def name(self) -> str:
        """The name that clients see."""
        return self.declaration.name

    @property
    def contract(self) -> Contract[Any]:
        """The failure modes."""
        return self.declaration.contract

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"


class Declared(_OfDeclaration, Generic[P, T_co]):
    """A declared handler: in a unit test, call it like the function and leave out `ctx`.

    Inside a request the handler gets the request's own context, narrowed to this contract; outside one, a fresh one.
    A failure is raised as the `CodedError` that it is. `handler` is the function itself.
    """

    noun: ClassVar[str] = "tool"

    def __init__(self, declaration: Declaration, *, bound: tuple[Any, ...] = ()) -> None:
        """Use the decorator instead."""
        super().__init__(declaration)
        self._bound = bound
        self.fastmcp_options: Any = None
        """The options of FastMCP's decorator, as it has set them; None without one."""
        self.registration: tuple[Any, Any] | None = None
        """These options, and what FastMCP registered with them."""

    @property
    def handler(self) -> Callable[..., Any]:
        """The function itself, bound to its instance if it is a method. If its contract maps exceptions, it does so."""
        function = self.declaration.run
        return functools.partial(function, *self._bound) if self._bound else function

    @property
    def definition(self) -> ToolDefinition:
        """The schemas of the arguments and of the result."""
        return self.declaration.definition

    def bound_args(self, request: Request | None) -> tuple[Any, ...]:
        """The arguments that the handler gets before the caller's: the instance, then the context."""
        declaration = self.declaration
        if declaration.signature.context is None:
            return self._bound
        return (*self._bound, Context(declaration.contract, name=declaration.name, request=request))

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> T_co:
        """Run the handler, with a context made for it.

        Raises:
            CodedError: The failure, if the handler fails.
        """
        if FASTMCP_CALL in kwargs:
            return cast("T_co", kwargs[FASTMCP_CALL](self, kwargs))  # type: ignore[operator]
        args_before = self.bound_args(current.get())
        if self.declaration.is_async:
            return cast("T_co", self._awaited(self.declaration.run(*args_before, *args, **kwargs)))
        try:
            return cast("T_co", self.declaration.run(*args_before, *args, **kwargs))
        except CodedError as error:
            self._declare(error)
            raise

    async def _awaited(self, running: Awaitable[Any]) -> Any:
        try:
            return await running
        except CodedError as error:
            self._declare(error)
            raise

    if not TYPE_CHECKING:

        def __get__(self, instance: object, owner: type[Any] | None = None) -> Any:
            """The declared handler itself. An object with this method is a routine, which FastMCP requires."""
            return self

    __signature__ = _SignatureOfDeclared()

    @property
    def __fastmcp__(self) -> Any:
        """The options that FastMCP registers this with; FastMCP's decorators read and set them."""
        if not _uses_fastmcp():
            raise AttributeError("__fastmcp__")
        return provided("registration_of")(self, self.fastmcp_options)

    @__fastmcp__.setter
    def __fastmcp__(self, metadata: Any) -> None:
        self.fastmcp_options = metadata

    def _declare(self, error: CodedError) -> None:
        entry = self.contract.get(error.reason)
        if entry is not None and error.entry is None:
            error.declare(entry)
        if coverage_hook.observer is not None and not (isinstance(error, FrameworkError) and error.entry is None):
            coverage_hook.observer.failed(self.noun, self.name, self.contract, error.code.name, error.sent_reason)


class DeclaredMethod(_OfDeclaration, Generic[S_contra, P, T_co]):
    """A declared handler that is a method: reached through an instance, it is bound to it."""

    kind: ClassVar[type[Declared[..., Any]]]

    @property
    def handler(self) -> Callable[..., Any]:
        """The function itself."""
        return self.declaration.handler

    def bound_to(self, instance: S_contra) -> Any:
        """The declared handler of `instance`."""
        bound = self.kind(self.declaration, bound=(instance,))
        if "__fastmcp__" in self.__dict__:  # FastMCP's own decorator is above ours in the class
            bound.__fastmcp__ = self.__dict__["__fastmcp__"]
        return bound

    def __call__(self, instance: S_contra, /, *args: P.args, **kwargs: P.kwargs) -> T_co:
        """Run the handler on `instance`, with a context made for it."""
        return cast("T_co", self.bound_to(instance)(*args, **kwargs))


FASTMCP_CALL: Final = "mcpcore_call"
"""The parameter that FastMCP fills in, by which its calls of a handler differ from calls by other code."""


def _uses_fastmcp() -> bool:
    """Whether the program uses FastMCP, which then reads the signature of a tool in its own way."""
    return "fastmcp.tools.function_tool" in sys.modules


def declare(
    fn: Callable[..., Any], make: Callable[..., Declaration], method: type[DeclaredMethod[Any, ..., Any]]
) -> Any:
    """Tie a handler to its options: a method becomes a `method`, anything else its `kind`."""
    kind = method.kind
    if isinstance(fn, Declared | DeclaredMethod):
        noun = fn.noun if isinstance(fn, Declared) else fn.kind.noun
        if noun == kind.noun:
            problem = f"@{noun} is applied twice; remove one"
        else:
            problem = f"@{noun} and @{kind.noun} are on one function; write a function for each"
        raise ContractError(f"{where_function(fn.handler, fn.name, noun)}: {problem}")
    if "__fastmcp__" in getattr(fn, "__dict__", ()):
        raise ContractError(
            f"{where_function(fn, name_of(fn), kind.noun)}: FastMCP's decorator is below @{kind.noun}, so that it "
            f"serves the function without its contract; put @mcp.{kind.noun} above @{kind.noun}"
        )
    if isinstance(fn, staticmethod):
        return kind(make(fn.__func__))
    if isinstance(fn, classmethod):
        raise ContractError(
            f"{where_function(fn.__func__, name_of(fn.__func__), kind.noun)}: @classmethod must be above "
            f"@{kind.noun}, not below it"
        )
    if is_method(fn):
        return method(make(fn, method=True))
    return kind(make(fn))


def as_declared(item: object, method: type[DeclaredMethod[Any, ..., Any]]) -> Any:
    """The handler that `item` is, bound if it is a method; None if it is not of this kind.

    Raises:
        ContractError: If it is a method without an instance.
    """
    kind = method.kind
    if isinstance(item, kind):
        return item
    if isinstance(item, types.MethodType) and isinstance(item.__func__, method | kind):
        inner: Any = item.__func__
        return inner.bound_to(item.__self__) if isinstance(inner, DeclaredMethod) else inner
    if isinstance(item, method):
        raise ContractError(
            f"{where_function(item.handler, item.name, kind.noun)}: the {kind.noun} is a method; pass it bound to an "
            f"instance, as instance.{getattr(item.handler, '__name__', item.name)}"
        )
    return None
