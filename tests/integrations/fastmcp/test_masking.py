"""What handlers and other middleware see of a failure: FastMCP's own class of error, and the text that clients read."""

from __future__ import annotations

import logging
import traceback
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, Literal

import anyio
import pytest
from fastmcp import Client, FastMCP
from fastmcp.exceptions import NotFoundError, PromptError, ResourceError, ToolError
from fastmcp.server.middleware import Middleware
from fastmcp.server.middleware.error_handling import ErrorHandlingMiddleware
from fastmcp.server.middleware.logging import LoggingMiddleware, StructuredLoggingMiddleware
from fastmcp.server.middleware.timing import DetailedTimingMiddleware, TimingMiddleware
from fastmcp.tools.base import ToolResult
from mcp.shared.exceptions import MCPError
from mcp_types import MISSING_REQUIRED_CLIENT_CAPABILITY

from mcpcore import Context, tool
from mcpcore.audit import AuditTrail
from mcpcore.integrations.fastmcp import ContractFailure, ContractMiddleware
from tests.answers import envelope_of
from tests.integrations.fastmcp.contract_server import NO_ORDER, extended, records

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.anyio

SECRET = "postgres://u:hunter2@db"


class SoldOutError(ToolError):
    """An error of the author's own, with its own text and attributes."""

    def __init__(self, item: str, dsn: str) -> None:
        super().__init__(f"{item} is sold out")
        self.item = item
        self.dsn = dsn

    def __str__(self) -> str:
        return f"{self.args[0]} ({self.dsn})"


class Careless(Middleware):
    """Middleware that logs everything that an exception holds."""

    async def on_message(self, context: Any, call_next: Any) -> Any:
        try:
            return await call_next(context)
        except Exception as exc:
            logging.getLogger("careless").exception("%r", exc)
            logging.getLogger("careless").error("%s", "".join(traceback.format_exception(exc.__context__ or exc)))
            raise


class Failing(Middleware):
    """Middleware that fails itself."""

    async def on_call_tool(self, context: Any, call_next: Any) -> Any:
        raise RuntimeError(SECRET)


def shop(name: str = "shop") -> FastMCP[Any]:
    mcp: FastMCP[Any] = FastMCP(name)

    @mcp.tool
    def plain() -> str:
        raise RuntimeError(SECRET)

    @mcp.tool
    @tool(errors=[NO_ORDER])
    def declared(ctx: Context[Literal["no_order"]]) -> str:
        raise ctx.fail("no_order", f"There is no order in {SECRET}")

    @mcp.tool
    @tool(errors=[NO_ORDER])
    async def crashing(ctx: Context[Literal["no_order"]]) -> str:
        raise SystemExit(SECRET)

    @mcp.tool
    def sold_out() -> str:
        raise SoldOutError("tea", SECRET)

    @mcp.resource("shop://stock")
    def stock() -> str:
        raise RuntimeError(SECRET)

    @mcp.prompt
    def ask() -> str:
        raise RuntimeError(SECRET)

    return mcp


OTHERS: dict[str, Callable[[], Middleware]] = {
    "timing": TimingMiddleware,
    "detailed timing": DetailedTimingMiddleware,
    "logging": lambda: LoggingMiddleware(include_payloads=True),
    "structured logging": StructuredLoggingMiddleware,
    "errors": lambda: ErrorHandlingMiddleware(include_traceback=True, transform_errors=False),
    "careless": Careless,
}


def logged(caplog: pytest.LogCaptureFixture) -> str:
    """Return all entries of the log as they are written, without those of the audit trail and of mcpcore."""
    formatter = logging.Formatter("%(name)s %(message)s")
    return "\n".join([formatter.format(record) for record in caplog.records if not record.name.startswith("mcpcore")])


@pytest.fixture
def every_log(caplog: pytest.LogCaptureFixture) -> Any:
    """Read FastMCP's log too, which does not reach the root."""
    caplog.set_level("DEBUG")
    logging.getLogger("fastmcp").addHandler(caplog.handler)
    yield caplog
    logging.getLogger("fastmcp").removeHandler(caplog.handler)


async def _provoke(mcp: FastMCP[Any], prefix: str = "") -> None:
    """Fail in every way: for a client, and in process."""
    for name in ("plain", "declared", "crashing", "sold_out"):
        with pytest.raises(ToolError) as raised:
            await mcp.call_tool(f"{prefix}{name}")
        assert SECRET not in str(raised.value)
    uri = f"shop://{prefix.rstrip('_')}/stock" if prefix else "shop://stock"
    with pytest.raises(ResourceError):
        await mcp.read_resource(uri)
    with pytest.raises(PromptError):
        await mcp.render_prompt(f"{prefix}ask")
    async with Client(mcp) as client:
        for name in ("plain", "declared", "crashing", "sold_out"):
            assert (await client.call_tool_mcp(f"{prefix}{name}", {})).is_error
        with pytest.raises(Exception, match=r"unexpectedly|failed"):
            await client.read_resource(uri)
        with pytest.raises(Exception, match=r"unexpectedly|failed"):
            await client.get_prompt(f"{prefix}ask")


@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize("place", ["before", "after", "mounted", "mounted with its own"])
async def test_other_middleware_sees_masked_failures(place: str, other: str, every_log: Any) -> None:
    """This holds wherever it stands, for each kind of component, and for the first call in process too."""
    mcp, prefix = shop(), ""
    if place == "before":
        mcp.add_middleware(OTHERS[other]())
    if place.startswith("mounted"):
        if place.endswith("own"):
            mcp.add_middleware(ContractMiddleware())
        mcp.add_middleware(OTHERS[other]())
        parent: FastMCP[Any] = FastMCP("all")
        parent.mount(mcp, namespace="shop")
        mcp, prefix = parent, "shop_"
    mcp.add_middleware(ContractMiddleware())
    if place == "after":
        mcp.add_middleware(OTHERS[other]())
    await _provoke(mcp, prefix)
    text = logged(every_log)
    assert "hunter2" not in text
    if place != "before" and other in ("timing", "logging", "careless"):
        assert "The tool failed unexpectedly." in text


@pytest.mark.parametrize(("name", "plain_tools"), [("plain", True), ("declared", False)])
async def test_the_failure_of_other_middleware_is_masked_for_the_rest(
    name: str, plain_tools: bool, every_log: Any
) -> None:
    """Each link of the chain is covered, not just the innermost."""
    mcp = extended(shop(), ContractMiddleware(plain_tools=plain_tools), TimingMiddleware(), Careless(), Failing())
    with pytest.raises(RuntimeError, match=r"^The tool failed unexpectedly\.$"):
        await mcp.call_tool(name)
    assert "hunter2" not in logged(every_log)
    assert "failed after" in logged(every_log)


class TestNestedCalls:
    @pytest.fixture
    def mcp(self) -> FastMCP[Any]:
        mcp = extended(shop(), ContractMiddleware())
        mcp.tool(lambda: mcp.call_tool("plain"), name="calls", output_schema=None)

        @mcp.tool(output_schema=None, annotations={"readOnlyHint": False, "idempotentHint": False})
        async def outer(name: str, catch: bool) -> str:
            calls: dict[str, Callable[[], Any]] = {
                "stock": lambda: mcp.read_resource("shop://stock"),
                "ask": lambda: mcp.render_prompt("ask"),
            }
            try:
                await calls.get(name, lambda: mcp.call_tool(name))()
            except (ToolError, ResourceError, PromptError, NotFoundError) as exc:
                if not catch:
                    raise
                envelope = exc.envelope if isinstance(exc, ContractFailure) else None
                return f"{type(exc).__name__}: {envelope and envelope.name}"
            return "never"

        return mcp

    @pytest.mark.parametrize(
        ("name", "caught"),
        [
            ("plain", "ToolError: INTERNAL_ERROR"),
            ("calls", "ToolError: INTERNAL_ERROR"),
            ("declared", "ToolError: NOT_FOUND"),
            ("sold_out", "SoldOutError: INTERNAL_ERROR"),
            ("stock", "ResourceError: INTERNAL_ERROR"),
            ("ask", "PromptError: INTERNAL_ERROR"),
            ("nothing", "NotFoundError: NOT_FOUND"),
        ],
    )
    async def test_raise_what_fastmcp_raises(
        self, mcp: FastMCP[Any], name: str, caught: str, caplog: pytest.LogCaptureFixture
    ) -> None:
        """The error has the envelope; there is one record, of the nested call or of the call that fails with it."""
        async with Client(mcp) as client:
            (block,) = (await client.call_tool("outer", {"name": name, "catch": True})).content
            assert caught == block.text
            (record,) = records(caplog)
            assert "outer" not in (record.get("tool"), record.get("resource"), record.get("prompt"))
            caplog.clear()
            result = await client.call_tool_mcp("outer", {"name": name, "catch": False})
        failure = envelope_of(result)
        (record,) = records(caplog)
        assert ("outer", failure.correlation_id) == (record["tool"], record["correlationId"])
        assert "hunter2" not in result.model_dump_json()

    async def test_effects_are_those_of_the_tool_that_the_client_called(self, mcp: FastMCP[Any]) -> None:
        """The nested tool changed nothing, but the handler may have done so before."""

        @mcp.tool(annotations={"readOnlyHint": True})
        def look() -> str:
            raise TimeoutError(SECRET)

        async with Client(mcp) as client:
            failure = envelope_of(await client.call_tool_mcp("outer", {"name": "look", "catch": False}))
        assert ("TIMEOUT", "unknown") == (failure.name, failure.effects)

    async def test_attributes_of_an_authors_error_are_kept(self, mcp: FastMCP[Any]) -> None:
        """Code that catches it may need them; its text is what clients read."""
        with pytest.raises(SoldOutError) as raised:
            await mcp.call_tool("sold_out")
        assert ("tea", "tea") == (raised.value.item, str(raised.value).split(maxsplit=1)[0])
        assert "hunter2" not in str(raised.value)

    async def test_a_marked_result_is_returned(self, mcp: FastMCP[Any], caplog: pytest.LogCaptureFixture) -> None:
        """FastMCP raises nothing for it, so the handler decides."""

        @mcp.tool
        def marked() -> ToolResult:
            return ToolResult(content="By hand.", is_error=True)

        @mcp.tool
        async def asks() -> str:
            return str((await mcp.call_tool("marked")).is_error)

        async with Client(mcp) as client:
            assert "True" == (await client.call_tool("asks")).data
        assert [] == records(caplog)

    async def test_handled_failures_at_the_same_time_are_recorded_each(
        self, mcp: FastMCP[Any], caplog: pytest.LogCaptureFixture
    ) -> None:
        """A failure that is left over is recorded also where another one ends the call."""

        @mcp.tool
        async def both() -> str:
            async def call_failing(name: str) -> None:
                with pytest.raises(ToolError):
                    await mcp.call_tool(name)

            async with anyio.create_task_group() as group:
                group.start_soon(call_failing, "plain")
                group.start_soon(call_failing, "declared")
            await mcp.call_tool("sold_out")
            return "never"

        async with Client(mcp) as client:
            assert (await client.call_tool_mcp("both", {})).is_error
        assert ["both", "declared", "plain"] == sorted(record["tool"] for record in records(caplog))


class TestWithoutPlainTools:
    async def test_plain_tools_are_left_to_fastmcp(self, every_log: Any) -> None:
        """Their failures are FastMCP's, with its log; contract tools and unknown names are answered."""
        mcp, bare = shop(), shop()
        extended(mcp, ContractMiddleware(plain_tools=False), TimingMiddleware())
        async with Client(mcp) as client, Client(bare) as other:
            for name in ("plain", "sold_out"):
                result = await client.call_tool_mcp(name, {})
                assert (await other.call_tool_mcp(name, {})).content == result.content
                assert SECRET in result.model_dump_json()
            assert [] == records(every_log)
            for name in ("declared", "crashing"):
                assert "hunter2" not in envelope_of(await client.call_tool_mcp(name, {})).text()
        assert ["declared", "crashing"] == [record["tool"] for record in records(every_log)]
        with pytest.raises(ToolError, match="hunter2") as raised:
            await mcp.call_tool("plain")
        assert not isinstance(raised.value, ContractFailure)

    async def test_a_lookup_that_fails_shows_nothing(self, every_log: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        """Other middleware sees the masked text of a tool that cannot be looked up."""
        mcp = extended(shop(), ContractMiddleware(plain_tools=False), TimingMiddleware())
        find = mcp.get_tool

        async def get_tool(*args: Any, **options: Any) -> Any:
            if called:
                raise LookupError(SECRET)
            called.append(True)
            return await find(*args, **options)

        called: list[bool] = []
        async with Client(mcp) as client:
            await client.list_tools()
            monkeypatch.setattr(mcp, "get_tool", get_tool)
            await client.call_tool_mcp("plain", {})
        assert "hunter2" not in "".join(line for line in logged(every_log).splitlines() if "fastmcp.timing" in line)


@pytest.mark.parametrize("policy", ["refuse", "locked", "strict"])
async def test_a_call_that_may_not_end_well_is_refused(policy: str, tmp_path: Path) -> None:
    """A failure that was handled but cannot be recorded, or that was lost on a strict server, fails the call."""
    from tests.audit.test_event_loop import held

    path = tmp_path / "audit.jsonl"
    trail = None if policy == "strict" else AuditTrail.open(path, policy="refuse", lock_timeout=0.05)
    mcp = extended(shop(), ContractMiddleware(audit=trail, strict=policy == "strict", external_tools=["list_orders"]))
    if trail is not None and policy == "refuse":
        trail.close()
        path.unlink()
        (tmp_path / "audit.jsonl.head").unlink(missing_ok=True)
        path.mkdir()

    @mcp.tool
    @tool(errors=[NO_ORDER])
    async def careful(ctx: Context[Literal["no_order"]]) -> str:
        if policy == "strict":
            ctx.fail("no_order")
        else:
            with pytest.raises(ToolError):
                await mcp.call_tool("plain")
        return "done"

    @mcp.tool
    async def calls() -> str:
        return str((await mcp.call_tool("careful")).content)

    with held(path) if policy == "locked" else nullcontext():
        with pytest.raises(ToolError) as raised:
            await mcp.call_tool("careful")
        async with Client(mcp) as client:
            for name in ("careful", "calls"):
                assert "INTERNAL_ERROR" == envelope_of(await client.call_tool_mcp(name, {})).name
    assert isinstance(raised.value, ContractFailure)


async def test_steps_of_the_protocol_pass_through(every_log: Any) -> None:
    """A handler, other middleware and the client read them as they are."""
    mcp = extended(shop(), ContractMiddleware(), TimingMiddleware())
    step = MCPError(code=MISSING_REQUIRED_CLIENT_CAPABILITY, message="Needs sampling.")

    @mcp.tool
    def samples() -> str:
        raise step

    @mcp.resource("shop://samples")
    def sampled() -> str:
        raise step

    for call in (mcp.call_tool("samples"), mcp.read_resource("shop://samples")):
        with pytest.raises(MCPError, match=r"^Needs sampling\.$") as raised:
            await call
        assert MISSING_REQUIRED_CLIENT_CAPABILITY == raised.value.code
    assert "Needs sampling." in logged(every_log)
