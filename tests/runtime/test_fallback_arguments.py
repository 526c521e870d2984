"""Fallback tools that a program may call: with arguments that the contract declares."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from mcp import Client
from pydantic import BaseModel

from mcpcore import CodedError, Context, Contract, ContractError, ErrorCode, FailureMode, Limits, Server, resource, tool
from mcpcore.client import CallPolicy, ToolCallFailed, call
from mcpcore.services.batch import Batch, BatchResult
from mcpcore.testing import assert_fails
from tests.answers import envelope_of, settled

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("door")]
TOKEN = "ghp_" + "A1b2" * 9


class Facts(BaseModel):
    """The data of the failures."""

    author: str
    year: int
    words: str = ""


def mode(arguments: Any, **options: Any) -> FailureMode[Any, Any]:
    """Return a failure mode that falls back to `search` with `arguments`."""
    options = {"recovery": "Search.", "effects": "none", "data": Facts, "fallback_tool": "search"} | options
    return FailureMode("missing", ErrorCode.NOT_FOUND, when="It is missing.", fallback_arguments=arguments, **options)


def books(entry: FailureMode[Any, Any], data: Any = None) -> Any:
    """Return a server whose tool `get` fails with `entry`, and whose tool `search` returns its arguments."""

    @tool(errors=[entry])
    def get(ctx: Context[Any], words: Any = None, limit: int | None = None) -> str:
        """Get a book."""
        raise ctx.fail("missing", data=data or Facts(author="Austen", year=1813, words="of the data"))

    @tool(read_only=True)
    def search(words: Any = None, limit: Any = None, filters: Any = None) -> dict[str, Any]:
        """Search for books."""
        return {"words": words, "limit": limit, "filters": filters}

    return Server("books", tools=[get, search])


async def sent(declared: Any, arguments: dict[str, Any], **options: Any) -> Any:
    """Return the arguments for the fallback tool in a failure of `get`, as a client reads them."""
    data = options.pop("facts", None)
    async with Client(books(mode(declared, **options), data)) as client:
        envelope = assert_fails(await client.call_tool("get", arguments), "missing")
    assert "search" == envelope.fallback_tool
    return envelope.fallback_arguments


async def test_arguments_are_filled_from_the_call_then_from_the_data() -> None:
    """A placeholder alone keeps its JSON type; in a text it is text; values are never templates."""
    declared = {
        "words": "{words}",
        "limit": "{year}",
        "filters": ["{author}, {year} {{{words}}}", {"deep": "{author}"}, 7, None],
    }
    arguments = {"words": {"{author}": ["a\nb", 1.5, None]}}
    text = 'Austen, 1813 {{"{author}":["a\\nb",1.5,null]}}'
    expected = {"words": arguments["words"], "limit": 1813, "filters": [text, {"deep": "Austen"}, 7, None]}
    assert expected == await sent(declared, arguments)
    assert {"words": "of the data"} == await sent({"words": "{words}"}, {})
    assert {} == await sent({}, {})


async def test_there_is_no_call_with_arguments_that_are_missing_hidden_or_cut() -> None:
    """Other arguments would make another call; the advice for the model stays."""
    assert await sent(None, {}) is None
    assert await sent({"words": "{limit}"}, {}) is None
    assert {"words": 5} == await sent({"words": "{limit}"}, {}, data=None, facts={"limit": 5})
    assert await sent({"words": "{words}"}, {"words": f"books for {TOKEN}"}) is None
    assert await sent({"words": "{words}"}, {"words": "x" * 5_000}) is None
    assert await sent({"words": "{words}"}, {"words": "a line\r\n\u202e"}) is None  # which an envelope escapes
    assert await sent({"words": "{words}"}, {"words": ["x" * 3_000]}) == {"words": ["x" * 3_000]}
    whole = {"words": [["deep"] * 3] * 3}
    for _ in range(30):
        whole = {"words": whole}
    assert await sent({"words": "{words}"}, {}, data=None, facts=whole) is None
    # Data that breaks its model may hold anything.
    assert await sent({"words": "{author}"}, {}, facts={"author": 7}) is None


async def test_arguments_that_leave_no_room_for_the_hint_are_left_out() -> None:
    """The recovery has a quarter of the room; a hint without the call is better than a part of both."""

    entry = mode({"words": "{words}"})

    @tool(errors=[entry])
    def get(ctx: Context[Any], words: str) -> str:
        """Get a book."""
        raise ctx.fail("missing", data=Facts(author="a", year=1))

    server = Server("books", tools=[get], external_tools=["search"], limits=Limits(data=4_096))
    async with Client(server) as client:
        envelope = assert_fails(await client.call_tool("get", {"words": "x" * 1_000}), "missing")
    assert {"hint": "Search.", "fallbackTool": "search"} == envelope.recovery


async def test_a_policy_makes_the_declared_call_and_no_other() -> None:
    """A fallback tool alone is advice for the model, even if it takes the same arguments."""
    policy = CallPolicy(fallbacks=True)
    async with Client(books(mode({"words": "{words} by {author}"}))) as client:
        result = await call(client, "get", {"words": "Emma"}, policy=policy)
    assert {"words": "Emma by Austen", "limit": None, "filters": None} == result.structured_content
    async with Client(books(mode(None))) as client:
        with pytest.raises(ToolCallFailed) as raised:
            await call(client, "get", {"words": "Emma"}, policy=policy)
    assert "The fallback tool search is advice for the model" in raised.value.steps[-1].why


async def test_a_secret_that_the_server_hides_is_still_sent_by_its_caller() -> None:
    """The caller knows its own arguments, so that only values of `data` need the server."""
    async with Client(books(mode({"words": "{words}"}))) as client:
        result = await call(client, "get", {"words": TOKEN}, policy=CallPolicy(fallbacks=True))
    assert TOKEN == result.structured_content["words"]


async def test_a_throw_site_may_give_the_arguments() -> None:
    """They replace those of the contract, and secrets in them are hidden like any other."""

    @tool(errors=[mode({"words": "{words}"}, data=None)])
    def get(ctx: Context[Any], words: str) -> str:
        """Get a book."""
        raise ctx.fail("missing", recovery={"fallback_arguments": {"words": words.upper()}})

    async with Client(Server("books", tools=[get], external_tools=["search"])) as client:
        envelope = assert_fails(await client.call_tool("get", {"words": "emma"}), "missing")
        assert {"words": "EMMA"} == envelope.fallback_arguments
        envelope = assert_fails(await client.call_tool("get", {"words": "https://a:b3c4d5e6@HOST/"}), "missing")
        assert ("search", None) == (envelope.fallback_tool, envelope.fallback_arguments)


async def test_an_item_of_a_batch_has_arguments_of_its_own() -> None:
    """A batch that fails as a whole has no call that would be right for all of its items."""

    @tool(errors=[mode({"words": "{author}", "limit": "{limit}"})])
    async def get(ctx: Context[Any], authors: list[str], limit: int) -> BatchResult[str]:
        """Get books."""

        batch = Batch[str](ctx)
        for author in authors:
            with batch.item(author):
                if author != "Austen":
                    raise ctx.fail("missing", data=Facts(author=author, year=1))
                batch.add("Emma")
        return batch.result()

    async with Client(Server("books", tools=[get], external_tools=["search"])) as client:
        part = await client.call_tool("get", {"authors": ["Austen", "Eliot", "Hardy"], "limit": 3})
        items = [
            failure["error"]["data"]["recovery"]["fallbackArguments"] for failure in part.structured_content["failed"]
        ]
        assert [{"words": "Eliot", "limit": 3}, {"words": "Hardy", "limit": 3}] == items
        whole = assert_fails(await client.call_tool("get", {"authors": ["Eliot", "Hardy"], "limit": 3}), "missing")
        assert whole.fallback_arguments is None
        single = assert_fails(await client.call_tool("get", {"authors": ["Eliot"], "limit": 3}), "missing")
        assert {"words": "Eliot", "limit": 3} == single.fallback_arguments


@pytest.mark.no_server("nothing is served")
def test_the_contract_has_the_templates() -> None:
    """`tools/list` shows them as declared, and a client reads them back."""
    declared = {"words": "{words} {{}}", "filters": {"a": [1, "{author}"]}}
    entry = mode(declared)
    assert declared == entry.to_json()["fallbackArguments"]
    listed = {"name": "get", "_meta": {"dev.mcpcore/errors": [entry.to_json()]}}
    assert declared == Contract.from_listing(listed)["missing"].fallback_arguments


NO_SERVER = pytest.mark.no_server("nothing is served")


@NO_SERVER
@pytest.mark.parametrize(
    ("arguments", "options", "problem"),
    [
        ({"words": "x"}, {"fallback_tool": None}, "are the arguments of a fallback_tool; name that tool"),
        (["words"], {}, "fallback_arguments must be a mapping, not list"),
        ({"words": "{author"}, {}, "fallback_arguments has a single '{'; write '{{'"),
        ({"words": {1, 2}}, {}, "fallback_arguments must be JSON"),
        ({7: "x"}, {}, "fallback_arguments must be JSON"),
        ({"words": "x" * 5_000}, {}, "fallback_arguments must be at most 4,096 bytes of JSON"),
    ],
)
def test_a_declaration_that_cannot_stand_is_refused_at_import(arguments: Any, options: Any, problem: str) -> None:
    """The message says what to do."""
    with pytest.raises(ContractError) as raised:
        mode(arguments, **options)
    assert problem in str(raised.value)


@NO_SERVER
def test_a_placeholder_must_be_an_argument_or_a_field() -> None:
    """Nothing would ever fill it."""
    with pytest.raises(ContractError, match=r"placeholder \{titel\}, which is neither an argument of the tool nor"):
        books(mode({"words": "{titel}"}))


@pytest.mark.parametrize(
    ("arguments", "options", "problem"),
    [
        ({"title": "x"}, {}, "it takes no argument 'title'"),
        ({}, {}, "it requires the argument 'words'"),
        ({"words": "x"}, {"effects": None}, "may have changed something, and the tool is not read-only"),
        ({"words": "x"}, {"effects": "unknown"}, "may have changed something, and the tool is not read-only"),
        ({"words": "x"}, {}, None),
        (None, {"effects": None}, None),
    ],
)
async def test_a_server_checks_that_the_call_can_be_made(
    arguments: Any, options: Any, problem: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    """The fallback tool takes the arguments, and is read-only where the failed call may have changed something."""

    @tool(errors=[mode(arguments, **options)])
    def get(ctx: Context[Any]) -> str:
        """Get a book."""
        raise ctx.fail("missing", data=Facts(author="a", year=1))

    @tool
    def search(words: str, limit: int = 7) -> str:
        """Search, and count the searches."""
        return words

    with caplog.at_level(logging.WARNING, "mcpcore"):
        async with Client(Server("books", tools=[get, search])) as client:
            await client.list_tools()
    texts = [record.getMessage() for record in caplog.records]
    if problem is None:
        assert [] == texts
    else:
        (text,) = texts
        assert "the fallback_arguments of the failure 'missing' of the tool 'get' do not fit the tool 'search'" in text
        assert text.endswith(f"{problem}.")


@pytest.mark.server_only("a FastMCP server answers its first message so")
async def test_a_strict_server_does_not_start_with_a_call_that_cannot_be_made() -> None:
    """The message names both problems, and the option for other servers only for the tool that is unknown."""

    @tool(errors=[mode({}, data=None)])
    def get() -> str:
        """Get a book."""
        raise CodedError(ErrorCode.NOT_FOUND)

    @tool(read_only=True)
    def search(words: str) -> str:
        """Search."""
        return words

    server = Server("books", tools=[get, search], strict=True)
    with pytest.raises(ContractError, match=r"it requires the argument 'words'\.$"):
        async with Client(server):
            pass


async def test_a_resource_takes_them_from_its_uri() -> None:
    """The arguments of the failed read are the parameters of the URI."""

    @resource("books://{title}", errors=[mode({"words": "{title}"}, data=None)])
    def book(ctx: Context[Any], title: str) -> str:
        """Read a book."""
        raise ctx.fail("missing")

    async with Client(Server("books", resources=[book], external_tools=["search"])) as client:
        refused = await settled(client.read_resource("books://emma"))
    assert {"words": "emma"} == envelope_of(refused).fallback_arguments
