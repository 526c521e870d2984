"""Every kind of handler, as a tool on a server and as a function called by a test."""

from __future__ import annotations

import enum
import functools
import inspect
import types
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, Union

import anyio
import pytest
from mcp import Client
from mcp.server.mcpserver import Context as SDKContext
from mcp.server.mcpserver.resolve import Elicit, Resolve
from mcp.server.mcpserver.tools import Tool as SDKTool
from mcp_types import ElicitResult, Icon, InputRequiredResult, ToolAnnotations
from pydantic import BaseModel, Field, computed_field, create_model

from mcpcore import CodedError, Context, ContractError, ErrorCode, FailureMode, Retry, Server, Tool, not_found, tool
from mcpcore.contract.recovery import DeclaredRecovery
from mcpcore.declare.decorators import MethodTool

if TYPE_CHECKING:
    from decimal import Decimal as OnlyForCheckers

NO_MATCH = FailureMode("no_match", ErrorCode.NOT_FOUND, when="Nothing matches.", recovery="Search first.")
BUSY = FailureMode("busy", ErrorCode.RATE_LIMITED, when="Too many at once.", recovery="Wait.")
Reasons: TypeAlias = Literal["no_match"]


class Reason(str, enum.Enum):  # noqa: UP042 - the older spelling is the harder one
    NO_MATCH = "no_match"
    BUSY = "busy"


def result_of(result: Any) -> Any:
    assert not result.is_error, result.content
    return result.structured_content["result"]


def failed(result: Any) -> dict[str, Any]:
    assert result.is_error
    return dict(result.structured_content["error"])


def plain_decorator(fn: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(fn)
    def within(*args: Any, **kwargs: Any) -> Any:
        return fn(*args, **kwargs)

    return within


class Searcher:
    """Search by being called."""

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix

    def __call__(self, ctx: Context[Reasons], query: str) -> str:
        if query == "none":
            raise ctx.fail("no_match")
        return self.prefix + query


class AsyncSearcher(Searcher):
    async def __call__(self, ctx: Context[Reasons], query: str) -> str:
        return Searcher.__call__(self, ctx, query)


class Store:
    def __init__(self, prefix: str) -> None:
        self.prefix = prefix

    @tool(errors=[NO_MATCH])
    def sync_method(self, ctx: Context[Reasons], query: str) -> str:
        """Search."""
        return Searcher(self.prefix)(ctx, query)

    @tool(errors=[NO_MATCH])
    async def async_method(self, ctx: Context[Reasons], query: str) -> str:
        """Search."""
        return Searcher(self.prefix)(ctx, query)

    @tool
    def without_context(self, query: str) -> str:
        """Search."""
        return self.prefix + query

    @staticmethod
    @tool(errors=[NO_MATCH])
    def static_above(ctx: Context[Reasons], query: str) -> str:
        """Search."""
        return Searcher("a:")(ctx, query)

    @tool(errors=[NO_MATCH])
    @staticmethod
    def static_below(ctx: Context[Reasons], query: str) -> str:
        """Search."""
        return Searcher("a:")(ctx, query)

    @classmethod
    @tool(errors=[NO_MATCH])
    def class_above(cls, ctx: Context[Reasons], query: str) -> str:
        """Search."""
        assert cls is Store
        return Searcher("a:")(ctx, query)


def sync_function(ctx: Context[Reasons], query: str) -> str:
    """Search."""
    return Searcher("a:")(ctx, query)


async def async_function(ctx: Context[Reasons], query: str) -> str:
    """Search."""
    return Searcher("a:")(ctx, query)


def with_prefix(prefix: str, ctx: Context[Reasons], query: str) -> str:
    """Search."""
    return Searcher(prefix)(ctx, query)


def no_wraps(fn: Callable[..., Any]) -> Callable[..., Any]:
    def within(ctx: Context[Reasons], query: str) -> str:
        return str(fn(ctx, query))

    return within


def positional(ctx: Context[Reasons], query: str, /) -> str:
    return Searcher("a:")(ctx, query)


def keyword(ctx: Context[Reasons], *, query: str) -> str:
    return Searcher("a:")(ctx, query)


def bare_context(ctx, query: str) -> str:  # type: ignore[no-untyped-def]
    return Searcher("a:")(ctx, query)


def nested() -> Any:
    class Local(BaseModel):
        result: str

    LocalReasons = Literal["no_match"]  # noqa: N806

    @tool(errors=[NO_MATCH])
    def local(ctx: Context[LocalReasons], query: str) -> Local:
        return Local(result=Searcher("a:")(ctx, query))

    return local


def bound_method() -> Callable[..., Any]:
    class Plain:
        def search(self, ctx: Context[Reasons], query: str) -> str:
            return Searcher("a:")(ctx, query)

    return Plain().search


errors = tool(errors=[NO_MATCH])
SHAPES: dict[str, Tool[..., Any]] = {
    "sync function": errors(sync_function),
    "async function": errors(async_function),
    "closure with local types": nested(),
    "bound method": errors(bound_method()),
    "callable object": errors(Searcher("a:")),
    "async callable object": errors(AsyncSearcher("a:")),
    "partial": errors(functools.partial(with_prefix, "a:")),
    "partial of an async function": errors(functools.partial(async_function)),
    "decorated with wraps": errors(plain_decorator(sync_function)),
    "async function decorated by a sync one": errors(plain_decorator(async_function)),
    "decorated without wraps": errors(no_wraps(sync_function)),
    "positional-only": errors(positional),
    "keyword-only": errors(keyword),
    "context without a type": errors(bare_context),
    "method": Store("a:").sync_method,
    "async method": Store("a:").async_method,
    "staticmethod above": Store.static_above,
    "staticmethod below": Store("a:").static_below,
}


@pytest.mark.usefixtures("door")
@pytest.mark.parametrize("shape", SHAPES)
def test_every_kind_of_handler_is_a_tool(shape: str, call: Any) -> None:
    """On a server it succeeds, fails with its declared reason, and rejects unknown arguments."""
    made = SHAPES[shape]
    server = Server("s", tools=[made])
    assert "a:x" == result_of(call(server, made.name, {"query": "x"}))
    error = failed(call(server, made.name, {"query": "none"}))
    assert "no_match" == error["data"]["reason"]
    assert "Search first." == error["data"]["recovery"]["hint"]
    assert "invalid_arguments" == failed(call(server, made.name, {"query": "x", "more": 1}))["data"]["reason"]
    assert "invalid_arguments" == failed(call(server, made.name, {"ctx": 1, "query": "x"}))["data"]["reason"]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.anyio
async def test_every_kind_of_handler_can_be_called_in_a_test(shape: str) -> None:
    """Called without its context, it returns the handler's result and raises its failure."""
    made = SHAPES[shape]

    async def run(query: str) -> Any:
        returned = made(query=query) if shape == "keyword-only" else made(query)
        return await returned if inspect.isawaitable(returned) else returned

    assert "a:x" == getattr(returned := await run("x"), "result", returned)
    with pytest.raises(CodedError) as raised:
        await run("none")
    assert ("no_match", "Nothing matches.") == (raised.value.reason, raised.value.message)
    assert {"hint": "Search first."} == raised.value.recovery


@pytest.mark.usefixtures("door")
def test_a_classmethod_above_the_decorator_is_a_tool(call: Any) -> None:
    """It is bound to its class."""
    assert "a:x" == Store.class_above("x")
    assert "a:x" == result_of(call(Server("s", tools=[Store.class_above]), "class_above", {"query": "x"}))


@pytest.mark.usefixtures("door")
def test_a_method_is_a_tool_of_its_instance(call: Any) -> None:
    """Two instances have two tools, and a server refuses the unbound declaration on the class."""
    first, second = Store("1:"), Store("2:")
    assert ("1:x", "2:x") == (first.sync_method("x"), second.sync_method("x"))
    assert "1:x" == Store.sync_method(first, "x")
    assert "1:x" == first.without_context("x")
    assert "2:x" == result_of(call(Server("s", tools=[second.without_context]), "without_context", {"query": "x"}))
    declared: Any = Store.sync_method
    assert isinstance(declared, MethodTool)
    assert ("sync_method", ("no_match",)) == (declared.name, declared.contract.reasons)
    assert "<MethodTool sync_method>" == repr(declared)
    assert "1:x" == first.sync_method.handler(Context(), "x")
    with pytest.raises(ContractError, match=r"pass it bound to an instance, as instance\.sync_method"):
        Server("s", tools=[declared])


def test_the_handler_is_accessible() -> None:
    """`handler` is the function, and the tool has its name, module and docstring."""
    made = tool(errors=[NO_MATCH])(sync_function)
    assert sync_function is made.handler
    assert ("sync_function", __name__, "Search.") == (made.__name__, made.__module__, made.__doc__)  # type: ignore[attr-defined]
    assert "<Tool sync_function>" == repr(made)


@pytest.mark.usefixtures("door")
@pytest.mark.parametrize("decorator", [tool, tool(), tool(errors=[]), tool(name="f", title="T")])
def test_the_decorator_works_with_and_without_parentheses(decorator: Any, call: Any) -> None:
    """`@tool`, `@tool()`, `@tool(errors=[...])` and options alone are valid."""

    @decorator
    def f(x: int) -> int:
        return x + 1

    assert isinstance(f, Tool)
    assert 2 == f(1)
    assert 2 == result_of(call(Server("s", tools=[f]), "f", {"x": 1}))


@pytest.mark.usefixtures("door")
def test_all_ways_of_registration_serve_the_contract(call: Any) -> None:
    """`tools=`, `@server.tool()` with and without errors, and `server.add_tool(...)` work for both kinds of tools."""

    def sdk_made(x: int) -> int:
        return x

    server = Server("s", tools=[tool(errors=[NO_MATCH], name="listed")(sync_function), SDKTool.from_function(sdk_made)])

    @server.tool(errors=[NO_MATCH])
    def registered(ctx: Context[Reasons], query: str) -> str:
        raise ctx.fail("no_match")

    @server.tool()
    def sdks_own(x: int, ctx: SDKContext) -> int:
        return x

    assert isinstance(registered, Tool)
    assert 1 == sdks_own(1, None)  # type: ignore[arg-type]
    server.add_tool(tool(errors=[NO_MATCH])(async_function), name="added", title="Added")
    server.add_tool(sync_function, errors=[NO_MATCH], name="with_errors")
    server.add_tool(bare_typed_context)
    server.add_tool(sdk_made, name="plain")
    for name in ("listed", "registered", "added", "with_errors"):
        assert "no_match" == failed(call(server, name, {"query": "none"}))["data"]["reason"]
    for name in ("sdk_made", "sdks_own", "plain", "bare_typed_context"):
        assert 3 == result_of(call(server, name, {"x": 3}))
    assert {"listed", "registered", "added", "with_errors", "bare_typed_context"} == server.contracts.keys()
    with pytest.raises(CodedError):
        registered("x")


def bare_typed_context(ctx: Context, x: int) -> int:
    assert ctx.in_request
    return x


def test_a_method_decorated_by_the_server_is_refused() -> None:
    """The server has no instance to call it on."""
    server = Server("s")
    with pytest.raises(ContractError, match="pass it bound to an instance"):

        class Late:
            @server.tool(errors=[NO_MATCH])
            def method(self, ctx: Context[Reasons]) -> None: ...


def test_a_duplicate_name_is_refused() -> None:
    """A client could not distinguish two tools with the same name."""
    made = errors(sync_function)
    server = Server("s", tools=[made])
    with pytest.raises(ContractError, match="has a tool 'sync_function' already"):
        server.add_tool(made)
    with pytest.raises(ContractError, match="put @tool above it"):
        server._add(sync_function)
    server.add_tool(made, name="other")
    server.remove_tool("other")
    server.add_tool(made, name="other")


@pytest.mark.anyio
@pytest.mark.usefixtures("door")
async def test_the_sdks_registration_options_reach_the_client(era: str) -> None:
    """Title, description, annotations, icons and meta are listed; `structured_output=False` leaves only text."""
    icons = [Icon(src="https://example.com/i.png")]

    @tool(
        errors=[NO_MATCH],
        title="Title",
        description="Says more.",
        annotations=ToolAnnotations(read_only_hint=True),
        icons=icons,
        meta={"own": 1},
        structured_output=False,
    )
    def f() -> str:
        return "x"

    async with Client(Server("s", tools=[f]), mode=era) as client:
        (listed,) = (await client.list_tools()).tools
        assert ("Title", "Says more.") == (listed.title, listed.description)
        assert listed.annotations is not None
        assert listed.annotations.read_only_hint
        assert icons == listed.icons
        assert listed.meta is not None
        assert 1 == listed.meta["own"]
        assert "no_match" == listed.meta["dev.mcpcore/errors"][0]["reason"]
        assert listed.output_schema is None
        result = await client.call_tool("f", {})
        assert (None, "x") == (result.structured_content, result.content[0].text)  # type: ignore[union-attr]


def test_an_unknown_option_is_refused() -> None:
    """Only options in the signature are accepted."""
    with pytest.raises(TypeError, match="colour"):
        tool(colour="red")  # type: ignore[call-overload]
    with pytest.raises(ContractError, match="give everything else by keyword"):
        tool("name")  # type: ignore[call-overload]


@pytest.mark.usefixtures("door")
def test_parameters_may_have_names_of_model_attributes(call: Any) -> None:
    """BaseModel attribute names, aliases, defaults and factories arrive as they were sent."""

    @tool
    def f(
        json: int,
        copy: str = "c",
        from_: Annotated[int, Field(alias="from")] = 0,
        *,
        many: Annotated[list[int], Field(default_factory=list)],
        model_dump: bool = False,
        schema: str = "s",
    ) -> list[Any]:
        return [json, copy, from_, many, model_dump, schema]

    server = Server("s", tools=[f])
    assert [1, "c", 0, [], False, "s"] == result_of(call(server, "f", {"json": 1}))
    sent = {"json": 1, "copy": "x", "from": 2, "many": [3], "model_dump": True, "schema": "y"}
    assert [1, "x", 2, [3], True, "y"] == result_of(call(server, "f", sent))
    assert [1, "c", 0, [4], False, "s"] == result_of(call(server, "f", {"json": 1, "many": "[4]"}))
    assert "from_" in failed(call(server, "f", {"json": 1, "from_": 2}))["message"]


@dataclass
class State:
    hits: int = 0


@pytest.mark.usefixtures("door")
def test_the_lifespan_reaches_the_handler(era: str, call: Any) -> None:
    """`ctx.lifespan_context` is the value that the lifespan yielded."""

    @asynccontextmanager
    async def lifespan(server: Any) -> AsyncIterator[State]:
        yield State(41)

    @tool
    async def f(ctx: Context[Any, State]) -> int:
        return ctx.lifespan_context.hits + 1

    assert 42 == result_of(call(Server("s", tools=[f], lifespan=lifespan), "f", mode=era))


class Answer(BaseModel):
    sure: bool


def ask() -> Elicit[Answer]:
    return Elicit("Sure?", Answer)


@pytest.mark.anyio
@pytest.mark.usefixtures("door")
async def test_resolved_parameters_are_requested_from_the_client(era: str) -> None:
    """The client answers by elicitation in the handshake era, and in another round in the later era."""

    @tool(errors=[NO_MATCH])
    async def f(ctx: Context[Reasons], query: str, answer: Annotated[Answer, Resolve(ask)]) -> str:
        if not answer.sure:
            raise ctx.fail("no_match")
        return query

    async def answered(context: Any, params: Any) -> ElicitResult:
        return ElicitResult(action="accept", content={"sure": params.message == "Sure?"})

    async with Client(Server("s", tools=[f]), mode=era, elicitation_callback=answered) as client:
        (listed,) = (await client.list_tools()).tools
        assert ["query"] == list(listed.input_schema["properties"])
        assert "x" == result_of(await client.call_tool("f", {"query": "x"}))


@pytest.mark.anyio
@pytest.mark.usefixtures("door")
async def test_an_input_required_result_is_passed_on() -> None:
    """A handler may ask its client itself and reads the answer from the context."""

    @tool
    async def f(ctx: Context) -> str | InputRequiredResult:
        if ctx.request_state is None:
            return InputRequiredResult(request_state="again")
        return ctx.request_state

    async with Client(Server("s", tools=[f])) as client:
        assert isinstance(await client.session.call_tool("f", {}, allow_input_required=True), InputRequiredResult)
        assert "again" == result_of(await client.call_tool("f", {}))


class TestRefusedAtImport:
    @pytest.mark.parametrize(
        ("annotation", "says"),
        [
            (Context[Literal["no_mach"]], "did you mean 'no_match'?"),
            (Context[Literal["no_match", "zzz"]], "names the reason 'zzz', which errors does not declare"),
            (Context[Union[Literal["no_match"], Literal["zzz"]]], "declared are 'no_match'"),  # noqa: PYI030, UP007, RUF100
            (Context[Literal[Reason.BUSY]], "'busy'"),
            (Context[Reason], "'busy'"),
            (Annotated[Context[Literal["zzz"]], "note"], "'zzz'"),
        ],
    )
    def test_a_context_that_names_an_undeclared_reason(self, annotation: Any, says: str) -> None:
        """The check reads literals, aliases, unions and enums."""

        def handler(ctx: Any) -> None: ...

        handler.__annotations__["ctx"] = annotation
        with pytest.raises(ContractError) as raised:
            tool(errors=[NO_MATCH])(handler)
        assert f"{__file__}:" in str(raised.value)
        assert "tool 'handler'" in str(raised.value)
        assert says in str(raised.value)

    @pytest.mark.parametrize(
        "annotation",
        [Context[str], Context, Context[Any], Context[Literal["no_match"] | str], Context[Reasons]],  # noqa: PYI051
    )
    def test_but_not_one_with_no_or_declared_reasons(self, annotation: Any) -> None:
        """A context without literal reasons accepts any reason."""

        def handler(ctx: Any) -> None: ...

        handler.__annotations__["ctx"] = annotation
        tool(errors=[NO_MATCH])(handler)

    def test_a_context_in_the_wrong_place_on_a_server(self) -> None:
        """The server's error matches the decorator's, with and without a contract, also for an optional context."""
        server = Server("x")

        def second(query: str, ctx: Context) -> None: ...
        def optional(query: str, ctx: Context | None = None) -> None: ...
        def named(*, ctx: Context) -> None: ...

        for register in (server.tool(), server.tool(errors=[NO_MATCH]), server.add_tool, tool):
            for handler in (second, optional):
                with pytest.raises(ContractError, match=r"must be the first parameter, not parameter 2 \('ctx'\)"):
                    register(handler)
            with pytest.raises(ContractError, match="'ctx' is keyword-only"):
                register(named)

    @pytest.mark.usefixtures("door")
    @pytest.mark.anyio
    async def test_an_optional_context_is_passed(self) -> None:
        """It is not an argument of the tool, and is never None inside a request."""
        seen: list[object] = []

        @tool
        def f(ctx: Context | None = None, query: str = "") -> None:
            seen.append(ctx)

        server = Server("x", tools=[f])
        (described,) = await server.list_tools()
        assert set(described.input_schema["properties"]) == {"query"}
        async with Client(server) as client:
            assert not (await client.call_tool("f", {})).is_error
        assert isinstance(seen[0], Context)

    def test_generators(self) -> None:
        """A tool returns only one answer."""

        def f() -> Iterator[int]:
            yield 1

        async def g() -> AsyncIterator[int]:
            yield 1

        for handler in (f, g, plain_decorator(f)):
            with pytest.raises(ContractError, match="the handler yields"):
                tool(handler)

    @pytest.mark.parametrize("fields", [{"error": (str, ...)}, {"fault": (str, Field(alias="error"))}, {"fault": (str, Field(serialization_alias="error"))}])  # fmt: skip
    def test_a_success_model_with_a_field_error(self, fields: dict[str, Any]) -> None:
        """The field is found by name, by alias and by serialization alias."""
        model = create_model("Result", **fields)

        def f() -> Any: ...

        f.__annotations__["return"] = model
        with pytest.raises(ContractError, match="the result has a field 'error'") as raised:
            tool(f)
        assert f"{__file__}:" in str(raised.value)
        assert "tool 'f'" in str(raised.value)

    def test_a_success_model_that_computes_a_field_error(self) -> None:
        """The check covers the serialized fields, not only the stored ones."""

        class Result(BaseModel):
            @computed_field
            def error(self) -> str:
                return "x"

        with pytest.raises(ContractError, match="the result has a field 'error'"):

            @tool
            def f() -> Result: ...

    def test_parameters_that_no_client_could_send(self) -> None:
        """Packed parameters, as from a decorator without functools.wraps, and types without a schema are refused."""
        for handler in (lambda *args: 1, lambda **kwargs: 1):
            with pytest.raises(ContractError, match=r"cannot be described to a client; .*functools\.wraps"):
                tool(name="f")(handler)
        with pytest.raises(ContractError, match="tool 'f'"):

            @tool
            def f(x: types.ModuleType, y: Callable[[int], str]) -> None: ...

    def test_a_handler_without_a_name_or_a_signature(self) -> None:
        """A lambda needs a name, and a C function may have no signature."""
        with pytest.raises(ContractError, match="a lambda has no name"):
            tool(lambda: 1)
        assert "x" == tool(name="x")(lambda: 1).name
        with pytest.raises(ContractError, match="no signature that can be read"):
            tool(iter)

    def test_decorators_in_the_wrong_order(self) -> None:
        """@tool may be applied only once, and only below @classmethod."""
        with pytest.raises(ContractError, match="@tool is applied twice; remove one"):
            tool(tool(sync_noop))
        with pytest.raises(ContractError, match="@classmethod must be above @tool"):

            class C:
                @tool
                @classmethod
                def f(cls) -> None: ...

    def test_which_parameter_has_an_undefined_name(self) -> None:
        """The message identifies the annotation or the result, unless the name is hidden inside another name."""
        hidden = list["OnlyForCheckers"]

        def first(x: int, y: list[OnlyForCheckers]) -> None: ...
        def second(x: int) -> OnlyForCheckers: ...
        def third(x: hidden) -> None: ...

        for handler, part in ((first, "parameter 'y': "), (second, "the result: "), (third, "")):
            made = tool(handler)
            with pytest.raises(ContractError) as raised:
                Server("s", tools=[made])
            assert f"tool {handler.__name__!r}: {part}an annotation names 'OnlyForCheckers'" in str(raised.value)
            assert "define it before the server takes the tool" in str(raised.value)
            assert isinstance(raised.value.__cause__, NameError)

    @pytest.mark.parametrize(
        ("annotation", "cause"),
        [
            ("list[", SyntaxError),
            ("int.nothing", AttributeError),
            ("1/0", ZeroDivisionError),
            ("{}['key']", KeyError),
            ("int[str]", TypeError),
            ("", Exception),
            ("(" * 1000, SyntaxError),
            (list["int.nothing"], AttributeError),
        ],
    )
    @pytest.mark.parametrize(("name", "part"), [("y", "parameter 'y'"), ("return", "the result")])
    def test_an_annotation_that_cannot_be_evaluated(
        self, annotation: Any, cause: type[Exception], name: str, part: str
    ) -> None:
        """The message names the file, tool and parameter, with or without a contract, however it is registered."""

        def handler(x: int, y: Any) -> None: ...

        handler.__annotations__[name] = annotation
        server = Server("s")
        for register in (tool, tool(errors=[NO_MATCH]), server.add_tool, server.tool(), server.tool(errors=[NO_MATCH])):
            with pytest.raises(ContractError) as raised:
                register(handler)
            message = str(raised.value)
            assert f"{__file__}:" in message
            assert f"tool 'handler': {part}: the annotation " in message
            assert f"{type(raised.value.__cause__).__name__}: " in message
            assert message.endswith("; write a type there, such as list[str]")
            assert isinstance(raised.value.__cause__, cause)
            assert len(message) < 500

    def test_an_annotation_that_cannot_be_evaluated_next_to_a_local_name(self) -> None:
        """The search for the bad annotation knows the names around a nested handler."""

        class Inner(BaseModel):
            n: int

        def handler(x: Inner, y: Any) -> None: ...

        handler.__annotations__["y"] = "Inner.nothing"
        with pytest.raises(ContractError, match=r"parameter 'y': the annotation 'Inner\.nothing' cannot be read"):
            tool(handler)

    @pytest.mark.usefixtures("door")
    def test_a_callable_without_annotations(self, call: Any) -> None:
        """Without annotations, the signature alone decides which arguments are passed."""

        class Handler:
            __call__ = staticmethod(len)
            __signature__ = inspect.Signature([inspect.Parameter("x", inspect.Parameter.POSITIONAL_ONLY)])

        assert "3" == call(Server("s", tools=[tool(name="f")(Handler())]), "f", {"x": [1, 2, 3]}).content[0].text

    @pytest.mark.parametrize(("raised", "message"), [(ZeroDivisionError("x"), "no signature that can be read: Zero"), (NameError("N"), "names 'N'")])  # fmt: skip
    def test_a_signature_that_raises(self, raised: Exception, message: str) -> None:
        """From Python 3.14 on, annotations may raise; the message names the tool, and a name may be defined later."""

        class Handler:
            @property
            def __signature__(self) -> inspect.Signature:
                raise raised

            def __call__(self) -> None: ...

        with pytest.raises(ContractError, match=message) as refused:
            Server("s", tools=[tool(name="f")(Handler())])
        assert "tool 'f'" in str(refused.value)
        assert raised is refused.value.__cause__
        with pytest.raises(type(raised)):  # without a contract, the SDK refuses it
            Server("s").add_tool(Handler(), name="f")

    def test_a_type_whose_code_raises(self) -> None:
        """Any exception from describing a type is reported with its parameter, result or failure mode."""

        class Hostile:
            @classmethod
            def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
                raise ZeroDivisionError("hostile")

        def first(x: int, y: Hostile) -> None: ...
        def second(x: int, y: Any) -> None: ...
        def third(x: int, y: Any) -> None: ...

        second.__annotations__["y"] = Literal[()]
        third.__annotations__["y"] = "3"
        for handler in (first, second, third):
            with pytest.raises(ContractError) as raised:
                tool(handler)
            assert f"{__file__}:" in str(raised.value)
            assert f"tool {handler.__name__!r}: parameter 'y' cannot be described to a client: " in str(raised.value)
            assert f"{type(raised.value.__cause__).__name__}: " in str(raised.value)

        entry = FailureMode("gone", ErrorCode.NOT_FOUND, when="It is gone.", recovery="Look elsewhere.", data=Hostile)
        with pytest.raises(
            ContractError, match=r"tool 'sync_noop': errors\[0\]: data=Hostile has no JSON schema: Zero"
        ):
            tool(errors=[entry])(sync_noop)

    def test_two_types_that_cannot_be_described(self) -> None:
        """The message names the type that is described, or else the handler."""

        def handler(x: Any, y: Any, z=1): ...

        handler.__annotations__.update(x=types.ModuleType, y=Literal[()])
        with pytest.raises(ContractError, match=r"parameter 'y' cannot be described to a client: AssertionError"):
            tool(handler)
        handler.__annotations__.update(x="3", y="3")
        with pytest.raises(ContractError, match=r"tool 'handler': the handler cannot be described to a client: "):
            tool(handler)

    @pytest.mark.usefixtures("door")
    def test_a_context_imported_for_type_checkers_is_recognised(self, call: Any) -> None:
        """Linters move imports that only annotations use under TYPE_CHECKING."""
        source = (
            "from __future__ import annotations\nfrom typing import TYPE_CHECKING\nfrom mcpcore import tool\n"
            "if TYPE_CHECKING:\n    from mcpcore import Context\n"
            "@tool\ndef f(ctx: Context, x: int) -> int:\n    return x\n"
        )
        module = types.ModuleType("late")
        exec(compile(source, "late.py", "exec"), module.__dict__)
        assert 1 == result_of(call(Server("s", tools=[module.f]), "f", {"x": 1}))

    @pytest.mark.usefixtures("door")
    def test_an_annotation_defined_later_is_read_by_the_server(self, call: Any) -> None:
        """The models of a module may be at its end."""
        module = types.ModuleType("later")
        exec(
            compile(
                "from __future__ import annotations\nfrom mcpcore import tool\n"
                "@tool\ndef f(x: Late) -> int:\n    return x\nLate = int\n",
                "later.py",
                "exec",
            ),
            module.__dict__,
        )
        assert 1 == result_of(call(Server("s", tools=[module.f]), "f", {"x": 1}))


class TestContext:
    def test_fail_without_arguments_uses_the_declaration(self) -> None:
        """Message, code, recovery and retry are those of the entry."""
        error = Context(tool(errors=[BUSY])(sync_noop).contract).fail("busy")
        assert ("Too many at once.", ErrorCode.RATE_LIMITED, "busy") == (error.message, error.code, error.reason)
        assert {"hint": "Wait."} == error.recovery
        assert Retry.after(seconds=30) == error.retry == error.advice

    def test_recovery_comes_from_the_throw_then_the_data_then_the_contract(self) -> None:
        """The throw site comes first, then the data, then the contract, and None removes the recovery."""
        ctx = Context(tool(errors=[BUSY])(sync_noop).contract)
        by_data = {"recovery": {"hint": "A caller's words."}}
        looked_up = {"recovery": DeclaredRecovery(FailureMode("other", BUSY.code, when="Busy.", recovery="Looked up."))}
        assert {"hint": "By throw."} == ctx.fail("busy", data=by_data, recovery="By throw.").recovery
        assert {"hint": "By throw."} == ctx.fail("busy", data=looked_up, recovery="By throw.").recovery
        assert {"hint": "Looked up."} == ctx.fail("busy", data=looked_up).recovery
        assert {"hint": "Wait."} == ctx.fail("busy", data=ctx.recovery_for("busy")).recovery
        assert {"hint": "Wait."} == ctx.fail("busy", data=by_data).recovery
        assert {"hint": "Wait."} == ctx.fail("busy", data={"recovery": {"nothing": 1}}).recovery
        assert ctx.fail("busy", data=looked_up, recovery=None).recovery is None
        wire = {"hint": "H", "fallbackTool": "f", "userMessage": "u"}
        named = {"hint": "H", "fallback_tool": "f", "user_message": "u"}
        assert wire == ctx.fail("busy", recovery=named).recovery == ctx.fail("busy", recovery=wire).recovery
        assert Retry.now() == ctx.fail("busy", retry=Retry.now()).retry
        assert {"recovery": {"hint": "Wait."}} == ctx.recovery_for("busy")
        assert {} == ctx.recovery_for("zzz")

    @pytest.mark.parametrize("reason", ["bussy", "", None, 3, ["x"]])
    def test_fail_with_an_undeclared_reason_is_a_contract_error(self, reason: Any) -> None:
        """The message lists the declared reasons or the nearest one."""
        with pytest.raises(ContractError, match=r"is not declared; (did you mean|declared are) 'busy'"):
            Context(tool(errors=[BUSY])(sync_noop).contract, name="f").fail(reason)
        with pytest.raises(ContractError, match="declares no failure modes"):
            Context().fail(reason)

    @pytest.mark.anyio
    async def test_outside_a_request_it_has_no_session(self) -> None:
        """Methods that need a client raise a clear error; those that only notify a client do nothing."""
        ctx: Context[Any, Any] = Context()
        assert not ctx.in_request
        assert (None, None, None) == (ctx.protocol_version, ctx.input_responses, ctx.request_state)
        await ctx.report_progress(1)
        await ctx.info("x")
        ctx.bind(role="reader")
        assert "<Context of no tool, outside a request>" == repr(ctx)
        for name in ("session", "request_id", "headers", "mcp_server", "request_context", "lifespan_context"):
            with pytest.raises(ValueError, match="outside a request"):
                getattr(ctx, name)

    def test_has_everything_that_the_sdks_context_has(self) -> None:
        """A handler can be migrated without losing a method."""
        public = {name for name in vars(SDKContext) if not name.startswith(("_", "model_"))}
        assert public - set(dir(Context)) == set()

    @pytest.mark.anyio
    @pytest.mark.usefixtures("door")
    @pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")
    async def test_works_as_the_sdks_context_inside_a_request(self, era: str) -> None:
        """Progress, logs, resources and request details work."""
        seen: dict[str, Any] = {}

        @tool(errors=[NO_MATCH])
        async def f(ctx: Context[Reasons]) -> str:
            await ctx.report_progress(1, 2, "half")
            for level in (ctx.debug, ctx.info, ctx.warning, ctx.error):
                await level("said", logger_name="own")
            seen["version"] = ctx.protocol_version
            seen["same"] = ctx.sdk is ctx.sdk and ctx.sdk.request_context is ctx.request_context
            seen["id"], seen["server"] = ctx.request_id, ctx.mcp_server
            seen["rest"] = (ctx.session, ctx.client_capabilities, ctx.headers, ctx.input_responses, ctx.request_state)
            assert "in a request" in repr(ctx)
            (content,) = await ctx.read_resource("data://one")
            await ctx.notify_tools_changed()
            await ctx.notify_prompts_changed()
            await ctx.notify_resources_changed()
            await ctx.notify_resource_updated("data://one")
            await ctx.close_sse_stream()
            await ctx.close_standalone_sse_stream()
            return str(content.content)

        server = Server("s", tools=[f])

        @server.resource("data://one")
        def text() -> str:
            return "text"

        progress: list[float] = []
        logs: list[str] = []

        async def on_progress(done: float, total: float | None, message: str | None) -> None:
            progress.append(done)

        async def on_log(params: Any) -> None:
            logs.append(params.level)

        async with Client(server, mode=era, logging_callback=on_log, log_level="debug") as client:
            assert "text" == result_of(await client.call_tool("f", {}, progress_callback=on_progress))
            await anyio.sleep(0.05)
        assert [1.0] == progress
        assert ["debug", "error", "info", "warning"] == sorted(logs)
        assert seen["server"].name == server.name
        assert seen["same"]
        assert seen["id"]


def sync_noop() -> None: ...


@pytest.mark.usefixtures("door")
def test_a_tool_called_from_another_gets_the_context_of_the_request(call: Any) -> None:
    """The context uses the inner tool's contract, and the caller may handle or pass on its failure."""

    @tool(errors=[NO_MATCH])
    def inner(ctx: Context[Reasons]) -> str:
        assert ctx.in_request
        assert ("no_match",) == ctx.contract.reasons
        raise ctx.fail("no_match", data={"from": "inner"})

    @tool(errors=[BUSY])
    def outer(ctx: Context[Literal["busy"]], *, pass_on: bool) -> str:
        try:
            return inner()
        except CodedError as error:
            if pass_on:
                raise
            raise ctx.fail("busy") from error

    server = Server("s", tools=[inner, outer])
    assert "busy" == failed(call(server, "outer", {"pass_on": False}))["data"]["reason"]
    passed = failed(call(server, "outer", {"pass_on": True}))
    assert {"hint": "Search first."} == passed["data"]["recovery"]
    assert ("no_match", "inner", "outer") == (passed["data"]["reason"], passed["data"]["from"], passed["tool"])


@pytest.mark.anyio
async def test_a_service_failure_gets_its_entry_when_a_tool_is_called() -> None:
    """A factory with a declared reason uses the entry's message and recovery."""

    @tool(errors=[NO_MATCH])
    async def f() -> str:
        raise not_found(data={"reason": "no_match"})

    with pytest.raises(CodedError) as raised:
        await f()
    assert ("Nothing matches.", {"hint": "Search first."}) == (raised.value.message, raised.value.recovery)
    assert raised.value.entry is NO_MATCH


def test_an_unknown_option_is_reported_with_the_valid_ones() -> None:
    """FastMCP decorator options are a likely mistake, so the message says where they belong."""
    decorator: Any = tool
    with pytest.raises(TypeError, match=r"@tool has no option 'tags'; its options are name, .*belongs to @mcp\.tool"):
        decorator(errors=[BUSY], tags={"orders"})
