"""FastMCP's own errors and logs, and failures of tools generated from OpenAPI."""

from __future__ import annotations

import logging
from typing import Any

import anyio
import httpx2
import pytest
from fastmcp import FastMCP
from fastmcp.exceptions import InsufficientScopeError, PromptError, ResourceError, ToolError
from fastmcp.server.middleware import AuthMiddleware, Middleware
from fastmcp.server.middleware.rate_limiting import (
    RateLimitError,
    RateLimitingMiddleware,
    SlidingWindowRateLimitingMiddleware,
)

from mcpcore import ErrorCode, tool
from mcpcore.integrations.fastmcp import errors
from mcpcore.integrations.fastmcp.calling import FAILURES, LOGGERS
from tests.integrations.fastmcp.contract_server import calling, error_of, extended, logged, records
from tests.integrations.fastmcp.plain_server import NO_ORDER, SECRET, bare, contracted, get_order


class TestOpenAPI:
    @pytest.mark.parametrize(
        ("status", "name"),
        [
            (404, "NOT_FOUND"),
            (429, "RATE_LIMITED"),
            (503, "SERVICE_UNAVAILABLE"),
            (0, "TIMEOUT"),
            (1, "SERVICE_UNAVAILABLE"),
        ],
    )
    def test_tools_from_openapi_fail_with_the_status_of_the_service(
        self, status: int, name: str, caplog: pytest.LogCaptureFixture
    ) -> None:
        """The status decides, and the response body is only logged."""

        def answer(request: httpx2.Request) -> httpx2.Response:
            if status == 0:
                raise httpx2.ReadTimeout(SECRET)
            if status == 1:
                raise httpx2.ConnectError(SECRET)
            return httpx2.Response(status, json={"detail": SECRET})

        spec = {
            "openapi": "3.1.0",
            "info": {"title": "orders", "version": "1"},
            "paths": {"/orders": {"get": {"operationId": "orders", "responses": {"200": {"description": "Fine."}}}}},
        }
        client = httpx2.AsyncClient(transport=httpx2.MockTransport(answer), base_url="http://orders")
        mcp = contracted(FastMCP.from_openapi(spec, client=client))
        result = calling(mcp, "orders")
        assert (name, ErrorCode[name].sentence) == (error_of(result)["name"], error_of(result)["message"])
        assert "hunter2" not in result.model_dump_json()
        assert 1 == len(records(caplog))
        assert "hunter2" not in logged(caplog)


class TestFastMCPsOwnErrors:
    """Each test explains its failure if a FastMCP release changes the messages or names that identify the error."""

    @pytest.mark.parametrize("sync", [True, False])
    def test_its_timeout_is_a_timeout(self, sync: bool) -> None:
        """This holds for contract tools and plain FastMCP tools."""
        import time

        @tool(errors=[NO_ORDER], read_only=True)
        def slow() -> str:
            time.sleep(1)
            return ""

        mcp = contracted(FastMCP("s"))
        if sync:
            mcp.tool(slow, timeout=0.05)
        else:
            mcp.tool(tool(errors=[NO_ORDER], read_only=True)(get_order.handler), timeout=0.05, name="slow")
        error = error_of(calling(mcp, "slow", {} if sync else {"order_id": "slow"}))
        assert ("TIMEOUT", True) == (error["name"], error["data"]["retryable"]), (
            "FastMCP words its timeout of a tool in a new way: change TIMED_OUT in mcpcore/integrations/fastmcp/errors.py"
        )

    @pytest.mark.parametrize(
        ("limit", "shown"),
        [
            (RateLimitingMiddleware(max_requests_per_second=0.001, get_client_id=lambda _: SECRET), "one"),
            (RateLimitingMiddleware(max_requests_per_second=0.001, global_limit=True), "all"),
            (SlidingWindowRateLimitingMiddleware(max_requests=1), "window"),
        ],
    )
    def test_its_rate_limit_is_a_rate_limit(self, limit: Middleware, shown: str) -> None:
        """The id of the client is not sent."""
        mcp = extended(contracted(bare()), limit)

        async def run() -> Any:
            while True:
                await mcp.call_tool("get_order", {"order_id": "1"})

        with pytest.raises(RateLimitError) as raised:
            anyio.run(run)
        error: Any = raised.value
        assert ("RATE_LIMITED", "The server's rate limit is exceeded.") == (error.envelope.name, str(error)), shown

    @pytest.mark.parametrize("token", [None, "known"])
    def test_its_refusals_are_forbidden_or_unauthorized(
        self, token: str | None, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The access token decides between the two, and the data has the missing scopes."""
        monkeypatch.setattr(errors, "get_access_token", lambda: token)

        class Refusing(Middleware):
            async def on_call_tool(self, context: Any, call_next: Any) -> Any:
                raise InsufficientScopeError(["orders:read"])

        error = error_of(calling(extended(contracted(bare()), Refusing()), "get_order", {"order_id": "1"}))
        assert ("UNAUTHORIZED" if token is None else "FORBIDDEN") == error["name"]
        assert ["orders:read"] == error["data"]["requiredScopes"]

    def test_its_auth_middleware_is_answered_over_http(self) -> None:
        """An authenticated caller without a scope is forbidden."""
        from fastmcp.server.auth import require_scopes

        mcp = extended(contracted(bare()), AuthMiddleware(auth=require_scopes("orders:read")))
        assert "UNAUTHORIZED" == error_of(calling(mcp, "get_order", {"order_id": "1"}))["name"]

    def test_the_messages_of_its_wrappers_are_known(self, caplog: pytest.LogCaptureFixture) -> None:
        """These wrap crashes, bad arguments, broken results and failed dependencies."""
        from fastmcp.dependencies import Depends

        def broken() -> str:
            raise KeyError(SECRET)

        mcp = bare()

        @mcp.tool
        def depends(db: str = Depends(broken)) -> str:
            return db

        @mcp.resource("data://{x}")
        def data(x: str) -> str:
            raise KeyError(SECRET)

        @mcp.prompt
        def ask(x: int = 1) -> str:
            raise KeyError(SECRET)

        async def raised_by(call: Any, *args: Any) -> BaseException:
            with pytest.raises(Exception) as raised:
                await call(*args)
            return raised.value

        message = "FastMCP words {} in a new way: change {} in mcpcore/integrations/fastmcp/errors.py"
        for call, arguments, kind in (
            (mcp.call_tool, ("plain", {"how": "crash"}), ToolError),
            (mcp.call_tool, ("plain", {"how": "late"}), ToolError),
            (mcp.read_resource, ("data://x",), ResourceError),
            (mcp.render_prompt, ("ask",), PromptError),
        ):
            exc = anyio.run(raised_by, call, *arguments)
            assert kind is type(exc), message.format("its errors", "WRAPPERS")
            assert errors.WRAPPERS[kind].match(str(exc)), message.format("its errors", "WRAPPERS")
            assert isinstance(errors.raised_within(exc), KeyError | httpx2.ReadTimeout)
        failed = errors.raised_within(anyio.run(raised_by, mcp.call_tool, "depends", {}))
        assert isinstance(failed, KeyError), message.format("a failed dependency", "WRAPPERS")
        for arguments in ({"x": SECRET}, {}):
            exc = anyio.run(raised_by, mcp.render_prompt, "ask", arguments)
            exc = errors.raised_within(exc)
            if arguments:
                assert errors.UNFIT_ARGUMENT.match(str(exc)), message.format(
                    "bad arguments of prompts", "UNFIT_ARGUMENT"
                )
        body = errors.raised_within(anyio.run(raised_by, mcp.call_tool, "plain", {"how": "body"}))
        assert type(body).__name__ == "ValidationError", message.format("an error of a body", "BODY_ERROR")

    def test_its_log_of_crashes_is_silent(self, caplog: pytest.LogCaptureFixture) -> None:
        """Our redacted entry with the client's id replaces it; without the middleware, FastMCP logs as usual."""
        with caplog.at_level("DEBUG"):
            logging.getLogger("fastmcp").addHandler(caplog.handler)
            try:
                anyio.run(self._crash, bare())
                theirs = [r for r in caplog.records if r.name in LOGGERS and FAILURES.match(r.getMessage())]
                assert theirs, (
                    "FastMCP logs failures elsewhere: change LOGGERS or FAILURES in mcpcore/integrations/fastmcp/calling.py"
                )
                caplog.clear()
                identity = error_of(calling(contracted(bare()), "plain", {"how": "crash"}))["correlationId"]
            finally:
                logging.getLogger("fastmcp").removeHandler(caplog.handler)
        (crash,) = [
            record for record in caplog.records if record.levelno >= logging.ERROR and record.name != "mcpcore.audit"
        ]
        assert ("mcpcore", True) == (crash.name, identity in crash.getMessage())
        assert "hunter2" not in logged(caplog)

    @staticmethod
    async def _crash(mcp: FastMCP[Any]) -> None:
        with pytest.raises(ToolError):
            await mcp.call_tool("plain", {"how": "crash"})
