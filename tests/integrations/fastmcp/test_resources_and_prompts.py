"""Resources and prompts with contracts on a FastMCP server, over a real client of the SDK."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Annotated, Any, Literal

import pytest
from fastmcp import Context as FastMCPContext, FastMCP
from fastmcp.dependencies import Depends
from fastmcp.prompts import Message, PromptResult, prompt as fastmcp_prompt
from fastmcp.resources import ResourceContent, ResourceResult, TextResource, resource as fastmcp_resource
from fastmcp.server.transforms import Transform
from mcp import Client
from mcp.server.mcpserver.prompts.base import AssistantMessage
from mcp.shared.exceptions import MCPError
from pydantic import Field

from mcpcore import Context, ContractError, Envelope, ErrorCode, FailureMode, Server, prompt, resource, tool
from mcpcore.contract.failure_modes import CONTRACT_META_KEY
from mcpcore.integrations.fastmcp import ContractMiddleware
from tests import answers
from tests.answers import envelope_of
from tests.integrations.fastmcp.contract_server import GONE, extended
from tests.integrations.fastmcp.plain_server import contracted

BUSY = FailureMode("busy", ErrorCode.RATE_LIMITED, when="The store is busy.", recovery="Wait, and read it again.")
SECRET = "password=hunter2hunter2"


@resource("articles://{pmid}{?page}", errors=[GONE, BUSY], mime_type="application/json", meta={"own": 1})
async def article(ctx: Context[Literal["gone", "busy"]], pmid: str, page: int = 1) -> dict[str, Any]:
    """An article."""
    ctx.bind(phase_id="read")
    if pmid == "gone":
        raise ctx.fail("gone", f"{pmid} was withdrawn.", data={"pmid": pmid})
    if pmid == "crash":
        raise FileNotFoundError(SECRET)
    if pmid == "returned":
        return {"failure": ctx.fail("busy")}
    if pmid.startswith("lost"):
        ctx.fail("gone")
    if pmid == "lost and busy":
        raise ctx.fail("busy")
    return {"pmid": pmid, "page": page, "server": ctx.fastmcp.fastmcp.name}


@resource("status://store", errors=[BUSY])
def status(ctx: Context[Literal["busy"]]) -> str:
    """The state of the store."""
    if ctx.lifespan_context.get("busy"):
        raise ctx.fail("busy")
    return "fine"


@prompt(errors=[GONE], title="Summary")
def summarise(
    ctx: Context[Literal["gone"]], pmid: Annotated[str, Field(description="The article.")], words: int = 100
) -> list[Any]:
    """Summarise an article."""
    if pmid == "gone":
        raise ctx.fail("gone")
    if pmid == "crash":
        raise FileNotFoundError(SECRET)
    if pmid == "returned":
        return [ctx.fail("gone")]
    return [f"Summarise {pmid} in {words} words.", AssistantMessage("Yes."), Message("Go.")]


def bare(name: str = "library", **options: Any) -> FastMCP[Any]:
    return extended(FastMCP(name, **options), article, status, summarise)


def library(**options: Any) -> FastMCP[Any]:
    mcp = bare()
    mcp.middleware.insert(0, ContractMiddleware(**options))
    return mcp


def ask(mcp: FastMCP[Any], request: Callable[[Client], Awaitable[Any]], *, mode: str = "auto") -> Any:
    return answers.ask(Client(getattr(mcp, "_mcp_server", mcp), mode=mode), request)


def read(mcp: FastMCP[Any], uri: str, **options: Any) -> Any:
    (content,) = ask(mcp, lambda client: client.read_resource(uri), **options).contents
    return content


def rendered(mcp: FastMCP[Any], name: str, arguments: dict[str, str] | None = None, **options: Any) -> Any:
    return ask(mcp, lambda client: client.get_prompt(name, arguments), **options)


def failed(action: Callable[[], Any]) -> tuple[MCPError, Envelope]:
    with pytest.raises(MCPError) as raised:
        action()
    return raised.value, envelope_of(raised.value)


def records(caplog: pytest.LogCaptureFixture) -> list[dict[str, Any]]:
    return [json.loads(entry.getMessage()) for entry in caplog.records if entry.name == "mcpcore.audit"]


class TestResources:
    def test_a_success_matches_that_of_a_server(self, era: str) -> None:
        """JSON has its type and `_meta`, variables are converted, and only lists have the contract."""
        mcp = extended(contracted(FastMCP("library")), article, status)
        content = read(mcp, "articles://7?page=3", mode=era)
        assert {"pmid": "7", "page": 3, "server": "library"} == json.loads(content.text)
        assert ("application/json", {"own": 1}) == (content.mime_type, content.meta)
        content = read(mcp, "status://store", mode=era)
        assert ("fine", "text/plain", None) == (content.text, content.mime_type, content.meta)

    @pytest.mark.usefixtures("only_warnings")
    def test_a_failure_in_a_result_is_noticed_and_a_lost_one_reported(self, caplog: pytest.LogCaptureFixture) -> None:
        """Resources behave like tools."""
        mcp = contracted(bare())
        assert "busy" == failed(lambda: read(mcp, "articles://returned"))[1].reason
        assert "lost" in read(mcp, "articles://lost").text
        assert "did not raise it, so clients did not get it" in caplog.text

    def test_the_contract_is_in_the_lists_even_through_a_mount(self) -> None:
        """This covers resources, templates and prompts; the parent answers failures of a mounted server."""
        parent = contracted(FastMCP("parent"))
        parent.mount(bare(), namespace="lib")
        for mcp, before in ((contracted(bare()), ""), (parent, "lib/")):

            async def lists(client: Client) -> list[Any]:
                return [
                    (await client.list_resources()).resources,
                    (await client.list_resource_templates()).resource_templates,
                    (await client.list_prompts()).prompts,
                ]

            resources, templates, prompts = ask(mcp, lists)
            reasons = [
                [entry["reason"] for entry in listed[0].meta[CONTRACT_META_KEY]]
                for listed in (resources, templates, prompts)
            ]
            assert [["busy"], ["gone", "busy"], ["gone"]] == reasons
            assert (f"status://{before}store", f"articles://{before}{{pmid}}{{?page}}") == (
                resources[0].uri,
                templates[0].uri_template,
            )
            assert ("Summary", ["pmid", "words"]) == (prompts[0].title, [a.name for a in prompts[0].arguments])
            assert "gone" == failed(lambda mcp=mcp, before=before: read(mcp, f"articles://{before}gone"))[1].reason

    def test_the_fastmcp_decorator_overrides_ours(self) -> None:
        """`@mcp.resource(uri)` is above `@resource(uri, errors=[...])`, with options on either."""
        mcp = contracted(FastMCP("library"))

        @mcp.resource("notes://{name}", name="note", mime_type="text/markdown", tags={"a"}, meta={"b": 2})
        @resource("notes://{name}", errors=[GONE], description="A note.", mime_type="text/x", meta={"own": 1})
        async def read_note(
            ctx: Context[Literal["gone"]],
            name: str,
            theirs: FastMCPContext,
            shelf: dict[str, str] = Depends(lambda: {"a": "A"}),  # noqa: B008 - as FastMCP has it
        ) -> str:
            if name not in shelf:
                raise ctx.fail("gone")
            assert theirs.fastmcp is ctx.fastmcp.fastmcp is mcp
            await ctx.report_progress(1, 2)
            return shelf[name]

        content = read(mcp, "notes://a")
        assert ("A", "text/markdown", {"own": 1, "b": 2}) == (content.text, content.mime_type, content.meta)
        assert "gone" == failed(lambda: read(mcp, "notes://b"))[1].reason
        (listed,) = ask(mcp, lambda client: client.list_resource_templates()).resource_templates
        assert ("note", "A note.") == (listed.name, listed.description)

    def test_results_of_fastmcp_types_pass(self) -> None:
        """These are `ResourceResult`, a list of `ResourceContent`, another resource, and bytes."""
        mcp = contracted(FastMCP("library"))

        @mcp.resource("kinds://{kind}")
        @resource("kinds://{kind}", errors=[GONE])
        def kinds(kind: str) -> Any:
            return {
                "result": ResourceResult("r"),
                "list": [ResourceContent("l")],
                "resource": TextResource(uri="text://t", text="t"),
                "bytes": b"b",
            }[kind]

        assert ["r", "l", "t"] == [read(mcp, f"kinds://{kind}").text for kind in ("result", "list", "resource")]
        assert "Yg==" == read(mcp, "kinds://bytes").blob

    def test_a_method_is_registered_by_its_instance(self) -> None:
        """FastMCP's own decorators in the class work, too."""

        class Shelf:
            @resource("shelf://name", errors=[BUSY])
            def name(self, ctx: Context[Literal["busy"]]) -> str:
                raise ctx.fail("busy")

            @fastmcp_resource("shelf://other")
            @resource("shelf://size", errors=[BUSY])
            def size(self, ctx: Context[Literal["busy"]]) -> str:
                raise ctx.fail("busy")

            @fastmcp_prompt(name="renamed")
            @prompt(errors=[GONE])
            def ask(self, ctx: Context[Literal["gone"]]) -> str:
                raise ctx.fail("gone")

        mcp, shelf = contracted(FastMCP("library")), Shelf()
        extended(mcp, shelf.name, shelf.size, shelf.ask)
        for uri in ("shelf://name", "shelf://other"):
            assert "busy" == failed(lambda uri=uri: read(mcp, uri))[1].reason
        assert "gone" == failed(lambda: rendered(mcp, "renamed"))[1].reason

    def test_a_failed_read_fails_the_handler(self, caplog: pytest.LogCaptureFixture) -> None:
        """The tool fails with the resource's failure under its own contract, and leaves one record."""
        mcp = contracted(bare())
        took = FailureMode("gone", ErrorCode.NOT_FOUND, when="No article.", recovery="Ask the tool again.")

        @mcp.tool
        @tool(errors=[took])
        async def take(ctx: Context[Literal["gone"]], pmid: str) -> str:
            contents: Any = await ctx.read_resource(f"articles://{pmid}")
            return str(contents[0].content)

        @mcp.tool
        async def plain(theirs: FastMCPContext, pmid: str) -> str:
            return str((await theirs.read_resource(f"articles://{pmid}")).contents[0].content)

        for name in ("take", "plain"):
            caplog.clear()
            result = ask(mcp, lambda client, name=name: client.call_tool(name, {"pmid": "gone"}))
            error = envelope_of(result)
            assert (True, "NOT_FOUND", "gone") == (result.is_error, error.name, error.reason)
            (record,) = records(caplog)
            assert ("tool", name) == (record["surface"], record["tool"])
            assert '"7"' in ask(mcp, lambda client, name=name: client.call_tool(name, {"pmid": "7"})).content[0].text

    @pytest.mark.usefixtures("only_warnings")
    def test_without_the_middleware_it_answers_its_own_failures(self, caplog: pytest.LogCaptureFixture) -> None:
        """The log says once that the middleware is missing."""
        mcp = bare()
        error, envelope = failed(lambda: read(mcp, "articles://gone"))
        assert (-32602, "gone", "Search for a newer one.") == (error.code, envelope.reason, envelope.hint)
        assert "gone" == failed(lambda: rendered(mcp, "summarise", {"pmid": "gone"}))[1].reason
        assert "INTERNAL_ERROR" == failed(lambda: read(mcp, "articles://crash"))[1].name
        assert "lost" in read(mcp, "articles://lost").text
        assert "did not raise it, so clients did not get it" in caplog.text
        assert 1 == caplog.text.count("has no ContractMiddleware")
        caplog.clear()
        assert "busy" == failed(lambda: read(mcp, "articles://lost%20and%20busy"))[1].reason
        assert 1 == caplog.text.count("did not raise it, so clients did not get it")

    def test_an_sdk_server_refuses_parameters_that_only_fastmcp_injects(self) -> None:
        """The error says how to fix it."""

        @resource("shelf://{name}", errors=[GONE])
        def shelf(name: str, theirs: FastMCPContext) -> str:
            return name

        @prompt
        def ask_with(shelf: dict[str, str] = Depends(dict)) -> str:  # noqa: B008 - as FastMCP has it
            return str(shelf)

        with pytest.raises(ContractError, match=r"'theirs' is filled in by FastMCP.*serve the resource with FastMCP"):
            Server("library", resources=[shelf])
        with pytest.raises(ContractError, match=r"'shelf' is filled in by FastMCP.*serve the prompt with FastMCP"):
            Server("library", prompts=[ask_with])


class TestPrompts:
    def test_a_success_matches_that_of_a_server(self, era: str) -> None:
        """Texts and messages of both frameworks work, and an argument is converted."""
        result = rendered(contracted(bare()), "summarise", {"pmid": "7", "words": "3"}, mode=era)
        assert [("user", "Summarise 7 in 3 words."), ("assistant", "Yes."), ("user", "Go.")] == [
            (message.role, message.content.text) for message in result.messages
        ]
        assert "Summarise an article." == result.description
        assert CONTRACT_META_KEY not in (result.meta or {})

    def test_the_fastmcp_decorator_and_its_results(self) -> None:
        """`@mcp.prompt` is above `@prompt`, with and without options, and may return `PromptResult`."""
        mcp = contracted(FastMCP("library"))

        @mcp.prompt
        @prompt(errors=[GONE], description="Asks.")
        def ask_first(ctx: Context[Literal["gone"]]) -> Any:
            raise ctx.fail("gone")

        @mcp.prompt(name="second", meta={"b": 2})
        @prompt
        async def ask_second() -> Any:
            return PromptResult("Second.")

        assert "gone" == failed(lambda: rendered(mcp, "ask_first"))[1].reason
        assert "Second." == rendered(mcp, "second").messages[0].content.text
        listed = ask(mcp, lambda client: client.list_prompts()).prompts
        assert [("ask_first", "Asks."), ("second", None)] == [
            (definition.name, definition.description) for definition in listed
        ]
        assert 2 == listed[1].meta["b"]

    def test_an_invalid_message_is_a_crash(self) -> None:
        """A `Server` does the same."""
        mcp = contracted(FastMCP("library"))

        @mcp.prompt
        @prompt
        def ask_badly() -> Any:
            return [{"role": "nobody", "content": 7}]

        server = Server("library", prompts=[ask_badly])
        (_, ours), (_, theirs) = (failed(lambda at=at: rendered(at, "ask_badly")) for at in (mcp, server))
        assert (theirs.name, theirs.message) == (ours.name, ours.message)


class FailsLater(Transform):
    """A transform that finds a prompt only once, like a store that then goes away."""

    def __init__(self) -> None:
        self._lookups = 0

    async def get_prompt(self, name: str, call_next: Any, **options: Any) -> Any:
        self._lookups += 1
        if self._lookups > 1:
            raise RuntimeError("the store is away")
        return await call_next(name, **options)


def test_a_prompt_that_is_not_found_again_keeps_the_fastmcp_message() -> None:
    """The message names the missing argument, without hints from the prompt's definition."""
    mcp = extended(library(), FailsLater())
    error, envelope = failed(lambda: rendered(mcp, "summarise"))
    assert (-32602, "invalid_arguments") == (error.code, envelope.reason)
    assert "pmid" in envelope.message
    assert "issues" not in envelope.details
