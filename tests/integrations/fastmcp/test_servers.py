"""Servers around contract tools: mounts, proxies, middleware, FastMCP's own errors and its log."""

from __future__ import annotations

import logging
import re
from typing import Any, Literal

import anyio
import httpx2
import pytest
from fastmcp import Client, FastMCP
from fastmcp.exceptions import AuthorizationError, InsufficientScopeError, PromptError, ResourceError, ToolError
from fastmcp.server import create_proxy
from fastmcp.server.middleware import Middleware
from fastmcp.server.middleware.error_handling import ErrorHandlingMiddleware, RetryMiddleware
from fastmcp.server.middleware.rate_limiting import RateLimitingMiddleware, SlidingWindowRateLimitingMiddleware
from fastmcp.tools.base import ToolResult
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel

from mcpcore import Context, ContractError, Envelope, ErrorCode, FailureMode, Server, not_found, tool
from mcpcore.contract import CONTRACT_META_KEY
from mcpcore.integrations.fastmcp import ContractMiddleware, errors, logs

NO_ORDER = FailureMode(
    "no_order", ErrorCode.NOT_FOUND, when="There is no order of that id.", recovery="Call list_orders."
)
SECRET = "password=hunter2hunter2"


@tool(errors=[NO_ORDER])
async def get_order(ctx: Context[Literal["no_order"]], order_id: str) -> dict[str, str]:
    """Get an order."""
    if order_id == "crash":
        raise KeyError(SECRET)
    if order_id == "slow":
        await anyio.sleep(5)
    if order_id == "none":
        raise ctx.fail("no_order")
    return {"id": order_id}


def bare(name: str = "bare") -> FastMCP[Any]:
    mcp: FastMCP[Any] = FastMCP(name)
    mcp.add_tool(get_order)

    @mcp.tool
    def plain(how: str) -> str:
        match how:
            case "crash":
                raise KeyError(SECRET)
            case "said":
                raise ToolError("Told to the model.")
            case "said of a cause":
                raise ToolError("Told again.") from KeyError(SECRET)
            case "coded":
                raise not_found("Coded.", {"a": 1})
            case "late":
                raise httpx2.ReadTimeout(SECRET)
            case "denied":
                raise AuthorizationError("Not you.")
            case "body":
                Model.model_validate({"x": SECRET})
        return how

    @mcp.tool
    def marked() -> ToolResult:
        return ToolResult(content="By hand.", is_error=True)

    return mcp


class Model(BaseModel):
    """What pydantic checks in the body of a tool."""

    x: int


class Own(BaseModel):
    """A result with a field that is named like a failure."""

    error: str | None = None


def contracted(mcp: FastMCP[Any], **options: Any) -> FastMCP[Any]:
    mcp.add_middleware(ContractMiddleware(**options))
    return mcp


def calling(mcp: Any, name: str, arguments: dict[str, Any] | None = None, **options: Any) -> Any:
    async def run() -> Any:
        async with Client(mcp, **options) as client:
            return await client.call_tool_mcp(name, arguments or {})

    return anyio.run(run)


def error_of(result: Any) -> dict[str, Any]:
    assert result.is_error, result
    error = dict(result.structured_content["error"])
    assert f"id {error['correlationId']})" in result.content[0].text
    return error


def listed(mcp: Any) -> dict[str, Any]:
    async def run() -> Any:
        async with Client(mcp) as client:
            return {each.name: each for each in await client.list_tools()}

    return anyio.run(run)


def records(caplog: pytest.LogCaptureFixture) -> list[dict[str, Any]]:
    return [record.audit for record in caplog.records if record.name == "mcpcore.audit"]  # type: ignore[attr-defined]


class TestPlainTools:
    @pytest.mark.parametrize("mask", [True, False])
    @pytest.mark.parametrize(
        ("how", "name", "message"),
        [
            ("crash", "INTERNAL_ERROR", ErrorCode.INTERNAL_ERROR.sentence),
            ("said", "INTERNAL_ERROR", "Told to the model."),
            ("said of a cause", "INTERNAL_ERROR", "Told again."),
            ("coded", "NOT_FOUND", "Coded."),
            ("late", "TIMEOUT", ErrorCode.TIMEOUT.sentence),
            ("denied", "UNAUTHORIZED", "Not you."),
            ("body", "VALIDATION_ERROR", ErrorCode.VALIDATION_ERROR.sentence),
        ],
    )
    def test_fail_in_the_same_envelope(
        self, how: str, name: str, message: str, mask: bool, caplog: pytest.LogCaptureFixture
    ) -> None:
        """Crashes are masked whatever `mask_error_details` says; one record each, and no secret in any log."""
        mcp = bare()
        masking: FastMCP[Any] = FastMCP("masking", mask_error_details=mask)
        masking.mount(mcp)
        mcp._mask_error_details = mask
        for server in (mcp, masking):
            contracted(server)
            caplog.clear()
            with caplog.at_level("DEBUG"):
                result = calling(server, "plain", {"how": how})
            error = error_of(result)
            assert (name, message) == (error["name"], error["message"])
            assert "hunter2" not in result.model_dump_json()
            assert 1 == len(records(caplog))
            for record in caplog.records:
                assert "hunter2" not in logging.Formatter().format(record)

    def test_what_they_mark_as_failed_is_one(self, caplog: pytest.LogCaptureFixture) -> None:
        """`ToolResult(is_error=True)` becomes an envelope with its text."""
        caplog.set_level("INFO")
        assert "By hand." == error_of(calling(contracted(bare()), "marked"))["message"]
        assert 1 == len(records(caplog))

    def test_a_key_error_of_a_success_is_refused_unless_it_is_declared(self) -> None:
        """As on a `Server`."""
        mcp = contracted(FastMCP("s"))

        @mcp.tool
        def own() -> Own:
            return Own(error="x")

        @mcp.tool
        def mapping() -> dict[str, Any]:
            return {"error": "x"}

        assert {"error": "x"} == calling(mcp, "own").structured_content
        assert "INTERNAL_ERROR" == error_of(calling(mcp, "mapping"))["name"]

    def test_what_json_cannot_hold_is_null_or_a_failure(self) -> None:
        """A NaN where null may stand, and a lone surrogate."""
        mcp = contracted(FastMCP("s"))

        @mcp.tool
        def maybe() -> float | None:
            return float("nan")

        @mcp.tool
        def torn() -> ToolResult:
            return ToolResult(content="half \ud800 of a pair")

        assert {"result": None} == calling(mcp, "maybe").structured_content
        assert "INTERNAL_ERROR" == error_of(calling(mcp, "torn"))["name"]


class TestMounts:
    @pytest.mark.parametrize("above", [True, False])
    @pytest.mark.parametrize("below", [True, False])
    @pytest.mark.parametrize("namespace", ["shop", None])
    def test_a_parent_covers_what_is_below(
        self, above: bool, below: bool, namespace: str | None, caplog: pytest.LogCaptureFixture
    ) -> None:
        """Contracts, schemas, failures, bad arguments and crashes; one record each, wherever the middleware is."""
        if not above and not below:
            return
        caplog.set_level("INFO")
        child = contracted(bare("child")) if below else bare("child")
        middle: FastMCP[Any] = FastMCP("middle")
        middle.mount(child)
        parent: FastMCP[Any] = FastMCP("parent")
        if above:
            contracted(parent)
        parent.mount(middle, namespace=namespace)
        prefix = f"{namespace}_" if namespace else ""
        tools = listed(parent)
        published = tools[f"{prefix}get_order"].meta[CONTRACT_META_KEY]
        assert ["no_order"] == [entry["reason"] for entry in published]
        for name in ("get_order", "plain"):
            assert 1 == sum(
                branch.get("required") == ["error"] for branch in tools[f"{prefix}{name}"].output_schema["anyOf"]
            )
        for name, arguments, code in (
            ("get_order", {"order_id": "none"}, "NOT_FOUND"),
            ("get_order", {"order_id": "crash"}, "INTERNAL_ERROR"),
            ("get_order", {"order_id": [SECRET]}, "INVALID_PARAMS"),
            ("get_order", {"odd": SECRET}, "INVALID_PARAMS"),
            ("plain", {"how": "crash"}, "INTERNAL_ERROR"),
            ("plain", {"how": "said"}, "INTERNAL_ERROR"),
            ("plain", {"odd": SECRET}, "INVALID_PARAMS"),
            ("marked", {}, "INTERNAL_ERROR"),
        ):
            caplog.clear()
            result = calling(parent, f"{prefix}{name}", arguments)
            error = error_of(result)
            assert code == error["name"]
            assert "hunter2" not in result.model_dump_json()
            (record,) = records(caplog)
            assert error["correlationId"] == record["correlationId"]
            if not below:
                assert f"{prefix}{name}" == error["tool"]
        if above:
            with pytest.raises(MCPError, match="Unknown tool: gt_order"):
                calling(parent, "gt_order")

    def test_renamed_and_transformed_tools_keep_their_contracts(self) -> None:
        """`tool_names` of a mount, and arguments that are renamed."""
        from fastmcp.tools import Tool
        from fastmcp.tools.tool_transform import ArgTransform

        parent = contracted(FastMCP("parent"))
        parent.mount(bare("child"), tool_names={"get_order": "order"})
        parent.add_tool(
            Tool.from_tool(get_order, name="by_number", transform_args={"order_id": ArgTransform(name="number")})
        )
        assert "no_order" == error_of(calling(parent, "order", {"order_id": "none"}))["data"]["reason"]
        assert "no_order" == error_of(calling(parent, "by_number", {"number": "none"}))["data"]["reason"]
        assert "invalid_arguments" == error_of(calling(parent, "order", {"odd": 1}))["data"]["reason"]
        assert [CONTRACT_META_KEY in each.meta for each in listed(parent).values()].count(True) == 2

    def test_a_server_of_mcpcore_is_mounted_by_a_proxy(self, caplog: pytest.LogCaptureFixture) -> None:
        """`mcp.mount(server)` fails with a sentence that says so, at the latest when it is served."""
        server = Server("ours", tools=[get_order])
        for mcp in (FastMCP("parent"), contracted(FastMCP("parent"))):
            with pytest.raises(Exception, match=r"mount\(create_proxy\(server\)\)"):  # noqa: PT012 - by release
                mcp.mount(server)  # type: ignore[arg-type]
                listed(mcp)
        with pytest.raises(AttributeError, match="no attribute 'nothing'"):
            _ = server.nothing  # type: ignore[attr-defined]
        parent = contracted(FastMCP("parent"))
        parent.mount(create_proxy(server))
        caplog.set_level("INFO")
        result = calling(parent, "get_order", {"order_id": "none"})
        assert ("no_order", "get_order") == (error_of(result)["data"]["reason"], error_of(result)["tool"])
        assert ["no_order"] == [entry["reason"] for entry in listed(parent)["get_order"].meta[CONTRACT_META_KEY]]

    def test_a_mount_that_is_found_late_is_refused_by_the_middleware(self) -> None:
        """A release whose `mount` takes anything is found out when a client lists the tools."""
        from fastmcp.server.providers.fastmcp_provider import FastMCPProvider

        class Other:
            middleware: tuple[()] = ()

            def required_extensions(self) -> list[Any]:
                return []

        mcp = contracted(FastMCP("parent"))
        mcp.providers.append(FastMCPProvider(Other()))  # type: ignore[arg-type]
        with pytest.raises(ContractError, match=r"takes FastMCP servers, not a .*\.Other; mount a proxy"):
            anyio.run(mcp.list_tools)

    def test_a_proxied_backend_is_passed_on(self, caplog: pytest.LogCaptureFixture) -> None:
        """A failure with an envelope stays one and says where it comes from; one without becomes an envelope."""
        caplog.set_level("INFO")
        parent = contracted(FastMCP("parent"), bind={"role": "R"})
        parent.mount(create_proxy(contracted(bare("with"))), namespace="with")
        parent.mount(create_proxy(bare("without")), namespace="without")
        error = error_of(calling(parent, "with_get_order", {"order_id": "none"}))
        assert ("NOT_FOUND", "no_order", "with_get_order") == (error["name"], error["data"]["reason"], error["tool"])
        assert "Call list_orders." == error["data"]["recovery"]["hint"]
        backend, ours = records(caplog)
        assert error["correlationId"] == ours["correlationId"] != backend["correlationId"]
        origin = {"correlationId": backend["correlationId"], "tool": "get_order"}
        assert origin == error["data"]["upstream"] == ours["data"]["upstream"]
        assert ("with", "parent") == (backend["server"], ours["server"])
        assert "no_order" == error_of(calling(parent, "without_get_order", {"order_id": "none"}))["data"]["reason"]
        assert "Told to the model." == error_of(calling(parent, "without_plain", {"how": "said"}))["message"]


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
    def test_tools_made_from_a_description_fail_by_what_the_service_said(
        self, status: int, name: str, caplog: pytest.LogCaptureFixture
    ) -> None:
        """The status decides; what it wrote stays in the log."""

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
        with caplog.at_level("INFO"):
            result = calling(mcp, "orders")
        assert (name, ErrorCode[name].sentence) == (error_of(result)["name"], error_of(result)["message"])
        assert "hunter2" not in result.model_dump_json()
        assert 1 == len(records(caplog))
        for record in caplog.records:
            assert "hunter2" not in logging.Formatter().format(record)


class TestFastMCPsOwnErrors:
    """Each of these fails with a sentence where a release of FastMCP changes the words or the names that tell it."""

    @pytest.mark.parametrize("sync", [True, False])
    def test_its_timeout_is_a_timeout(self, sync: bool) -> None:
        """For contract tools and for FastMCP's tools."""
        import time

        @tool(errors=[NO_ORDER])
        def slow() -> str:
            time.sleep(1)
            return ""

        mcp = contracted(FastMCP("s"))
        if sync:
            mcp.tool(slow, timeout=0.05)
        else:
            mcp.tool(tool(errors=[NO_ORDER])(get_order.handler), timeout=0.05, name="slow")
        arguments = {} if sync else {"order_id": "slow"}
        error = error_of(calling(mcp, "slow", arguments))
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
        """Without the id of the client."""
        mcp = contracted(bare())
        mcp.add_middleware(limit)

        async def run() -> Any:
            for _ in range(5):
                result = await mcp.call_tool("get_order", {"order_id": "1"})
            return result

        result = anyio.run(run)
        assert ("RATE_LIMITED", "The server's rate limit is exceeded.") == (
            error_of(result)["name"],
            error_of(result)["message"],
        ), shown

    @pytest.mark.parametrize("token", [None, "known"])
    def test_its_refusals_are_forbidden_or_unauthorized(
        self, token: str | None, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """It depends on the access token; the missing scopes are in the data."""
        monkeypatch.setattr(errors, "get_access_token", lambda: token)

        class Refusing(Middleware):
            async def on_call_tool(self, context: Any, call_next: Any) -> Any:
                raise InsufficientScopeError(["orders:read"])

        mcp = contracted(bare())
        mcp.add_middleware(Refusing())
        error = error_of(calling(mcp, "get_order", {"order_id": "1"}))
        assert ("UNAUTHORIZED" if token is None else "FORBIDDEN") == error["name"]
        assert ["orders:read"] == error["data"]["requiredScopes"]

    def test_its_auth_middleware_is_answered_over_http(self) -> None:
        """A caller that is known and lacks a scope is forbidden."""
        from fastmcp.server.auth import require_scopes
        from fastmcp.server.middleware import AuthMiddleware

        mcp = contracted(bare())
        mcp.add_middleware(AuthMiddleware(auth=require_scopes("orders:read")))
        error = error_of(anyio.run(mcp.call_tool, "get_order", {"order_id": "1"}))
        assert "UNAUTHORIZED" == error["name"]

    def test_the_words_of_its_wrappers_are_known(self, caplog: pytest.LogCaptureFixture) -> None:
        """What it makes of a crash, of bad arguments, of a broken result and of a failed dependency."""
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

        told = "FastMCP words {} in a new way: change {} in mcpcore/integrations/fastmcp/errors.py"
        for call, arguments, kind in (
            (mcp.call_tool, ("plain", {"how": "crash"}), ToolError),
            (mcp.call_tool, ("plain", {"how": "late"}), ToolError),
            (mcp.read_resource, ("data://x",), ResourceError),
            (mcp.render_prompt, ("ask",), PromptError),
        ):
            exc = anyio.run(raised_by, call, *arguments)
            assert kind is type(exc), told.format("its errors", "WRAPPERS")
            assert errors.WRAPPERS[kind].match(str(exc)), told.format("its errors", "WRAPPERS")
            assert isinstance(errors.raised_within(exc), KeyError | httpx2.ReadTimeout)
        failed = errors.raised_within(anyio.run(raised_by, mcp.call_tool, "depends", {}))
        assert isinstance(failed, KeyError), told.format("a failed dependency", "WRAPPERS")
        for arguments in ({"x": SECRET}, {}):
            exc = anyio.run(raised_by, mcp.render_prompt, "ask", arguments)
            exc = errors.raised_within(exc)
            if arguments:
                assert errors.UNFIT_ARGUMENT.match(str(exc)), told.format("bad arguments of prompts", "UNFIT_ARGUMENT")
        body = errors.raised_within(anyio.run(raised_by, mcp.call_tool, "plain", {"how": "body"}))
        assert type(body).__name__ == "ValidationError", told.format("an error of a body", "BODY_ERROR")

    def test_its_log_of_crashes_is_silent(self, caplog: pytest.LogCaptureFixture) -> None:
        """One entry of ours, redacted, under the id that the client reads; without the middleware all is as ever."""
        with caplog.at_level("DEBUG"):
            logging.getLogger("fastmcp").addHandler(caplog.handler)
            try:
                anyio.run(self._crash, bare())
                theirs = [r for r in caplog.records if r.name in logs.LOGGERS and logs.FAILURES.match(r.getMessage())]
                assert theirs, (
                    "FastMCP logs failures elsewhere: change LOGGERS or FAILURES in mcpcore/integrations/fastmcp/logs.py"
                )
                caplog.clear()
                identity = error_of(calling(contracted(bare()), "plain", {"how": "crash"}))["correlationId"]
            finally:
                logging.getLogger("fastmcp").removeHandler(caplog.handler)
        (crash,) = [
            record for record in caplog.records if record.levelno >= logging.ERROR and record.name != "mcpcore.audit"
        ]
        assert ("mcpcore", True) == (crash.name, identity in crash.getMessage())
        for record in caplog.records:
            assert "hunter2" not in logging.Formatter().format(record)

    @staticmethod
    async def _crash(mcp: FastMCP[Any]) -> None:
        with pytest.raises(ToolError):
            await mcp.call_tool("plain", {"how": "crash"})


class TestCompatibility:
    @pytest.mark.parametrize("other", [ErrorHandlingMiddleware(), RetryMiddleware()])
    @pytest.mark.parametrize("first", [True, False])
    @pytest.mark.parametrize("mounted", [True, False])
    def test_what_would_undo_contracts_is_refused(self, other: Middleware, first: bool, mounted: bool) -> None:
        """With what to change, to code on the server and to a client, before or after ours, and below."""
        below = bare()
        mcp: FastMCP[Any] = FastMCP("parent")
        mcp.mount(below)
        where = below if mounted else mcp
        if first:
            where.add_middleware(other)
        contracted(mcp)
        if not first:
            where.add_middleware(other)
        # Middleware before ours replaces this error too, and keeps its message.
        for call, arguments in ((mcp.call_tool, ("get_order", {"order_id": "1"})), (mcp.list_tools, ())):
            with pytest.raises((ContractError, MCPError), match=f"{type(other).__name__} .* remove it"):
                anyio.run(call, *arguments)
        with pytest.raises(Exception):  # noqa: B017 - the type depends on the transport
            listed(mcp)

    def test_one_that_only_listens_may_stay(self, caplog: pytest.LogCaptureFixture) -> None:
        """`transform_errors=False` keeps the callback, and its log says nothing that ours does not."""
        seen: list[str] = []
        mcp = contracted(bare())
        mcp.add_middleware(
            ErrorHandlingMiddleware(
                transform_errors=False, error_callback=lambda exc, _: seen.append(type(exc).__name__)
            )
        )
        with caplog.at_level("INFO"):
            error_of(calling(mcp, "plain", {"how": "crash"}))
            error_of(calling(mcp, "get_order", {"order_id": "crash"}))
        assert ["ToolError", "ContractFailure"] == seen
        for record in caplog.records:
            assert "hunter2" not in logging.Formatter().format(record)

    def test_one_that_is_not_outermost_says_so_once(self, caplog: pytest.LogCaptureFixture) -> None:
        """Earlier middleware is not covered."""
        mcp = bare()
        mcp.add_middleware(SlidingWindowRateLimitingMiddleware(max_requests=100))
        contracted(mcp)
        for _ in range(2):
            error_of(calling(mcp, "plain", {"how": "crash"}))
        (said,) = [r.getMessage() for r in caplog.records if "not the outermost" in r.getMessage()]
        assert "SlidingWindowRateLimitingMiddleware" in said
        caplog.clear()
        calling(contracted(bare()), "plain", {"how": "fine"})
        assert "outermost" not in caplog.text


class TestResourcesAndPrompts:
    @pytest.fixture
    def mcp(self) -> FastMCP[Any]:
        mcp = contracted(FastMCP("s"))

        def fail(how: str) -> str:
            match how:
                case "crash":
                    raise KeyError(SECRET)
                case "coded":
                    raise not_found("No such page.", {"page": how}, recovery="Read the index.")
                case "said":
                    raise ResourceError("The disk is away.")
                case "late":
                    raise httpx2.ReadTimeout(SECRET)
                case "chosen":
                    raise MCPError(code=-32050, message="Chosen.")
                case "torn":
                    return "half \ud800 of a pair"
            return how

        @mcp.resource("page://{how}")
        def page(how: str) -> str:
            return fail(how)

        @mcp.prompt
        def ask(how: str, number: int = 1) -> str:
            return fail(how)

        return mcp

    @pytest.mark.parametrize("mounted", [False, True])
    @pytest.mark.parametrize("surface", ["resource", "prompt"])
    @pytest.mark.parametrize(
        ("how", "number", "name", "message"),
        [
            ("crash", -32603, "INTERNAL_ERROR", ErrorCode.INTERNAL_ERROR.sentence),
            ("coded", -32602, "NOT_FOUND", "No such page."),
            ("said", -32603, "INTERNAL_ERROR", "The disk is away."),
            ("late", -32603, "TIMEOUT", ErrorCode.TIMEOUT.sentence),
            ("torn", -32603, "INTERNAL_ERROR", ErrorCode.INTERNAL_ERROR.sentence),
            ("chosen", -32050, None, "Chosen."),
        ],
    )
    def test_fail_in_the_same_envelope(
        self, mcp: FastMCP[Any], surface: str, how: str, number: int, name: Any, message: str, mounted: bool,
        caplog: pytest.LogCaptureFixture,
    ) -> None:  # fmt: skip
        """On the JSON-RPC surface, with a record each and no secret anywhere."""
        if mounted:
            parent = contracted(FastMCP("parent"))
            parent.mount(mcp)
            mcp = parent
        with caplog.at_level("DEBUG"):
            error = self.failing(mcp, surface, how)
        assert (number, message) == (error.code, error.message)
        if name is not None:
            assert name == error.data["error"]["name"]
            assert (surface == "resource") == ("uri" in error.data)
        assert "hunter2" not in str(error.data)
        assert [surface] == [record["surface"] for record in records(caplog)]
        for record in caplog.records:
            assert "hunter2" not in logging.Formatter().format(record)

    @staticmethod
    def failing(mcp: FastMCP[Any], surface: str, how: str, arguments: Any = None) -> MCPError:
        async def run() -> Any:
            async with Client(mcp) as client:
                try:
                    if surface == "resource":
                        await client.read_resource(f"page://{how}" if arguments is None else arguments)
                    else:
                        await client.get_prompt(how if arguments is not None else "ask", arguments or {"how": how})
                except MCPError as exc:
                    return exc
            raise AssertionError("nothing failed")

        return anyio.run(run)  # type: ignore[no-any-return]

    def test_what_is_not_there_and_what_does_not_fit_is_told_as_that(self, mcp: FastMCP[Any]) -> None:
        """Unknown ones, and arguments that are missing or of another type, whose values no one repeats."""
        nothing = self.failing(mcp, "resource", "", "no://x")
        unknown = self.failing(mcp, "prompt", "aks", {"how": "x"})
        without = self.failing(mcp, "prompt", "ask", {"number": "1"})
        unfit = self.failing(mcp, "prompt", "ask", {"how": "x", "number": SECRET})
        told = [error.data["error"] for error in (nothing, unknown, without, unfit)]
        assert ["NOT_FOUND", "NOT_FOUND", "INVALID_PARAMS", "INVALID_PARAMS"] == [each["name"] for each in told]
        assert [None, "unknown_prompt", "invalid_arguments", "invalid_arguments"] == [
            each["data"].get("reason") for each in told
        ]
        assert "hunter2" not in str(told)

    def test_what_does_not_fail_is_answered(self, mcp: FastMCP[Any], caplog: pytest.LogCaptureFixture) -> None:
        """As FastMCP has it, without a record."""

        async def run() -> Any:
            async with Client(mcp) as client:
                read = await client.read_resource("page://fine")
                return read[0].text, (await client.get_prompt("ask", {"how": "fine"})).messages[0].content.text

        assert ("fine", "fine") == anyio.run(run)
        assert [] == records(caplog)

    def test_code_on_the_server_gets_the_same_error(self, mcp: FastMCP[Any]) -> None:
        """`mcp.read_resource(...)` in process."""
        with pytest.raises(MCPError) as raised:
            anyio.run(mcp.read_resource, "page://coded")
        envelope = Envelope.from_result(raised.value)
        assert envelope is not None
        assert "No such page." == envelope.message


def test_the_private_names_that_are_read_are_there() -> None:
    """Where a release renames them, this says which."""
    from fastmcp.server.context import Context as FastMCPContext
    from fastmcp.server.dependencies import FastMCPRequestContext
    from fastmcp.server.providers.fastmcp_provider import FastMCPProviderTool

    parent: FastMCP[Any] = FastMCP("parent")
    parent.mount(bare("child"), namespace="shop")
    (below,) = [each for each in parent.providers if each is not parent.local_provider]
    said = "FastMCP renamed {}: change mcpcore/integrations/fastmcp/{}.py"
    assert hasattr(below, "_inner"), said.format("_WrappedProvider._inner", "finding")
    assert {"_server", "_original_name"} <= FastMCPProviderTool.__private_attributes__.keys() | vars(
        FastMCPProviderTool
    ).keys(), said.format("FastMCPProviderTool's attributes", "finding")
    assert "_srctx" in FastMCPRequestContext.__annotations__, said.format("the request of the SDK", "calling")
    assert re.search("strict_input_validation", str(vars(parent).keys()))
    assert FastMCPContext is not None
