"""A fallback tool that the server does not have is detected when the server starts."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client

from mcpcore import Context, ContractError, ErrorCode, FailureMode, Server, not_found, prompt, resource, tool
from mcpcore.boundary.fallbacks import with_renamed_words
from tests.answers import ask

pytestmark = pytest.mark.server_only(
    "a FastMCP server is checked at its first message: tests/integrations/fastmcp/test_fallback_tools.py"
)

MISSPELT = FailureMode(
    "no_match", ErrorCode.NOT_FOUND, when="Nothing matches.", recovery="Search.", fallback_tool="search_artcles"
)
RIGHT = FailureMode(
    "no_match", ErrorCode.NOT_FOUND, when="Nothing matches.", recovery="Search.", fallback_tool="search_articles"
)


@tool(errors=[MISSPELT])
def fetch(ctx: Context[Any]) -> str:
    """Fetch an article."""
    raise ctx.fail("no_match")


@tool
def search_articles() -> str:
    """Search."""
    return "none"


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Collect the texts of the warnings about fallback tools."""
    return [
        record.getMessage()
        for record in caplog.records
        if record.name == "mcpcore" and record.levelno == logging.WARNING and "fallback" in record.getMessage()
    ]


def start(server: Server[Any], times: int = 1) -> None:
    """Start the server and connect several clients, one after the other."""

    for _ in range(times):
        ask(Client(server), lambda client: client.list_tools())


def test_an_unknown_fallback_tool_is_a_warning_with_the_nearest_name(caplog: pytest.LogCaptureFixture) -> None:
    """The warning appears once, names the tool, the entry, the server and a suggestion, and the server still works."""
    server = Server("library", tools=[fetch, search_articles])
    assert [] == warnings(caplog)
    start(server, times=3)
    (text,) = warnings(caplog)
    assert text == (
        "unknown fallback tool 'search_artcles': the failure 'no_match' of the tool 'fetch' names it, and the server "
        "'library' has no such tool; did you mean 'search_articles'? If another server has it, add it to "
        "Server(external_tools=[...])"
    )


def test_the_fallback_is_still_sent_as_declared(call: Any) -> None:
    """A warning does not change the failure on the wire."""
    result = call(Server("library", tools=[fetch, search_articles]), "fetch")
    assert "search_artcles" == result.structured_content["error"]["data"]["recovery"]["fallbackTool"]
    assert "try search_artcles" in result.content[0].text


def test_without_a_similar_tool_nothing_is_suggested(caplog: pytest.LogCaptureFixture) -> None:
    """The message then ends without a suggestion."""
    start(Server("library", tools=[fetch]))
    assert "the server 'library' has no such tool. If another" in warnings(caplog)[0]


def test_a_tool_of_the_same_name_in_a_namespace_is_suggested(caplog: pytest.LogCaptureFixture) -> None:
    """Names that end in the missing name are preferred to similar ones."""

    @tool(name="shop_search_artcles")
    def shop() -> str:
        return ""

    start(Server("library", tools=[fetch, search_articles, shop]))
    assert "did you mean 'shop_search_artcles'?" in warnings(caplog)[0]


@pytest.mark.parametrize(
    "names",
    [["search_artcles"], ("search_artcles",), {"search_artcles"}, iter(["search_artcles"])],
    ids=["list", "tuple", "set", "iterator"],
)
def test_tools_of_other_servers_can_be_declared(names: Iterable[str], caplog: pytest.LogCaptureFixture) -> None:
    """Any iterable of names works, also with strict."""
    start(Server("library", tools=[fetch], external_tools=names, strict=True), times=2)
    assert [] == warnings(caplog)


@pytest.mark.parametrize(
    ("names", "problem"),
    [
        ("search_artcles", r"takes a list of names, not a str; write \['search_artcles'\]"),
        (3, "takes a list of names, not int"),
        ([search_articles], "takes the names of tools, each a str, not Tool"),
        (b"search", "each a str, not int"),
    ],
)
def test_invalid_names_are_refused(names: Any, problem: str) -> None:
    """A plain string would be read letter by letter."""
    with pytest.raises(TypeError, match=rf"^Server\(external_tools=...\) .*{problem}"):
        Server("library", external_tools=names)


def test_resources_and_prompts_are_checked_too(caplog: pytest.LogCaptureFixture) -> None:
    """Each entry produces one warning."""

    @resource("articles://{pmid}", errors=[MISSPELT])
    def article(pmid: str) -> str:
        return pmid

    @resource("articles://all", errors=[MISSPELT])
    def articles() -> str:
        return ""

    @prompt(errors=[MISSPELT])
    def summarise() -> str:
        return ""

    server = Server("library", tools=[search_articles], resources=[article, articles], prompts=[summarise])
    server.add_tool(lambda: "", name="plain")
    start(server)
    assert {"the resource 'articles://{pmid}'", "the resource 'articles://all'", "the prompt 'summarise'"} == {
        text.partition(" of ")[2].partition(" names")[0] for text in warnings(caplog)
    }


def test_tools_registered_by_the_lifespan_are_known(caplog: pytest.LogCaptureFixture) -> None:
    """The check runs after the lifespan has registered its tools."""

    @asynccontextmanager
    async def lifespan(app: Any) -> AsyncIterator[dict[str, Any]]:
        app.add_tool(tool(errors=[RIGHT], name="fetch_again")(lambda: ""))
        app.add_tool(search_articles)
        yield {}

    start(Server("library", tools=[tool(errors=[RIGHT], name="get")(lambda: "")], lifespan=lifespan, strict=True))
    assert [] == warnings(caplog)


def test_tools_that_a_subclass_lists_are_known(caplog: pytest.LogCaptureFixture) -> None:
    """A server may serve tools without registering them."""

    class Dynamic(Server[Any]):
        async def list_tools(self) -> list[Any]:
            (own,) = await super().list_tools()
            return [own, own.model_copy(update={"name": "search_artcles"})]

    class Broken(Server[Any]):
        async def list_tools(self) -> list[Any]:
            raise LookupError("there is no request")

    async def listed(server: Server[Any]) -> None:
        async with Client(server):
            pass

    anyio.run(listed, Dynamic("library", tools=[fetch], strict=True))
    assert [] == warnings(caplog)
    anyio.run(listed, Broken("library", tools=[fetch]))
    assert 1 == len(warnings(caplog))


def test_a_strict_server_does_not_start(trail: Path) -> None:
    """The error names every wrong entry and is recorded, and the started lifespan is closed."""
    ended = []

    @asynccontextmanager
    async def lifespan(_: Any) -> AsyncIterator[dict[str, Any]]:
        try:
            yield {}
        finally:
            ended.append(True)

    other = tool(errors=[MISSPELT], name="get")(lambda: "")
    server = Server("library", tools=[fetch, other], strict=True, lifespan=lifespan, audit=trail)
    with pytest.raises(ContractError) as caught:
        start(server)
    assert str(caught.value) == (
        "unknown fallback tool 'search_artcles': the failure 'no_match' of the tool 'fetch' names it, and the server "
        "'library' has no such tool. Unknown fallback tool 'search_artcles': the failure 'no_match' of the tool 'get' "
        "names it, and the server 'library' has no such tool. If another server has it, add it to "
        "Server(external_tools=[...])"
    )
    assert [True] == ended
    (record,) = [json.loads(line) for line in trail.read_text().splitlines()]
    assert ("server", "INITIALIZATION_FAILED") == (record["surface"], record["name"])
    assert "search_artcles" in record["exception"]["message"]


def test_without_a_lifespan_a_strict_server_does_not_start_either() -> None:
    """The SDK's default lifespan counts as a lifespan, too."""
    with pytest.raises(ContractError, match=r"^unknown fallback tool 'search_artcles'"):
        start(Server("library", tools=[fetch], strict=True))


@pytest.mark.parametrize("way", [["stdio"], ["streamable-http", "0"]], ids=["stdio", "HTTP"])
def test_a_strict_server_ends_with_the_error(way: list[str], tmp_path: Path) -> None:
    """MCPCORE_STRICT=1 is sufficient, and an HTTP server, which starts only once, does not begin to listen."""
    (tmp_path / "library.py").write_text(
        "import sys\n"
        "from mcpcore import ErrorCode, FailureMode, Server, tool\n"
        "MODE = FailureMode('no', ErrorCode.NOT_FOUND, when='No.', recovery='Search.', fallback_tool='serch')\n"
        "server = Server('library', tools=[tool(errors=[MODE], name='fetch')(lambda: '')], audit='trail.jsonl')\n"
        "server.run(*sys.argv[1:2], **({'port': int(sys.argv[2]), 'stateless_http': True} if sys.argv[2:] else {}))\n"
    )
    done = subprocess.run(
        [sys.executable, "library.py", *way],
        cwd=tmp_path,
        env={**os.environ, "MCPCORE_STRICT": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        text=True,
        timeout=60,
    )
    assert 0 != done.returncode
    assert "unknown fallback tool 'serch'" in done.stderr
    (record,) = [json.loads(line) for line in (tmp_path / "trail.jsonl").read_text().splitlines()]
    assert "INITIALIZATION_FAILED" == record["name"]


@pytest.mark.anyio
@pytest.mark.parametrize("strict", [False, True])
async def test_tools_registered_at_run_time_are_checked_immediately(
    strict: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """The check warns, or under strict it raises and the registration is refused."""

    @resource("articles://{pmid}", errors=[MISSPELT])
    def article(pmid: str) -> str:
        return pmid

    @prompt(errors=[MISSPELT])
    def summarise() -> str:
        return ""

    itself = FailureMode("a", ErrorCode.NOT_FOUND, when="A.", recovery="Again.", fallback_tool="itself")
    server = Server("library", tools=[search_articles], strict=strict)

    async with Client(server):
        server.add_tool(tool(errors=[itself, RIGHT], name="itself")(lambda: ""))
        additions: list[Callable[[], None]] = [
            lambda: server.add_tool(fetch),
            lambda: server.add_resource(article),
            lambda: server.add_prompt(summarise),
        ]
        for add in additions:
            if strict:
                with pytest.raises(ContractError, match="did you mean 'search_articles'"):
                    add()
            else:
                add()
        assert strict == ("fetch" not in server.contracts)
    assert (0 if strict else 3) == len(warnings(caplog))
    server.add_tool(tool(errors=[MISSPELT], name="late")(lambda: ""))
    assert (0 if strict else 3) == len(warnings(caplog))


def test_a_lifespan_may_replace_the_error() -> None:
    """The lifespan's own exception is the one that propagates."""

    @asynccontextmanager
    async def lifespan(_: Any) -> AsyncIterator[dict[str, Any]]:
        try:
            yield {}
        except ContractError as exc:
            raise not_found("replaced") from exc

    server = Server("library", tools=[fetch], strict=True, lifespan=lifespan)
    with pytest.raises(Exception, match="replaced"):
        start(server)


@pytest.mark.no_server
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Call search first, and search with fewer words if search finds none.", "Call shop_search first, and search with fewer words if search finds none."),
        ("Use the search tool.", "Use the shop_search tool."),
        ("Try `search`, or search the web.", "Try `shop_search`, or search the web."),
        ("Ask find_order, then search(words).", "Ask shop_find_order, then shop_search(words)."),
    ],
)  # fmt: skip
def test_only_words_that_surely_name_a_tool_are_renamed(text: str, expected: str) -> None:
    """A name that is an ordinary word stays one in a sentence."""
    assert expected == with_renamed_words(text, lambda name: f"shop_{name}", "search")
