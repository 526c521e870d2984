"""The options of `ContractMiddleware`, as a client sees them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from fastmcp import FastMCP

from mcpcore import Limits, Server, tool
from mcpcore.integrations.fastmcp import ContractMiddleware
from tests.answers import envelope_of
from tests.integrations.fastmcp.contract_server import (
    NO_ORDER,
    SECRET,
    calling,
    error_of,
    extended,
    failing,
    listing,
    server_of,
)


class TestOptions:
    def test_match_those_of_a_server(self) -> None:
        """Names, defaults and error messages are the same."""
        import inspect

        ours = inspect.signature(ContractMiddleware).parameters
        theirs = inspect.signature(Server).parameters
        for name in ours:
            assert name == "plain_tools" or ours[name].default == theirs[name].default, name
        assert ours.keys() - {"plain_tools"} == theirs.keys() - {
            "name",
            "args",
            "tools",
            "resources",
            "prompts",
            "lifespan",
            "options",
        }
        for match, error, call in (
            (
                r"ContractMiddleware\(unknown_tool=...\) must be",
                ValueError,
                lambda: ContractMiddleware(unknown_tool="ignore"),
            ),
            (r"ContractMiddleware\(limits=...\) must be Limits", TypeError, lambda: ContractMiddleware(limits=3)),
            ("dialect must be one of", ValueError, lambda: ContractMiddleware(dialect="esperanto")),
            ("'colour' is not a field", TypeError, lambda: ContractMiddleware(bind={"colour": "red"})),
        ):
            with pytest.raises(error, match=match):
                call()
        # A subclass may call the function of the class.
        assert ["self", "context", "call_next"] == [*inspect.signature(ContractMiddleware.on_call_tool).parameters]

    def test_apply_on_the_wire(self, trail: Path) -> None:
        """The trail, bound fields, limits, descriptions and exposure take effect."""
        mcp = server_of(
            tool(errors=[NO_ORDER])(failing),
            audit=trail,
            bind={"role": "R"},
            limits=Limits(message=40),
            describe_failures=True,
            expose_internal_errors=True,
        )
        assert listing(mcp)["failing"].description.endswith(
            "Fails with:\n- no_order (NOT_FOUND): There is no order of that id. Call list_orders to see the ids."
        )
        error = error_of(calling(mcp, "failing", {"order_id": "crash"}))
        assert ("KeyError", {"role": "R"}) == (error["data"]["exception"]["type"], error["context"])
        (record,) = [json.loads(line) for line in trail.read_text().splitlines()]
        assert ("orders", "failing", error["correlationId"]) == (
            record["server"],
            record["tool"],
            record["correlationId"],
        )
        (middleware,) = [middleware for middleware in mcp.middleware if isinstance(middleware, ContractMiddleware)]
        assert middleware.audit.path == trail

    @pytest.mark.parametrize("dialect", ["ok_envelope_b", "taxonomy", "system_error"])
    def test_a_dialect_is_written_and_advertised(self, dialect: str) -> None:
        """The envelope is read back and fits the listed schema, also through a parent server; a plain tool has a text."""
        import jsonschema

        child = server_of(tool(errors=[NO_ORDER])(failing), dialect=dialect)

        @child.tool
        def count() -> int:
            raise KeyError(SECRET)

        parent = extended(FastMCP("parent"), ContractMiddleware(dialect=dialect))
        parent.mount(child)
        for mcp in (child, parent):
            for name, arguments in (("failing", {"order_id": "none"}), ("count", {})):
                result = calling(mcp, name, arguments)
                envelope = envelope_of(result)
                assert {"failing": "NOT_FOUND", "count": "INTERNAL_ERROR"}[name] == envelope.name
                if name == "count":
                    assert (True, None) == (result.is_error, result.structured_content)
                    continue
                assert dialect == envelope.dialect
                jsonschema.validate(result.structured_content, listing(mcp)[name].output_schema)

    def test_advertising_may_be_turned_off(self) -> None:
        """This includes the tools of a mounted server that advertises."""

        @tool
        def number() -> int:
            return 1

        made = tool(errors=[NO_ORDER])(failing)
        child = server_of(made, number)
        mcp = server_of(made, number, advertise_errors=False)
        parent = extended(FastMCP("parent"), ContractMiddleware(advertise_errors=False))
        parent.mount(child)
        for server in (mcp, parent):
            for name in ("failing", "number"):
                schema = listing(server)[name].output_schema
                assert "anyOf" not in schema
                assert "error" not in schema["properties"]
                assert 1 == len(schema["required"])
