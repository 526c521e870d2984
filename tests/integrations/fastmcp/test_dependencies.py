"""A FastMCP dependency that fails before the handler runs fails the handler, under its contract."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import pytest
from fastmcp import Client, FastMCP
from fastmcp.dependencies import Depends
from fastmcp.exceptions import NotFoundError
from mcp.shared.exceptions import MCPError

from mcpcore import CodedError, Context, ErrorCode, prompt, resource, tool
from mcpcore.integrations.fastmcp import ContractMiddleware
from tests.answers import ask, settled
from tests.integrations.fastmcp.contract_server import GONE, Ctx, extended

FAILURES: dict[str, Callable[[], BaseException]] = {
    "declared": lambda: CodedError(ErrorCode.NOT_FOUND, "Withdrawn in 2020.", reason="gone"),
    "crash": lambda: KeyError("password=hunter2hunter2"),
    "not found": lambda: NotFoundError("No row 7."),
}
how = "declared"


def connect() -> int:
    failure = FAILURES[how]()
    raise failure


def fine() -> int:
    return 7


@tool(errors=[GONE])
async def look(ctx: Ctx, before: int = Depends(fine), db: int = Depends(connect)) -> str:
    return "never"


@tool(errors=[GONE])
def look_by_annotation(ctx: Ctx, db: Annotated[int, Depends(connect)]) -> str:
    return "never"


@resource("articles://all", errors=[GONE])
async def articles(ctx: Ctx, db: int = Depends(connect)) -> str:
    return "never"


@resource("articles://{pmid}", errors=[GONE])
def article(ctx: Ctx, pmid: str, db: int = Depends(connect)) -> str:
    return "never"


@prompt(errors=[GONE])
async def summarise(ctx: Ctx, pmid: str, db: int = Depends(connect)) -> str:
    return "never"


@prompt(errors=[GONE])
def summarise_by_annotation(ctx: Ctx, db: Annotated[int, Depends(connect)]) -> str:
    return "never"


ASKED: list[tuple[str, Any, tuple[Any, ...]]] = [
    ("call_tool_mcp", look, ("look", {})),
    ("call_tool_mcp", look_by_annotation, ("look_by_annotation", {})),
    ("read_resource", articles, ("articles://all",)),
    ("read_resource", article, ("articles://1",)),
    ("get_prompt", summarise, ("summarise", {"pmid": "1"})),
    ("get_prompt", summarise_by_annotation, ("summarise_by_annotation",)),
]


@pytest.mark.anyio
@pytest.mark.parametrize("mounted", [False, True], ids=["served", "mounted"])
@pytest.mark.parametrize(
    ("failing", "name", "reason"),
    [("declared", "NOT_FOUND", "gone"), ("crash", "INTERNAL_ERROR", None), ("not found", "NOT_FOUND", None)],
)
@pytest.mark.parametrize(("method", "declared", "arguments"), ASKED, ids=[declared.name for _, declared, _ in ASKED])
async def test_a_dependency_that_fails_fails_the_handler(
    method: str,
    declared: Any,
    arguments: tuple[Any, ...],
    failing: str,
    name: str,
    reason: str | None,
    mounted: bool,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A declared failure has its recovery, a crash is masked, and a missing item does not mean a missing handler."""
    monkeypatch.setitem(globals(), "how", failing)
    child: FastMCP[Any] = FastMCP("child")
    add: Any = {"call_tool_mcp": child.add_tool, "read_resource": child.add_resource, "get_prompt": child.add_prompt}
    add[method](declared)
    mcp = child
    if mounted:
        mcp = FastMCP("parent")
        mcp.mount(child)
    mcp.add_middleware(ContractMiddleware())

    async with Client(mcp) as client:
        answer = await settled(getattr(client, method)(*arguments))
    error = (answer.error.data if isinstance(answer, MCPError) else answer.structured_content)["error"]
    data = error.get("data", {})
    assert (name, reason) == (error["name"], data.get("reason"))
    assert ({"hint": GONE.recovery} if reason else None) == data.get("recovery")
    if failing == "not found":
        assert "No row 7." == error["message"]
    (record,) = [record.audit for record in caplog.records if record.name == "mcpcore.audit"]  # type: ignore[attr-defined]
    assert (name, reason) == (record["name"], record["reason"])
    assert "hunter2" not in str(answer)


def test_a_dependency_of_a_nested_handler_uses_its_contract() -> None:
    """The calling tool passes the failure on as it is."""
    mcp = extended(FastMCP("articles"), ContractMiddleware(), articles)

    @mcp.tool
    @tool
    async def outer(ctx: Context) -> str:
        await ctx.fastmcp.read_resource("articles://all")
        return "never"

    data = ask(Client(mcp), lambda client: client.call_tool_mcp("outer", {})).structured_content["error"]["data"]
    assert ("gone", True) == (data["reason"], "recovery" in data)
