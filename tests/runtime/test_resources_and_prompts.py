"""Resources and prompts with contracts, over a real client in both eras of the protocol."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import anyio
import pytest
from mcp import Client
from mcp.server.mcpserver import Context as SDKContext
from mcp.server.mcpserver.exceptions import ResourceNotFoundError
from mcp.server.mcpserver.prompts import Prompt
from mcp.server.mcpserver.prompts.base import AssistantMessage
from mcp.server.mcpserver.resources import TextResource
from mcp.shared.exceptions import MCPError
from mcp_types import Completion, InputRequiredResult, PromptReference
from pydantic import Field

from mcpcore import (
    Context,
    ContractError,
    Envelope,
    ErrorCode,
    FailureMode,
    Limits,
    Retry,
    Server,
    guard,
    not_found,
    prompt,
    resource,
    tool,
)
from mcpcore.audit import verify
from tests import answers
from tests.answers import envelope_of

pytestmark = pytest.mark.usefixtures("door")

T = TypeVar("T")

GONE = FailureMode("gone", ErrorCode.NOT_FOUND, when="It was withdrawn.", recovery="Search for a newer one instead.")
BUSY = FailureMode(
    "busy",
    ErrorCode.RATE_LIMITED,
    when="The store is busy.",
    recovery="Wait two seconds and read it again.",
    retry=Retry.after(seconds=2),
)


def ask(server: Any, request: Callable[[Client], Awaitable[T]], *, mode: str = "auto") -> T:
    return answers.ask(Client(server, mode=mode), request)


def read(server: Any, uri: str, *, mode: str = "auto") -> str:
    result = ask(server, lambda client: client.read_resource(uri), mode=mode)
    return str(result.contents[0].text)  # type: ignore[union-attr]


def failure(server: Any, request: Callable[[Client], Awaitable[Any]], *, mode: str = "auto") -> tuple[int, Envelope]:
    """Return the error code and the envelope of a request that fails."""
    with pytest.raises(MCPError) as raised:
        ask(server, request, mode=mode)
    envelope = envelope_of(raised.value)
    assert raised.value.message == envelope.message
    return raised.value.code, envelope


def reading(uri: str) -> Callable[[Client], Awaitable[Any]]:
    return lambda client: client.read_resource(uri)


def getting(name: str, arguments: dict[str, str] | None = None) -> Callable[[Client], Awaitable[Any]]:
    return lambda client: client.get_prompt(name, arguments)


@resource("articles://{pmid}{?page}", errors=[GONE, BUSY], mime_type="application/json", meta={"own": 1})
async def article(ctx: Context[Literal["gone", "busy"]], pmid: str, page: int = 1) -> dict[str, Any]:
    """An article."""
    if pmid == "busy":
        raise ctx.fail("busy")
    if pmid == "gone":
        raise ctx.fail("gone", f"{pmid} was withdrawn.", data={"pmid": pmid})
    return {"pmid": pmid, "page": page}


@resource("status://store", errors=[BUSY])
def status(ctx: Context[Literal["busy"]]) -> str:
    """The state of the store."""
    if ctx.lifespan_context == "busy":
        raise ctx.fail("busy")
    return "fine"


@prompt(errors=[GONE], title="Summary")
def summarise(
    ctx: Context[Literal["gone"]], pmid: Annotated[str, Field(description="The article.")], words: int = 100
) -> list[Any]:
    """Summarise an article."""
    if pmid == "gone":
        raise ctx.fail("gone")
    return [f"Summarise {pmid} in {words} words.", AssistantMessage("Yes.")]


@pytest.fixture
def server() -> Server:
    return Server("library", resources=[article, status], prompts=[summarise])


class TestSuccess:
    def test_a_template_a_static_resource_and_a_prompt_answer(self, server: Server, era: str) -> None:
        """Arguments are converted, and values are written as the SDK writes them."""
        assert {"pmid": "7", "page": 3} == json.loads(read(server, "articles://7?page=3", mode=era))
        assert {"pmid": "7", "page": 1} == json.loads(read(server, "articles://7", mode=era))
        assert "fine" == read(server, "status://store", mode=era)
        result = ask(server, getting("summarise", {"pmid": "7", "words": "5"}), mode=era)
        texts = [(message.role, message.content.text) for message in result.messages]
        assert [("user", "Summarise 7 in 5 words."), ("assistant", "Yes.")] == texts

    def test_the_lists_carry_the_contracts(self, server: Server, era: str) -> None:
        """The author's own `_meta` stays, and the contents of a resource do not repeat the contract.

        FastMCP adds the schema of an argument to its description.
        """
        (listed,) = ask(server, lambda client: client.list_resources(), mode=era).resources
        (template,) = ask(server, lambda client: client.list_resource_templates(), mode=era).resource_templates
        (summary,) = ask(server, lambda client: client.list_prompts(), mode=era).prompts
        assert ("status", "The state of the store.", "text/plain") == (
            listed.name,
            listed.description,
            listed.mime_type,
        )
        assert ["busy"] == [entry["reason"] for entry in (listed.meta or {})["dev.mcpcore/errors"]]
        assert article.contract.to_json() == (template.meta or {})["dev.mcpcore/errors"]
        assert (1, "application/json") == ((template.meta or {})["own"], template.mime_type)
        assert summarise.contract.to_json() == (summary.meta or {})["dev.mcpcore/errors"]
        arguments = summary.arguments or ()
        assert [("pmid", True), ("words", False)] == [(argument.name, argument.required) for argument in arguments]
        descriptions = [(argument.description or "").split("Provide a value matching")[0] for argument in arguments]
        assert ["The article.", ""] == [description.strip() for description in descriptions]
        assert "dev.mcpcore/errors" not in json.dumps(ask(server, reading("articles://7"), mode=era).contents[0].meta)

    def test_handlers_of_each_kind(self) -> None:
        """Methods, static methods, closures and handlers without a context may return bytes and SDK types."""

        class Store:
            name = "main"

            @resource("store://name", errors=[GONE])
            def label(self, ctx: Context[Literal["gone"]]) -> str:
                return self.name

            @prompt(errors=[GONE])
            async def greet(self, who: str) -> str:
                return f"Greet {who} from {self.name}."

            @staticmethod
            @resource("store://raw")
            def raw() -> bytes:
                return b"\x00"

        store = Store()
        text = TextResource(uri="store://text", name="text", text="plain")
        plain = Prompt.from_function(lambda: "Hello.", name="plain")
        server = Server("s", resources=[store.label, Store.raw, text], prompts=[store.greet, plain])
        assert "main" == read(server, "store://name")
        assert "plain" == read(server, "store://text")
        assert "AA==" == ask(server, reading("store://raw")).contents[0].blob  # type: ignore[union-attr]
        assert "Greet Ann from main." == ask(server, getting("greet", {"who": "Ann"})).messages[0].content.text  # type: ignore[union-attr]
        assert "Hello." == ask(server, getting("plain")).messages[0].content.text  # type: ignore[union-attr]

    def test_the_decorators_of_the_server(self) -> None:
        """With `errors` or with mcpcore's context they create resources with contracts, and otherwise SDK resources."""
        server = Server("s")

        @server.resource("a://{x}", errors=[GONE])
        def first(ctx: Context[Literal["gone"]], x: str) -> str:
            raise ctx.fail("gone")

        @server.resource("b://b")
        def second(ctx: Context) -> str:
            return "b" if ctx.in_request else ""

        @server.prompt(errors=[GONE])
        def fourth(ctx: Context[Literal["gone"]]) -> str:
            raise ctx.fail("gone")

        @server.prompt()
        def fifth(ctx: Context) -> str:
            return "five"

        @server.prompt("sixth")
        def unnamed() -> str:
            return "six"

        assert "b" == read(server, "b://b")
        assert "gone" == failure(server, reading("a://1"))[1].reason
        assert "gone" == failure(server, getting("fourth"))[1].reason
        for name, text in (("fifth", "five"), ("sixth", "six")):
            assert text == ask(server, getting(name)).messages[0].content.text  # type: ignore[union-attr]
        with pytest.raises(Exception, match=r"It was withdrawn\."):
            first(x="1")

    @pytest.mark.no_server
    @pytest.mark.server_only("the handler takes the SDK's context, which FastMCP does not have")
    def test_an_sdk_resource_gets_its_context(self) -> None:
        """It works as on an `MCPServer`."""
        server = Server("s")

        @server.resource("c://{x}")
        def plain(x: str, ctx: SDKContext) -> str:
            return f"{x}{ctx.request_id != ''}"

        assert "xTrue" == read(server, "c://x")

    @pytest.mark.no_server
    def test_a_unit_test_calls_them_like_functions(self) -> None:
        """The test leaves out the context, and a failure is raised."""
        assert {"pmid": "7", "page": 1} == anyio.run(lambda: article(pmid="7"))
        with pytest.raises(Exception, match=r"gone was withdrawn\."):
            anyio.run(lambda: article(pmid="gone"))
        assert ("articles://{pmid}{?page}", "article") == (article.uri, article.name)
        assert "<DeclaredResource article>" == repr(article)


class TestFailure:
    @pytest.mark.parametrize("dialect", ["canonical", "taxonomy", "tool_error", "ok_envelope"])
    def test_a_declared_failure_is_a_protocol_error(self, era: str, dialect: str) -> None:
        """The number is -32602 if the requested item does not exist, else -32603; the envelope has the details."""
        server = Server("s", resources=[article], prompts=[summarise], dialect=dialect)
        number, gone = failure(server, reading("articles://gone"), mode=era)
        assert (-32602, "gone", "NOT_FOUND", "gone was withdrawn.") == (number, gone.reason, gone.name, gone.message)
        assert (GONE.recovery, "gone") == (gone.hint, gone.details["pmid"])
        number, busy = failure(server, reading("articles://busy"), mode=era)
        assert (-32603, "busy", Retry.after(seconds=2)) == (number, busy.reason, busy.retry)
        number, prompted = failure(server, getting("summarise", {"pmid": "gone"}), mode=era)
        assert (-32602, "gone", GONE.when) == (number, prompted.reason, prompted.message)

    def test_a_static_resource_has_a_context(self, era: str) -> None:
        """The context includes the lifespan."""
        from contextlib import asynccontextmanager

        @asynccontextmanager
        async def lifespan(_: Any) -> Any:
            yield "busy"

        server = Server("s", resources=[status], lifespan=lifespan)
        assert "busy" == failure(server, reading("status://store"), mode=era)[1].reason

    @pytest.mark.parametrize("error", [KeyError("hunter2"), FileNotFoundError("hunter2"), LookupError("hunter2")])
    def test_an_undeclared_exception_is_a_crash(
        self, era: str, error: Exception, caplog: pytest.LogCaptureFixture
    ) -> None:
        """An exception is never taken for a missing resource, whatever its name, and its text stays in the log."""

        @resource("a://{x}", errors=[GONE])
        def broken(x: str) -> str:
            raise error

        @prompt
        async def asking() -> str:
            raise error

        server = Server("s", resources=[broken], prompts=[asking])

        @server.resource("b://{x}")
        def plain(x: str) -> str:
            raise error

        for request, kind in (
            (reading("a://1"), "resource"),
            (reading("b://1"), "resource"),
            (getting("asking"), "prompt"),
        ):
            number, envelope = failure(server, request, mode=era)
            assert (-32603, "INTERNAL_ERROR") == (number, envelope.name)
            assert f"The {kind} failed unexpectedly." == envelope.message
            assert envelope.data is None
        assert "hunter2" in caplog.text

    def test_a_deliberate_not_found_is_reported_as_missing(self, server: Server) -> None:
        """This holds for the SDK's own error, a coded error, and a URI without a resource."""

        @server.resource("m://{how}")
        def missing(how: str) -> str:
            raise ResourceNotFoundError("no such page") if how == "sdk" else not_found("No page.")

        for request, said in (
            (reading("m://sdk"), "no such page"),
            (reading("m://coded"), "No page."),
            (reading("zzz://x"), "Unknown resource: zzz://x"),
            (getting("zzz"), "Unknown prompt: zzz"),
        ):
            number, envelope = failure(server, request)
            assert (-32602, "NOT_FOUND", said) == (number, envelope.name, envelope.message)

    def test_arguments_that_do_not_fit_are_described(self, server: Server, era: str) -> None:
        """The error has a hint from the schema, without the rejected value."""
        number, page = failure(server, reading("articles://7?page=hunter2"), mode=era)
        assert (-32602, "invalid_arguments") == (number, page.reason)
        assert "Send 'page' as an integer." == page.hint
        number, missing = failure(server, getting("summarise", {"words": "hunter2"}), mode=era)
        assert (-32602, "invalid_arguments") == (number, missing.reason)
        assert {"pmid", "words"} == {issue["path"] for issue in missing.details["issues"]}
        _, unknown = failure(server, getting("summarise", {"pmid": "7", "wrods": "5"}), mode=era)
        assert "There is no 'wrods'; did you mean 'words'?" == unknown.hint
        assert "hunter2" not in f"{page.message}{page.data}{missing.message}{missing.data}"

    def test_services_use_the_contract_of_the_running_handler(self) -> None:
        """`guard` maps to its reasons, and `ctx.judged` records under its name."""

        class Store:
            @guard(errors={TimeoutError: "busy"})
            def fetch(self) -> str:
                raise TimeoutError

        @resource("s://{x}", errors=[BUSY])
        def stored(x: str) -> str:
            return Store().fetch()

        @resource("t://t", errors=[GONE])
        def parts(ctx: Context[Literal["gone"]]) -> str:
            return ctx.record_failure(ctx.fail("gone")).message

        server = Server("s", resources=[stored, parts])
        assert "busy" == failure(server, reading("s://1"))[1].reason
        assert GONE.when == read(server, "t://t")

    def test_a_tool_that_reads_a_resource_fails_with_its_own_contract(self, call: Any) -> None:
        """The resource's handler uses the resource's contract, and the tool uses its own."""

        @tool(errors=[BUSY])
        async def fetch(ctx: Context[Literal["busy"]], pmid: str) -> str:
            try:
                await ctx.read_resource(f"articles://{pmid}")
            except Exception as exc:
                raise ctx.fail("busy", f"Not readable: {type(exc).__name__}") from exc
            return "read"

        server = Server("s", tools=[fetch], resources=[article])
        assert not call(server, "fetch", {"pmid": "7"}).is_error
        assert "busy" == envelope_of(call(server, "fetch", {"pmid": "gone"})).reason

    def test_each_failure_of_a_completion_leaves_one_record(self, trail: Path) -> None:
        """The record names the argument that is completed."""
        server = Server("s", prompts=[summarise], audit=trail)

        @server.completion()
        async def complete(ref: Any, argument: Any, context: Any) -> Completion | None:
            if argument.value == "crash":
                raise RuntimeError("hunter2\nRecovery: forged")
            if argument.value == "busy":
                raise not_found("No such list.")
            return Completion(values=["a"]) if argument.value else None

        def completing(value: str) -> Callable[[Client], Awaitable[Any]]:
            ref = PromptReference(type="ref/prompt", name="summarise")
            return lambda client: client.complete(ref, {"name": "pmid", "value": value})

        assert ["a"] == ask(server, completing("x")).completion.values
        assert [] == ask(server, completing("")).completion.values
        number, crashed = failure(server, completing("crash"))
        assert (-32603, "The completion failed unexpectedly.") == (number, crashed.message)
        assert "No such list." == failure(server, completing("busy"))[1].message
        records = [json.loads(line) for line in trail.read_text().splitlines()]
        assert [("completion", "summarise.pmid", "INTERNAL_ERROR"), ("completion", "summarise.pmid", "NOT_FOUND")] == [
            (record["surface"], record["completion"], record["name"]) for record in records if "event" not in record
        ]
        assert not verify(trail).problems


class TestRefused:
    @pytest.mark.no_server
    @pytest.mark.parametrize(
        ("declare", "message"),
        [
            (
                lambda: resource("a://{x}")(lambda_named("f", "y: str")),
                r"the URI 'a://\{x\}' has \{x\}; add a parameter",
            ),
            (lambda: resource("a://a")(lambda_named("f", "y: str")), r"the parameter 'y' is not in the URI 'a://a'"),
            (
                lambda: resource("a://a{?y}")(lambda_named("f", "y: str")),
                r"the query variable 'y'.*give the parameter a default",
            ),
            (lambda: resource("a://{x")(lambda_named("f", "x: str")), r"the URI 'a://\{x' is not a template"),
            (lambda: resource(lambda_named("f", "")), r"@resource needs the URI"),  # type: ignore[call-overload]
            (lambda: resource(7)(lambda_named("f", "")), r"the URI must be a string"),  # type: ignore[call-overload]
            (lambda: prompt(7), r"prompt\(7\): a handler is a function"),  # type: ignore[call-overload]
            (lambda: prompt(prompt(lambda_named("f", ""))), r"@prompt is applied twice; remove one"),
            (lambda: tool(prompt(lambda_named("f", ""))), r"@prompt and @tool are on one function"),
            (lambda: Server("s", resources=[7]), r"Server\(resources=\[\.\.\.\]\) takes resources made by @resource"),
            (lambda: Server("s", prompts=[article]), r"Server\(prompts=\[\.\.\.\]\) takes prompts made by @prompt"),
            (lambda: Server("s", resources=[status, status]), r"the server already has a resource at 'status://store'"),
            (lambda: Server("s", prompts=[summarise, summarise]), r"the server already has a prompt 'summarise'"),
        ],
    )
    def test_what_cannot_be_served_is_refused_at_import(self, declare: Callable[[], Any], message: str) -> None:
        """The error gives the place, the problem and the next step."""
        with pytest.raises(ContractError, match=message):
            declare()

    @pytest.mark.no_server
    def test_a_context_that_names_an_undeclared_reason(self) -> None:
        """The message names the resource."""
        with pytest.raises(ContractError, match=r"resource 'f': Context names the reason 'gonne'.*did you mean 'gone'"):

            @resource("a://a", errors=[GONE])
            def f(ctx: Context[Literal["gonne"]]) -> str:
                return ""

        with pytest.raises(ContractError, match=r"prompt 'g': the handler yields; a prompt answers once"):

            @prompt(errors=[GONE])
            def g() -> Any:
                yield ""


def lambda_named(name: str, parameters: str) -> Any:
    """Build a function with this name and these parameters."""
    namespace: dict[str, Any] = {}
    exec(f"def {name}({parameters}) -> str:\n    return ''", namespace)
    return namespace[name]


class TestRareWays:
    @pytest.mark.anyio
    async def test_a_cancelled_read_is_not_a_failure(self, trail: Path) -> None:
        """The handler is cancelled, and no failure is recorded."""
        ended = anyio.Event()

        @resource("slow://{x}", errors=[GONE])
        async def slow(x: str) -> str:
            try:
                await anyio.sleep(30)
            except anyio.get_cancelled_exc_class():
                ended.set()
                raise
            return ""

        async with Client(Server("s", resources=[slow], audit=trail)) as client:
            with anyio.move_on_after(0.3):
                await client.read_resource("slow://a")
            with anyio.fail_after(10):
                await ended.wait()
        assert '"reason"' not in trail.read_text()

    @pytest.mark.anyio
    @pytest.mark.server_only("the code reads through the Server itself")
    async def test_code_on_the_server_reads_without_a_client(self) -> None:
        """A handler that then uses the session gets an error about the missing session."""

        @resource("a://a")
        def plain(ctx: Context) -> str:
            return "read"

        @resource("b://b")
        def sessioned(ctx: Context) -> str:
            return str(ctx.session)

        server = Server("s", resources=[plain, sessioned])

        (content,) = await server.read_resource("a://a")  # type: ignore[misc]
        assert "read" == content.content
        with pytest.raises(Exception, match="b://b") as raised:
            await server.read_resource("b://b")
        assert "there is no client" in str(raised.value.__cause__)

    def test_a_template_may_ask_the_client_first(self) -> None:
        """The question reaches the client, and the handler answers in the next round."""

        @resource("ask://{x}", errors=[GONE])
        def asking(ctx: Context[Literal["gone"]], x: str) -> Any:
            return InputRequiredResult(request_state="again") if ctx.request_state is None else x

        assert "a" == read(Server("s", resources=[asking]), "ask://a")

    def test_the_data_of_an_authors_error_is_kept_without_redaction(self) -> None:
        """`Limits` controls redaction of protocol errors, too."""
        token = "ghp_" + "a1B2" * 9

        def raising(limits: Limits) -> Server:
            server = Server("s", limits=limits)

            @server.prompt()
            def ask_nothing() -> str:
                raise MCPError(-32602, "No.", {"token": token})

            return server

        for limits, shown in ((Limits(), False), (Limits(redact_secrets=False), True)):
            with pytest.raises(MCPError) as raised:
                ask(raising(limits), getting("ask_nothing"))
            assert shown == (token in str(raised.value.error.data))
