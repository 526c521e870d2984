"""Plain tools, resources and prompts of FastMCP next to contract tools."""

from __future__ import annotations

import re
from typing import Any

import anyio
import httpx2
import pytest
from fastmcp import Client, FastMCP
from fastmcp.exceptions import ResourceError
from fastmcp.tools.base import ToolResult
from mcp.shared.exceptions import MCPError

from mcpcore import ErrorCode, not_found
from mcpcore.integrations.fastmcp import ContractFailure
from tests.answers import outcome_of
from tests.integrations.fastmcp.contract_server import calling, error_of, logged, records
from tests.integrations.fastmcp.plain_server import SECRET, Own, bare, contracted


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
    def test_fail_with_the_same_envelope(
        self, how: str, name: str, message: str, mask: bool, caplog: pytest.LogCaptureFixture
    ) -> None:
        """Crashes are masked regardless of `mask_error_details`; each has one record, and no log has a secret."""
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
            assert "hunter2" not in logged(caplog)

    def test_an_error_key_in_the_success_of_a_plain_tool_stays(self) -> None:
        """A tool that declares nothing may mean anything by it."""
        mcp = contracted(FastMCP("s"))

        @mcp.tool
        def own() -> Own:
            return Own(error="x")

        @mcp.tool
        def mapping() -> dict[str, Any]:
            return {"error": "x"}

        assert {"error": "x"} == calling(mcp, "own").structured_content
        assert {"error": "x"} == calling(mcp, "mapping").structured_content

    def test_values_that_json_cannot_represent_are_as_fastmcp_has_them_or_a_failure(self) -> None:
        """A NaN is null, and a lone surrogate, which FastMCP cannot send, is a failure."""
        mcp = contracted(FastMCP("s"))

        @mcp.tool
        def maybe() -> float | None:
            return float("nan")

        @mcp.tool
        def torn() -> ToolResult:
            return ToolResult(content="half \ud800 of a pair")

        assert {"result": None} == calling(mcp, "maybe").structured_content
        assert "INTERNAL_ERROR" == error_of(calling(mcp, "torn"))["name"]


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
            ("crash", -32603, "INTERNAL_ERROR", "The {} failed unexpectedly."),
            ("coded", -32602, "NOT_FOUND", "No such page."),
            ("said", -32603, "INTERNAL_ERROR", "The disk is away."),
            ("late", -32603, "TIMEOUT", ErrorCode.TIMEOUT.sentence),
            ("torn", -32603, "INTERNAL_ERROR", "The {} failed unexpectedly."),
            ("chosen", -32050, None, "Chosen."),
        ],
    )
    def test_fail_with_the_same_envelope(
        self, mcp: FastMCP[Any], surface: str, how: str, number: int, name: Any, message: str, mounted: bool,
        caplog: pytest.LogCaptureFixture,
    ) -> None:  # fmt: skip
        """Protocol errors have one record each and contain no secret."""
        if mounted:
            parent = contracted(FastMCP("parent"))
            parent.mount(mcp)
            mcp = parent
        with caplog.at_level("DEBUG"):
            error = self.failing(mcp, surface, how)
        assert (number, message.format(surface)) == (error.code, error.message)
        if name is not None:
            assert name == error.data["error"]["name"]
            assert (surface == "resource") == ("uri" in error.data)
        assert "hunter2" not in str(error.data)
        assert [surface] == [record["surface"] for record in records(caplog)]
        assert "hunter2" not in logged(caplog)

    @staticmethod
    def failing(mcp: FastMCP[Any], surface: str, how: str, arguments: Any = None) -> MCPError:
        error = outcome_of(
            Client(mcp),
            lambda client: (
                client.read_resource(f"page://{how}" if arguments is None else arguments)
                if surface == "resource"
                else client.get_prompt(how if arguments is not None else "ask", arguments or {"how": how})
            ),
        )
        assert isinstance(error, MCPError)
        return error

    def test_missing_items_and_invalid_arguments_are_reported(self, mcp: FastMCP[Any]) -> None:
        """Unknown items, missing arguments and wrong types are reported without the values."""
        nothing = self.failing(mcp, "resource", "", "no://x")
        unknown = self.failing(mcp, "prompt", "aks", {"how": "x"})
        without = self.failing(mcp, "prompt", "ask", {"number": "1"})
        unfit = self.failing(mcp, "prompt", "ask", {"how": "x", "number": SECRET})
        errors = [error.data["error"] for error in (nothing, unknown, without, unfit)]
        assert ["NOT_FOUND", "NOT_FOUND", "INVALID_PARAMS", "INVALID_PARAMS"] == [error["name"] for error in errors]
        assert [None, "unknown_prompt", "invalid_arguments", "invalid_arguments"] == [
            error["data"].get("reason") for error in errors
        ]
        assert "hunter2" not in str(errors)

    def test_code_on_the_server_gets_the_same_error(self, mcp: FastMCP[Any]) -> None:
        """`mcp.read_resource(...)` runs in process."""
        with pytest.raises(ResourceError, match=r"^No such page\.$") as raised:
            anyio.run(mcp.read_resource, "page://coded")
        assert isinstance(raised.value, ContractFailure)
        assert raised.value.envelope is not None
        assert "Read the index." == raised.value.envelope.recovery["hint"]  # type: ignore[index]


def test_the_private_names_exist() -> None:
    """If a release renames one, this test says which."""
    from fastmcp.server.context import Context as FastMCPContext
    from fastmcp.server.dependencies import FastMCPRequestContext
    from fastmcp.server.providers.fastmcp_provider import FastMCPProviderTool

    parent: FastMCP[Any] = FastMCP("parent")
    parent.mount(bare("child"), namespace="shop")
    (below,) = [provider for provider in parent.providers if provider is not parent.local_provider]
    said = "FastMCP renamed {}: change mcpcore/integrations/fastmcp/{}.py"
    assert hasattr(below, "_inner"), said.format("_WrappedProvider._inner", "finding")
    assert {"_server", "_original_name"} <= FastMCPProviderTool.__private_attributes__.keys() | vars(
        FastMCPProviderTool
    ).keys(), said.format("FastMCPProviderTool's attributes", "finding")
    assert "_srctx" in FastMCPRequestContext.__annotations__, said.format("the request of the SDK", "calling")
    assert re.search("strict_input_validation", str(vars(parent).keys()))
    assert FastMCPContext is not None
