"""The context of a handler: `fail` and `recovery_for` for its contract, and everything of the SDK's context."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Generic, Protocol, TypeAlias, cast, overload

from typing_extensions import TypeVar, Unpack

from mcpcore.boundary.request import AnsweredRequest, Request
from mcpcore.contract.bound_fields import checked
from mcpcore.contract.codes import Code, Effects, Retry, is_code
from mcpcore.contract.effects import CHANGED, weakest
from mcpcore.contract.errors import CodedError, RecoveryLike, failure_of
from mcpcore.contract.failure_modes import (
    FIELDS,
    NO_CONTRACT,
    Contract,
    ContractError,
    FailureMode,
    UndeclaredReasonError,
)
from mcpcore.contract.recovery import DeclaredRecovery
from mcpcore.values.escaping import clean_text
from mcpcore.values.jsonable import JSON, to_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from types import EllipsisType

    from _typeshed import DataclassInstance
    from fastmcp import Context as FastMCPContext
    from mcp.server.context import ServerRequestContext
    from mcp.server.elicitation import ElicitationResult, ElicitSchemaModelT, UrlElicitationResult
    from mcp.server.lowlevel.helper_types import ReadResourceContents
    from mcp.server.mcpserver import Context as SDKContext, MCPServer
    from mcp.server.session import ServerSession
    from mcp_types import ClientCapabilities, InputRequiredResult, InputResponses, LoggingLevel
    from pydantic import AnyUrl, BaseModel, GetCoreSchemaHandler
    from pydantic_core import CoreSchema

    from mcpcore.declare.keywords import FailKeywords
    from mcpcore.services.guarding import (
        Guarded,
        Table,
        guard as Guard,  # noqa: N812 - `Context.guard` takes the name
    )
    from mcpcore.wire.envelope import Envelope

MYPY: Final = False
"""True to mypy, which knows the name; see `_shapes.pyi`."""

R_contra = TypeVar("R_contra", bound=str, contravariant=True, default=Any)
LifespanT = TypeVar("LifespanT", default=Any)
R = TypeVar("R", bound=str)
R_co = TypeVar("R_co", bound=str, covariant=True)
D = TypeVar("D")
D_contra = TypeVar("D_contra", contravariant=True)

FailureData: TypeAlias = "Mapping[str, Any] | BaseModel | DataclassInstance"
"""Facts for the client: a mapping, a pydantic model or a dataclass."""

if TYPE_CHECKING:

    class ModeWithData(Protocol[R_co, D_contra]):
        """A `FailureMode` by its reason and by the data that it takes."""

        # mypy widens the reason of a constant to `str`, so to mypy any reason fits.
        if not MYPY:

            @property
            def reason(self) -> R_co: ...  # noqa: D102 - see FailureMode

        def _takes(self, data: D_contra, /) -> None: ...


class DataDoesNotFitTheModel:
    """The type of `ctx.fail(MODE, data=...)` if the data does not fit and the context names no reasons; never made."""


class Context(Generic[R_contra, LifespanT]):
    """The context of a call: its contract, and the request that it belongs to.

    `Context[Literal["no_match"]]` lets a type checker refuse `ctx.fail("typo")`; the second argument types
    `ctx.lifespan_context`. Everything that the SDK's own context does is here by the same name; the SDK's object
    itself is `ctx.sdk`.

    ```python
    @tool(
        errors=[
            FailureMode("no_match", ErrorCode.NOT_FOUND, when="Nothing matches.", recovery="Use other words to search.")
        ]
    )
    def search(ctx: Context[Literal["no_match"]], words: str) -> list[str]:
        '''Search for articles.'''
        raise ctx.fail("no_match", f"Nothing matches {words!r}.", data={"words": words})
    ```
    """

    __slots__ = ("_contract", "_name", "_request")

    def __init__(
        self,
        contract: Contract[Any] | None = None,
        *,
        name: str | None = None,
        request: Request | None = None,
    ) -> None:
        """Make a context for `contract`; without `request` it belongs to no request, as in a unit test.

        Args:
            contract: The contract whose reasons `fail` accepts; by default, an empty one.
            name: The name of the tool, for messages.
            request: The request of the SDK; the server passes it.
        """
        self._contract = NO_CONTRACT if contract is None else contract
        self._name = name
        self._request = request

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Refuse to be an argument that clients send, as it is where only FastMCP's decorator is above the handler.

        Raises:
            ContractError: If a schema is made of a function with this context, unless arbitrary types are allowed.
        """
        from pydantic import PydanticSchemaGenerationError

        try:
            return handler(cls)
        except PydanticSchemaGenerationError:
            raise ContractError(
                "a function takes mcpcore's Context, but mcpcore's decorator is missing or above that of FastMCP; put "
                "@tool, @resource or @prompt of mcpcore directly above the function, below @mcp.tool and the like"
            ) from None

    @property
    def contract(self) -> Contract[Any]:
        """The contract that `fail` and `recovery_for` speak for."""
        return self._contract

    # The order of the overloads decides the report. The last but one holds only for a context that names no reasons,
    # for which the last overload would take any failure mode with any data.
    @overload
    def fail(
        self,
        reason: ModeWithData[R_contra, D],
        message: str | None = None,
        *,
        data: D,
        **options: Unpack[FailKeywords],
    ) -> CodedError: ...
    @overload
    def fail(
        self,
        reason: ModeWithData[R_contra, D],
        message: str | None,
        data: D,
        **options: Unpack[FailKeywords],
    ) -> CodedError: ...
    @overload
    def fail(
        self,
        reason: ModeWithData[R_contra, None],
        message: str | None = None,
        data: FailureData | None = None,
        **options: Unpack[FailKeywords],
    ) -> CodedError: ...
    @overload
    def fail(
        self: Context[str, Any],
        reason: FailureMode[Any, Any],
        message: str | None = None,
        data: object = None,
        **options: Unpack[FailKeywords],
    ) -> DataDoesNotFitTheModel: ...
    @overload
    def fail(
        self: Context[R, Any],
        reason: R,
        message: str | None = None,
        data: FailureData | None = None,
        **options: Unpack[FailKeywords],
    ) -> CodedError: ...
    def fail(
        self,
        reason: Any,
        message: str | None = None,
        data: Any = None,
        *,
        recovery: RecoveryLike | EllipsisType | None = ...,
        retry: Retry | EllipsisType | None = ...,
        effects: Effects | None = None,
    ) -> Any:
        """The failure of a declared reason, to be raised.

        ```python
        raise ctx.fail("no_match", f"Nothing matches {words!r}.", data={"words": words})
        ```

        Args:
            reason: A reason of the contract, or the `FailureMode` itself; type checkers then check `data` too.
            message: What went wrong here; left out, the entry's `when`.
            data: Facts for the client: a mapping, a pydantic model or a dataclass. `reason` in it is overwritten.
            recovery: Replaces the declared recovery, or adds to it where it has no `hint`; `None` leaves it out.
            retry: Replaces the declared retry advice.
            effects: Whether anything was changed before the failure: "none", "partial" or "unknown"; replaces the
                declared effects.

        Raises:
            ContractError: If the contract does not declare `reason`.
        """
        entry = self._contract.get(reason)
        if entry is None:
            # A declared reason is found above. Only a failure mode or a mistake gets here.
            entry = self._entry(reason, "fail")
        return failure_of(entry, message, data, recovery=recovery, retry=retry, effects=effects)

    def recovery_for(self, reason: R_contra | ModeWithData[R_contra, Any]) -> dict[str, Any]:
        """`{"recovery": {…}}` of a declared reason, for code that builds `data` itself; `{}` for any other.

        Texts with placeholders are filled from the data that it is put into, when the failure is sent.

        Args:
            reason: The reason.
        """
        entry = self._contract.get(reason.reason if isinstance(reason, FailureMode) else reason)
        recovery = None if entry is None else DeclaredRecovery(entry)
        return {"recovery": recovery} if recovery else {}

    def guard(
        self,
        errors: Table[Guarded, R_contra | ModeWithData[R_contra, Any]],
        *,
        data: Callable[[Any], object] | FailureData | None = None,
        operation: str | None = None,
        code: Code | None = None,
        message: str | None = None,
        context: Mapping[str, Any] | None = None,
        input: Any = None,  # noqa: A002 - the name that the log has for it
        critical: bool = False,
        include_stack: bool = True,
        error_mapper: Callable[[Exception], BaseException] | None = None,
    ) -> Guard:
        """Give exceptions a reason of this contract: a context manager, sync and async, and a decorator.

        ```python
        with ctx.guard({KeyError: "no_match"}):
            article = store[words]
        ```

        The parameters are those of `mcpcore.guard`. `errors` has declared reasons only, and a block without `operation`
        has the name of the tool in the log.

        Raises:
            ContractError: If the contract does not declare a reason in `errors`.
            TypeError: If an argument is of the wrong type.
        """
        from mcpcore.services.guarding import by_kind, guard

        guarded = guard(
            operation,
            errors={
                kind: self._contract.get(target) or self._entry(target, "guard")
                for kind, target in by_kind(errors).items()
            },
            code=code,
            message=message,
            data=data,
            ctx=self,
            context=context,
            input=input,
            critical=critical,
            include_stack=include_stack,
            error_mapper=error_mapper,
        )
        if self._name:
            # `operation` would also replace the name of a function that the guard decorates.
            guarded.block_name = self._name
        return guarded

    def _entry(self, reason: object, method: str) -> FailureMode[Any]:
        """The declared entry of a failure mode.

        Raises:
            ContractError: If `reason` is an undeclared reason or is not a failure mode, or if the contract declares
                another failure mode with the same reason.
        """
        if is_code(reason):
            raise ContractError(
                f"{self._where()}ctx.{method}(…) takes a declared reason or a FailureMode, not the code {reason!r}; "
                "mcpcore.guard(errors=...) takes codes too"
            )
        if not isinstance(reason, FailureMode):
            raise UndeclaredReasonError(self._undeclared(reason, method))
        entry = self._contract.get(reason.reason)
        if entry is None:
            raise UndeclaredReasonError(self._undeclared(reason.reason, method))
        if entry != reason:
            names = [name for name in FIELDS if getattr(entry, name) != getattr(reason, name)]
            raise ContractError(
                f"{self._where()}ctx.{method}(…): the tool declares another FailureMode for the reason "
                f"{reason.reason!r}, with another {', '.join(names)}; use the one in errors"
            )
        return entry

    def record_failure(self, exc: BaseException) -> Envelope:
        """The envelope that `exc` would have as the failure of this call, recorded; the call itself goes on.

        Outside a request nothing is recorded.

        Args:
            exc: The failure.
        """
        if isinstance(self._request, AnsweredRequest):
            self._request.noted().use(exc)
            return self._request.record_item(exc)
        from mcpcore.boundary.mapper import FailureMapper
        from mcpcore.boundary.outcome import FailedCall, observe

        call = FailedCall(name=self._name, contract=self._contract)
        outcome = FailureMapper().outcome(exc, call)
        observe(outcome, call)
        return outcome.envelope

    def has_changed(self, effects: Effects | None) -> None:
        """Send at least these effects if the call fails, except in a tool that only reads."""
        request = self._request
        if request is not None and effects in CHANGED and request.effects != "none":
            request.at_least = weakest((effects, request.at_least))

    def render_item(self, envelope: Envelope) -> dict[str, Any]:
        """The envelope as a part of an answer, in the server's dialect; outside a request, in the canonical one."""
        if isinstance(self._request, AnsweredRequest):
            return self._request.render_item(envelope)
        return envelope.to_json()

    def show_value(self, value: JSON) -> JSON:
        """A caller's own value as a part of a failure, without secrets where the server redacts them."""
        return self._request.show_value(value) if isinstance(self._request, AnsweredRequest) else value

    def bind(self, **fields: str | None) -> None:
        """Bind fields for the rest of this call: they are in `error.context` and in the record if it fails.

        Outside a request this only checks them.

        Args:
            **fields: The fields by name; None removes one.

        Raises:
            TypeError: If a name is not one that can be bound, or a value is not a string.
        """
        own = checked(fields, "ctx.bind(…)")
        if self._request is not None:
            self._request.fields = {**(self._request.fields or {}), **own}

    def _where(self) -> str:
        return f"tool {self._name!r}: " if self._name else ""

    def _undeclared(self, reason: object, method: str) -> str:
        tool = self._where()
        if not len(self._contract):
            return (
                f"{tool}ctx.{method}({reason!r}): the tool declares no failure modes; "
                f"add errors=[FailureMode({reason!r}, …)]"
            )
        near = self._contract.near(reason) if isinstance(reason, str) else None
        meant = f"did you mean {near!r}?" if near else f"declared are {', '.join(map(repr, self._contract.reasons))}"
        return f"{tool}ctx.{method}({reason!r}): the reason is not declared; {meant}"

    @property
    def sdk(self) -> SDKContext[LifespanT, Any]:
        """The SDK's own context of the request.

        Raises:
            ValueError: Outside a request.
        """
        if self._request is None:
            raise ValueError(
                "this context is outside a request, as in a unit test: it has fail() and recovery_for(), "
                "and nothing of the session"
            )
        return self._request.sdk

    @property
    def fastmcp(self) -> FastMCPContext:
        """FastMCP's own context of the request, on a FastMCP server.

        Raises:
            ValueError: Outside a request of a FastMCP server.
        """
        fastmcp = None if self._request is None else self._request.fastmcp
        if fastmcp is None:
            raise ValueError("ctx.fastmcp exists only in a request of a FastMCP server")
        return fastmcp

    @property
    def in_request(self) -> bool:
        """Whether there is a request behind this context."""
        return self._request is not None

    # The rest is the SDK's own context by its own names. `Context` wraps it, since it is contravariant in its reasons,
    # and since the SDK's is a pydantic model, which takes longer to make than everything else in a call.

    @property
    def mcp_server(self) -> MCPServer[Any]:
        """The server."""
        return self.sdk.mcp_server

    @property
    def request_context(self) -> ServerRequestContext[LifespanT, Any]:
        """The request as the SDK's lower level has it."""
        return self.sdk.request_context

    @property
    def lifespan_context(self) -> LifespanT:
        """What the server's lifespan yielded; on FastMCP, that of the server which has the tool."""
        if self._request is not None and self._request.fastmcp is not None:
            return cast("LifespanT", self._request.fastmcp.lifespan_context)
        return self.sdk.request_context.lifespan_context

    @property
    def session(self) -> ServerSession:
        """The session."""
        session: ServerSession = self.sdk.session
        return session

    @property
    def request_id(self) -> str:
        """The id of the request."""
        return self.sdk.request_id

    @property
    def headers(self) -> Mapping[str, str] | None:
        """The headers of the request, where the transport has them; the client's own words."""
        return self.sdk.headers

    @property
    def protocol_version(self) -> str | None:
        """The negotiated version of the protocol; None outside a request."""
        return None if self._request is None else self.sdk.protocol_version

    @property
    def client_capabilities(self) -> ClientCapabilities | None:
        """What the client declared that it can do."""
        return self.sdk.client_capabilities

    @property
    def input_responses(self) -> InputResponses | None:
        """The client's answers to an earlier `InputRequiredResult`."""
        return None if self._request is None else self.sdk.input_responses

    @property
    def request_state(self) -> str | None:
        """The opaque state that an earlier `InputRequiredResult` carried."""
        return None if self._request is None else self.sdk.request_state

    async def report_progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Report progress; outside a request this does nothing.

        Args:
            progress: How much is done, in units of the tool's choice.
            total: How much there is to do, in the same units.
            message: A sentence for the user.
        """
        if self._request is not None:
            await self.sdk.report_progress(progress, total, None if message is None else clean_text(message))

    async def read_resource(self, uri: str | AnyUrl) -> Iterable[ReadResourceContents] | InputRequiredResult:
        """Read a resource of this server.

        Args:
            uri: The URI of the resource.
        """
        return await self.sdk.read_resource(uri)

    async def elicit(self, message: str, schema: type[ElicitSchemaModelT]) -> ElicitationResult[ElicitSchemaModelT]:
        """Ask the client's user for input of a form.

        Args:
            message: The question.
            schema: A pydantic model with one field for each input.
        """
        return await self.sdk.elicit(clean_text(message), schema)

    async def elicit_url(self, message: str, url: str, elicitation_id: str) -> UrlElicitationResult:
        """Send the client's user to a page.

        Args:
            message: Why the page is to be opened.
            url: The address of the page.
            elicitation_id: An id by which a later notification refers to the question.
        """
        return await self.sdk.elicit_url(clean_text(message), url, elicitation_id)

    async def log(self, level: LoggingLevel, data: Any, *, logger_name: str | None = None) -> None:
        """Send a log message to the client; outside a request this does nothing.

        Args:
            level: The severity, such as "info".
            data: The message: a text, or anything that JSON has.
            logger_name: The name of the logger that the client shows.
        """
        # Code on a FastMCP server may call a tool, and then no client reads the log.
        if self._request is not None and self._request.is_of_a_client:
            await self.sdk.request_context.session.send_log_message(  # pyright: ignore[reportDeprecated]
                level=level, data=to_json(data), logger=logger_name, related_request_id=self.sdk.request_id
            )

    async def debug(self, data: Any, *, logger_name: str | None = None) -> None:
        """Send `data` to the client as a debug message, under `logger_name`."""
        await self.log("debug", data, logger_name=logger_name)

    async def info(self, data: Any, *, logger_name: str | None = None) -> None:
        """Send `data` to the client as an informational message, under `logger_name`."""
        await self.log("info", data, logger_name=logger_name)

    async def warning(self, data: Any, *, logger_name: str | None = None) -> None:
        """Send `data` to the client as a warning, under `logger_name`."""
        await self.log("warning", data, logger_name=logger_name)

    async def error(self, data: Any, *, logger_name: str | None = None) -> None:
        """Send `data` to the client as an error message, under `logger_name`; it does not fail the call."""
        await self.log("error", data, logger_name=logger_name)

    async def notify_tools_changed(self) -> None:
        """Tell subscribers that the list of tools changed."""
        await self.sdk.notify_tools_changed()

    async def notify_prompts_changed(self) -> None:
        """Tell subscribers that the list of prompts changed."""
        await self.sdk.notify_prompts_changed()

    async def notify_resources_changed(self) -> None:
        """Tell subscribers that the list of resources changed."""
        await self.sdk.notify_resources_changed()

    async def notify_resource_updated(self, uri: str | AnyUrl) -> None:
        """Tell subscribers that a resource changed.

        Args:
            uri: The URI of the resource.
        """
        await self.sdk.notify_resource_updated(str(uri))

    async def close_sse_stream(self) -> None:
        """Close the event stream of this request, so that the client reconnects."""
        await self.sdk.close_sse_stream()

    async def close_standalone_sse_stream(self) -> None:
        """Close the standalone event stream, so that the client reconnects."""
        await self.sdk.close_standalone_sse_stream()

    def __repr__(self) -> str:
        where = "in a request" if self.in_request else "outside a request"
        return f"<Context of {self._name or 'no tool'}, {where}>"
