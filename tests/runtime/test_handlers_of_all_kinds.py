"""Handlers that are built in unusual ways, what is passed to them, and errors for those that cannot be tools."""

from __future__ import annotations

import math
import subprocess
import sys
from typing import Any, Literal

import pytest
from mcp import Client
from mcp.server import MCPServer
from mcp.server.elicitation import AcceptedElicitation, DeclinedElicitation
from mcp.server.mcpserver import Context as SDKContext
from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
from mcp_types import ElicitRequestFormParams, ElicitResult
from pydantic import BaseModel

from mcpcore import Context, ContractError, ErrorCode, FailureMode, Server, not_found, tool
from tests import answers as answers_of
from tests.boundaries import chain

pytestmark = pytest.mark.usefixtures("door")

NO_MATCH = FailureMode("no_match", ErrorCode.NOT_FOUND, when="Nothing matched.", recovery="Search first.")
Reasons = Literal["no_match"]


class Person(BaseModel):
    name: str


def test_a_handler_may_take_both_contexts(call: Any) -> None:
    """A handler that is being migrated can take the SDK's context in any position, and clients see neither."""

    @tool(errors=[NO_MATCH])
    def both(ctx: Context[Reasons], number: int, sdk: SDKContext) -> dict[str, Any]:
        if number < 0:
            raise ctx.fail("no_match")
        return {"number": number, "same": sdk.request_id == ctx.request_id, "kind": isinstance(sdk, SDKContext)}

    @tool
    async def sdk_only(sdk: SDKContext) -> bool:
        return bool(sdk.request_id)

    server = Server("s", tools=[both, sdk_only])
    assert ["number"] == list(both.definition.sdk.parameters["properties"])
    assert {"number": 2, "same": True, "kind": True} == call(server, "both", {"number": 2}).structured_content
    assert "no_match" == call(server, "both", {"number": -1}).structured_content["error"]["data"]["reason"]
    assert {"result": True} == call(server, "sdk_only").structured_content


@pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")
def test_a_handler_elicits_from_the_user(call: Any) -> None:
    """Forms and URLs reach the client's callback, and the answer is returned with its type."""
    asked: list[Any] = []

    @tool(errors=[NO_MATCH])
    async def ask(ctx: Context[Reasons]) -> str:
        form = await ctx.elicit("Who are you?", Person)
        page = await ctx.elicit_url("Sign in.", "https://example.com/in", "7")
        if isinstance(form, AcceptedElicitation):
            return f"{form.data.name}, {page.action}"
        raise ctx.fail("no_match", data={"action": form.action})

    def answering(answers: list[ElicitResult]) -> Any:
        async def answer(context: Any, params: Any) -> ElicitResult:
            asked.append(params)
            return answers.pop(0)

        client = Client(Server("s", tools=[ask]), mode="legacy", elicitation_callback=answer)
        return answers_of.ask(client, lambda connected: connected.call_tool("ask", {}))

    accepted = answering([ElicitResult(action="accept", content={"name": "Ada"}), ElicitResult(action="accept")])
    assert {"result": "Ada, accept"} == accepted.structured_content
    form, page = asked
    assert isinstance(form, ElicitRequestFormParams)
    assert ("Who are you?", ["name"]) == (form.message, list(form.requested_schema["properties"]))
    assert ("https://example.com/in", "7") == (page.url, page.elicitation_id)
    declined = answering([ElicitResult(action="decline"), ElicitResult(action="cancel")])
    assert DeclinedElicitation().action == declined.structured_content["error"]["data"]["action"]


@pytest.mark.no_server
@pytest.mark.parametrize("unreadable", [math.hypot, dict])
def test_a_function_without_a_signature_is_refused_as_the_sdk_refuses_it(unreadable: Any) -> None:
    """Without `errors` it is an SDK tool, so the SDK's message is kept."""
    with pytest.raises(ValueError, match="no signature found") as ours:
        Server("s").add_tool(unreadable, name="x")
    with pytest.raises(ValueError, match="no signature found") as theirs:
        MCPServer("s").add_tool(unreadable, name="x")
    assert str(theirs.value) == str(ours.value)


@pytest.mark.no_server
def test_an_invalid_annotation_is_refused_with_its_tool() -> None:
    """An annotation that cannot be evaluated is reported when the tool is declared."""

    def odd(x: 1 | None) -> int:  # type: ignore[valid-type]
        return 1

    with pytest.raises(ContractError, match=r"tool 'odd': parameter 'x': .*unsupported operand"):
        Server("s", tools=[tool(odd)])


def test_a_nested_handler_sees_the_names_already_defined_around_it(call: Any) -> None:
    """A model in the enclosing function is found, and a name that is assigned later causes no error."""

    class Local(BaseModel):
        n: int

    @tool
    def nested(value: Local) -> int:
        return value.n + later

    later = 1
    assert {"result": 3} == call(Server("s", tools=[nested]), "nested", {"value": {"n": 2}}).structured_content


def test_endlessly_wrapped_errors_are_still_classified(call: Any) -> None:
    """Nested causes are followed to a realistic depth only."""

    @tool
    def nest(depth: int) -> int:
        raise chain(not_found("deep inside"), *(UnexpectedToolError("Error executing tool x") for _ in range(depth)))

    server = Server("s", tools=[nest])
    names = [
        call(server, "nest", {"depth": depth}).structured_content["error"]["name"] for depth in (0, 1, 20, 21, 500)
    ]
    assert ["NOT_FOUND", "NOT_FOUND", "NOT_FOUND", "INTERNAL_ERROR", "INTERNAL_ERROR"] == names
    assert issubclass(UnexpectedToolError, ToolError)


@pytest.mark.no_server
def test_failures_are_classified_without_loading_the_sdk() -> None:
    """A retrying service works without a server: it finds the intended failure of a group without the SDK."""
    code = (
        "import sys\n"
        "from mcpcore import retrying, timeout\n"
        "@retrying(attempts=2, backoff=0.001)\n"
        "def work():\n"
        "    raise ExceptionGroup('two', [OSError('x'), timeout('slow', {'host': 'a'})])\n"
        "try:\n"
        "    work()\n"
        "except Exception as exc:\n"
        "    print(exc.code.name, exc.data)\n"
        "print([name for name in ('mcp', 'mcp_types') if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert (0, "") == (done.returncode, done.stderr)
    assert "TIMEOUT {'host': 'a', 'attempts': 2}\n[]\n" == done.stdout
