"""Running declared handlers: arguments in, the handler's own value or exception out."""

from __future__ import annotations

import functools
import inspect
from contextlib import contextmanager
from types import CoroutineType
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ConfigDict, PrivateAttr, ValidationError

from mcpcore.boundary.call_limits import holding_places
from mcpcore.boundary.request import Request
from mcpcore.contract.failure_modes import CONTRACT_META_KEY, Contract, ContractError, FailureMode
from mcpcore.contract.unraised import UnraisedFailure, log_unraised
from mcpcore.declare.signature import takes_context
from mcpcore.sdk.errors import UnansweredError
from mcpcore.sdk.serving import invalid_arguments_error
from mcpcore.sdk.threads import in_thread
from mcpcore.values.request_var import current
from mcpcore.values.unwrapping import passes_through, returned_failure

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence

    from mcp_types import Prompt as MCPPrompt, Resource as MCPResource, ResourceTemplate as MCPResourceTemplate

    from mcpcore.boundary.outcome import BrokenItem
    from mcpcore.declare.declaration import Declaration, Declared


ListedT = TypeVar("ListedT", "MCPResource", "MCPResourceTemplate", "MCPPrompt")


class OfDeclared(BaseModel):
    """A resource or a prompt of mcpcore among those of the SDK."""

    # Made without validation, it needs no validator, which would take 1 ms of the import.
    model_config = ConfigDict(defer_build=True)
    _declared: Any = PrivateAttr()

    @property
    def contract(self) -> Contract[Any]:
        """The failure modes."""
        contract: Contract[Any] = self._declared.contract
        return contract


def require_served_by_sdk(declared: Declared[..., Any]) -> None:
    """Check that a server of the SDK can run the handler.

    Raises:
        ContractError: If FastMCP has to fill in a parameter.
    """
    injected = declared.declaration.signature.injected
    if injected:
        raise ContractError(
            f"{declared.declaration.where}: the parameter {injected[0].name!r} is filled in by FastMCP, which does not "
            f"run this server; serve the {declared.noun} with FastMCP, or remove the parameter"
        )


def run_handler(
    declared: Declared[..., Any], values: dict[str, Any], request: Request, *, threaded: bool = True
) -> Awaitable[Any]:
    """Start the handler with `values`, which were validated; a sync one runs in a worker thread if `threaded`.

    Returns the handler's own coroutine where it can, since each further coroutine costs every call.

    Raises:
        CodedError: If the call exceeds a limit of the tool; when awaited.
        BaseException: The handler's own exception; when awaited, or immediately.
    """
    declaration = declared.declaration
    limits = declaration.limits
    if limits is None:
        if declaration.is_async and declaration.definition.is_plain:  # as it is for most
            request.began = True
            returned = declaration.run(*declared.bound_args(request), **values)
            return returned if type(returned) is CoroutineType else _ready(returned)
        return _handled(declared, values, request, threaded=threaded)
    return limits.run(functools.partial(_handled, declared, values, request, threaded=threaded), request)


def _handled(
    declared: Declared[..., Any], values: dict[str, Any], request: Request, *, threaded: bool
) -> Awaitable[Any]:
    declaration = declared.declaration
    definition = declaration.definition
    if definition.sdk.context_kwarg is not None:
        values[definition.sdk.context_kwarg] = request.sdk
    args = declared.bound_args(request)
    # Values come by name, and such a parameter takes none by name.
    if definition.positional:
        args = (*args, *(values.pop(name) for name in definition.positional))
    if threaded and not declaration.is_async:
        call = functools.partial(declaration.run, *args, **values)
        return _in_thread(holding_places(request, call), declaration, request)
    request.began = True
    returned = declaration.run(*args, **values)
    return returned if type(returned) is CoroutineType else _ready(returned)


async def _in_thread(call: Callable[[], Any], declaration: Declaration, request: Request) -> Any:
    return await _ready(await in_thread(call, declaration, request))


async def _ready(returned: Any) -> Any:
    # A decorator may hide that the function inside it is async.
    return await returned if inspect.isawaitable(returned) else returned


async def answer(declared: Declared[..., Any], arguments: Mapping[str, Any], sdk_context: Any) -> Any:
    """Validate the arguments of a resource or a prompt and run its handler.

    Raises:
        UnansweredError: If that fails and the request is the client's own; the SDK passes it on as it is.
        FrameworkError: INVALID_PARAMS, if the arguments do not fit and another handler asked.
        BaseException: The handler's own exception, if another handler asked.
    """
    request = current.get()
    # Another handler, or code outside of any request, asks: it gets the failure itself and may handle it.
    if request is None or request.claimed:
        make = _outside if request is None and sdk_context is None else lambda: sdk_context or request.sdk  # type: ignore[union-attr]
        inner = Request(make, contract=declared.contract)
        token = current.set(inner)
        try:
            return await _run(declared, arguments, inner)
        finally:
            current.reset(token)
    request.claimed = True
    request.contract = declared.contract
    try:
        return await _run(declared, arguments, request)
    except BaseException as exc:
        if passes_through(exc):
            raise
        raise UnansweredError(exc) from exc


async def _run(declared: Declared[..., Any], arguments: Mapping[str, Any], request: Request) -> Any:
    definition = declared.definition
    request.arguments = arguments
    try:
        values = definition.validate(arguments)
    except ValidationError as exc:
        raise invalid_arguments_error(exc, definition.places, declared.name, arguments) from exc
    return await run_handler(declared, values, request)


@contextmanager
def nested_call(request: Request, name: str) -> Iterator[None]:
    """The call of the tool `name` by code on the server; it reports failures that the call lost."""
    outer, token = current.get(), current.set(request)
    try:
        yield
    except Exception as exc:
        _report_lost(request.unraised(returned_failure(exc)), outer, name)
        raise
    else:
        _report_lost(request.unraised(), outer, name)
    finally:
        current.reset(token)


def _report_lost(noted: Sequence[UnraisedFailure | BrokenItem], outer: Request | None, name: str) -> None:
    """Report lost failures to the call `outer`, else to the log."""
    lost = [failure for failure in noted if isinstance(failure, UnraisedFailure)]
    if lost and outer is not None:
        outer.noted().adopt(lost)
    elif lost:
        log_unraised(lost, name)


def _outside() -> Any:
    raise ValueError("code of the server itself reads this resource: there is no client, and no session")


def with_contracts(listed: Sequence[ListedT], registered: Sequence[object]) -> list[ListedT]:
    """The listed resources or prompts, in the order of `registered`; those of mcpcore carry their contracts."""
    return [
        entry
        if contract is None or not len(contract)
        else entry.model_copy(update={"meta": {**(entry.meta or {}), CONTRACT_META_KEY: contract.to_json()}})
        for entry, contract in zip(listed, (getattr(item, "contract", None) for item in registered), strict=True)
    ]


def registering(
    errors: Sequence[FailureMode[Any]] | None,
    decorate: Callable[[Sequence[FailureMode[Any]]], Callable[..., Any]],
    sdk: Callable[[], Callable[..., Any]],
    add: Callable[[Any], None],
) -> Callable[..., Any]:
    """The decorator that registers a handler with its contract, or leaves one without to the SDK's own decorator."""
    plain = sdk() if errors is None else None

    def register(fn: Callable[..., Any]) -> Any:
        if plain is not None and not takes_context(fn):
            return plain(fn)
        made = decorate(errors or ())(fn)
        add(made)
        return made

    return register
