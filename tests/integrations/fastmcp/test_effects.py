"""Effects of failures in FastMCP's tools, options, mounts and transforms."""

from __future__ import annotations

import logging
from typing import Any, Literal

import anyio
import pytest
from fastmcp import Client, FastMCP
from fastmcp.dependencies import Depends
from fastmcp.exceptions import AuthorizationError
from fastmcp.server.middleware import Middleware
from fastmcp.server.middleware.rate_limiting import RateLimitError
from fastmcp.tools import Tool
from fastmcp.tools.tool_transform import ArgTransform, forward
from mcp_types import ToolAnnotations

from mcpcore import Context, Retry, timeout, tool
from mcpcore.integrations.fastmcp import ContractMiddleware
from tests.answers import ask, envelope_of
from tests.integrations.fastmcp.contract_server import extended
from tests.runtime.test_effects import READS, SENDS, SILENT, UNKNOWN

HINTS = {"readOnlyHint": False, "idempotentHint": False}


@tool(errors=[SILENT])
async def send(ctx: Context[Literal["silent"]], how: str) -> str:
    """Send."""
    if how == "crash":
        raise KeyError(how)
    if how == "slow":
        await anyio.sleep(5)
    raise ctx.fail("silent")


def plain(how: str) -> str:
    """Send, with a plain FastMCP function."""
    if how == "coded":
        raise timeout()
    raise KeyError(how)


def contracted(*tools: Any, name: str = "s", **options: Any) -> FastMCP[Any]:
    return extended(FastMCP(name), ContractMiddleware(**options), *tools)


def effects_and_retry(mcp: FastMCP[Any], name: str, how: str = "silent", **arguments: Any) -> Any:
    """Return the effects and the advice of a call that fails."""

    read = envelope_of(ask(Client(mcp), lambda client: client.call_tool_mcp(name, {"how": how, **arguments})))
    return read.effects, read.retry


@pytest.mark.parametrize("how", ["crash", "silent"])
def test_annotations_of_the_fastmcp_decorator(how: str) -> None:
    """`@mcp.tool(annotations={...})` above `@tool` takes a mapping or an object and overrides it."""
    mcp = contracted()
    mcp.tool(annotations=HINTS, name="a")(send.with_options())
    mcp.tool(annotations=SENDS, name="b")(tool(errors=[SILENT], annotations=READS)(send.handler))
    mcp.tool(name="c")(tool(errors=[SILENT], annotations=READS)(send.handler))
    assert UNKNOWN == effects_and_retry(mcp, "a", how)
    assert UNKNOWN == effects_and_retry(mcp, "b", how)
    assert "none" == effects_and_retry(mcp, "c", how)[0]


@pytest.mark.parametrize(
    ("annotations", "expected"),
    [(SENDS, UNKNOWN), (READS, ("none", Retry.now())), (ToolAnnotations(idempotent_hint=True), (None, Retry.now()))],
)
@pytest.mark.parametrize("most", [1, 1000])
def test_the_annotations_that_a_client_sees_count(
    annotations: ToolAnnotations, expected: Any, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A registration, transform or mount that changes the annotations overrides those of the handler.

    This holds for more tools than a server keeps in mind, too.
    """
    monkeypatch.setattr("mcpcore.integrations.fastmcp.served._MAX_KEPT", most)
    own = send.with_options(annotations=READS if annotations is SENDS else SENDS)
    registered = Tool.from_function(own, name="registered", annotations=annotations)
    transformed = Tool.from_tool(Tool.from_function(own, name="t"), name="transformed", annotations=annotations)
    mcp = contracted(registered, transformed)
    mcp.mount(extended(FastMCP("below"), registered), namespace="below")
    for name in ("registered", "transformed", "below_registered"):
        assert expected == effects_and_retry(mcp, name)
        assert expected == effects_and_retry(mcp, name), "the second call says the same"


def test_a_mounted_server_uses_its_own_tools() -> None:
    """This holds even if it has its own middleware."""
    mcp = contracted()
    mcp.mount(contracted(send.with_options(annotations=SENDS), name="below"), namespace="below")
    assert UNKNOWN == effects_and_retry(mcp, "below_send")


def test_a_tool_that_replaces_another() -> None:
    """The annotations of the former tool are forgotten."""
    mcp = contracted(send.with_options(annotations=SENDS))
    assert UNKNOWN == effects_and_retry(mcp, "send")
    for other in (send.with_options(annotations=READS), Tool.from_function(plain, name="send", annotations=READS)):
        mcp.local_provider.remove_tool("send")
        mcp.add_tool(other)
        assert "none" == effects_and_retry(mcp, "send")[0]


@pytest.mark.parametrize("is_plain", [True, False])
@pytest.mark.parametrize(("annotations", "expected"), [(SENDS, UNKNOWN), (READS, ("none", Retry.now()))])
def test_a_timeout_leaves_effects_unknown(is_plain: bool, annotations: Any, expected: Any) -> None:
    """`timeout=` ends the handler in the middle."""

    async def slow(how: str) -> str:
        """Send slowly."""
        await anyio.sleep(5)
        return how

    mcp = contracted()
    mcp.tool(timeout=0.05, annotations=annotations, name="slow")(slow if is_plain else send.with_options())
    assert expected == effects_and_retry(mcp, "slow", "slow")


@pytest.mark.parametrize("is_plain", [True, False])
def test_failures_before_the_handler_do_not_leave_effects_unknown(is_plain: bool) -> None:
    """These are bad arguments, rate limits, refused callers and dependencies of the handler."""
    made: Any = Tool.from_function(plain, name="act", annotations=SENDS)
    mcp = contracted(made if is_plain else send.with_options(name="act", annotations=SENDS))
    assert ("none", Retry.never()) == effects_and_retry(mcp, "act", other=1)
    assert "unknown" == effects_and_retry(mcp, "act", "crash")[0]

    class Refuses(Middleware):
        async def on_call_tool(self, context: Any, call_next: Any) -> Any:
            raise AuthorizationError("Not you.")

    mcp.add_middleware(Refuses())
    assert (None, Retry.never()) == effects_and_retry(mcp, "act", "crash")


def test_a_rate_limit_of_the_server_does_not_leave_effects_unknown() -> None:
    """The handler did not run, and waiting helps."""

    class Limits(Middleware):
        async def on_call_tool(self, context: Any, call_next: Any) -> Any:
            raise RateLimitError("Rate limit exceeded for client: somebody")

    mcp = extended(
        contracted(send.with_options(annotations=SENDS), Tool.from_function(plain, name="plain", annotations=SENDS)),
        Limits(),
    )
    for name in ("send", "plain"):
        assert (None, Retry.after(seconds=30)) == effects_and_retry(mcp, name, "crash")


def broken() -> str:
    raise TimeoutError("late")


@pytest.mark.parametrize("is_plain", [True, False])
def test_a_dependency_that_fails_does_not_leave_effects_unknown(is_plain: bool) -> None:
    """FastMCP resolves the parameter before it calls the handler."""

    def act(how: str, store: str = Depends(broken)) -> str:  # type: ignore[assignment]
        """Send."""
        return how + store

    mcp = contracted()
    if is_plain:
        mcp.tool(annotations=SENDS)(act)
    else:
        mcp.tool(tool(errors=[SILENT], annotations=SENDS)(act))
    effects, retry = effects_and_retry(mcp, "act")
    assert (None, Retry.now()) == (effects, retry)


def test_middleware_that_crashes_before_a_contract_tool_does_not_leave_effects_unknown() -> None:
    """After the tool, the effects are unknown."""

    class Crashes(Middleware):
        after = False

        async def on_call_tool(self, context: Any, call_next: Any) -> Any:
            if self.after:
                await call_next(context)
            raise TimeoutError("late")

    @tool(annotations=SENDS)
    def act(how: str) -> str:
        """Send."""
        return how

    mcp = contracted(act)
    crashes = Crashes()
    mcp.add_middleware(crashes)
    assert (None, Retry.now()) == effects_and_retry(mcp, "act")
    crashes.after = True
    assert UNKNOWN == effects_and_retry(mcp, "act")


def test_a_transform_with_a_custom_function() -> None:
    """It may have effects before it calls the tool, or without calling it."""

    async def around(how: str) -> Any:
        if how == "alone":
            raise KeyError(how)
        return await forward(how=how)

    made = Tool.from_function(send, name="send", annotations=SENDS)
    renamed = Tool.from_tool(made, name="renamed", transform_args={"how": ArgTransform(name="way")})
    mcp = contracted(Tool.from_tool(made, name="around", transform_fn=around), renamed)
    assert UNKNOWN == effects_and_retry(mcp, "around", "alone")
    assert UNKNOWN == effects_and_retry(mcp, "around", "silent")
    assert ("none", Retry.never()) == effects_and_retry(mcp, "renamed", "silent")


def test_a_server_without_the_middleware() -> None:
    """Its contract tools answer their own failures."""
    assert UNKNOWN == effects_and_retry(extended(FastMCP("alone"), send.with_options(annotations=SENDS)), "send")


def test_a_tool_that_cannot_be_looked_up(caplog: pytest.LogCaptureFixture) -> None:
    """A provider that fails states no effects, and the call fails for that reason."""

    class Failing(FastMCP[Any]):
        async def get_tool(self, name: str, version: Any = None) -> Any:
            raise ConnectionRefusedError("the provider is down")

    mcp = extended(Failing("failing"), ContractMiddleware())
    with caplog.at_level(logging.CRITICAL, "mcpcore"):
        assert None is effects_and_retry(mcp, "send")[0]
