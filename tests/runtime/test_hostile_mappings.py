"""A mapping whose methods raise neither ends the server nor hides the code and the reason of a failure."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp_types import CallToolResult
from pydantic import BaseModel

from mcpcore import CodedError, Context, ErrorCode, FailureMode, Server, not_found, tool
from mcpcore.audit import AuditTrail
from mcpcore.contract.errors import fact
from mcpcore.contract.recovery import recovery_of
from mcpcore.services.batch import Batch, BatchResult
from tests.answers import ask

pytestmark = pytest.mark.usefixtures("door")

RAISED = [SystemExit, GeneratorExit, asyncio.CancelledError, RecursionError, MemoryError]
METHODS = ["get", "items", "keys", "__iter__", "__len__", "__getitem__", "__contains__", "__bool__", "__class__", "all"]


def hostile(method: str, kind: type[BaseException]) -> Any:
    """Create a mapping that raises `kind` in `method`, or in all methods."""

    def raises(*_: object) -> Any:
        raise kind

    methods: dict[str, Any] = {
        "__getitem__": lambda self, key: {"reason": "gone", "id": 7}[key],
        "__iter__": lambda self: iter(["reason", "id"]),
        "__len__": lambda self: 2,
    }
    for name in METHODS[:-1] if method == "all" else [method]:
        methods[name] = property(raises) if name == "__class__" else raises
    # ABCMeta would ask an instance for its class to find out that the abstract methods exist.
    return type("Hostile", (Mapping,), methods)()


def _answers(trail: Path, *fails: Callable[[], BaseException]) -> list[list[Any]]:
    """Return the answers to a failing call and to the call after it, for each way of failing."""

    @tool(errors=[FailureMode("gone", ErrorCode.NOT_FOUND, when="It is gone.", recovery="Look for another one.")])
    def look(ctx: Context, way: int) -> str:
        raise fails[way]()  # noqa: RSE102 - a function that makes the failure

    @tool
    def greet() -> str:
        return "hello"

    async def run() -> list[Any]:
        async with Client(Server("s", tools=[look, greet], audit=AuditTrail.open(trail))) as client:
            return [
                [await client.call_tool("look", {"way": way}), await client.call_tool("greet", {})]
                for way in range(len(fails))
            ]

    return anyio.run(run)


@pytest.mark.server_only("the boundary reads the mapping before a framework gets the failure")
@pytest.mark.parametrize("kind", RAISED)
@pytest.mark.parametrize("method", METHODS)
def test_a_failure_with_a_hostile_mapping_keeps_its_code_and_reason(
    method: str, kind: type[BaseException], trail: Path
) -> None:
    """This holds for hostile data, a hostile recovery and hostile values in either."""
    fails = (
        lambda: CodedError(ErrorCode.NOT_FOUND, "It left.", hostile(method, kind), reason="gone"),
        lambda: CodedError(ErrorCode.NOT_FOUND, "It left.", {"a": hostile(method, kind)}, reason="gone"),
        lambda: CodedError(ErrorCode.NOT_FOUND, "It left.", reason="gone", recovery=hostile(method, kind)),
        lambda: CodedError(
            ErrorCode.NOT_FOUND,
            "It left.",
            reason="gone",
            recovery={"hint": "Wait.", "correctiveParams": hostile(method, kind)},
        ),
        lambda: CodedError(ErrorCode.NOT_FOUND, "It left.", {"recovery": hostile(method, kind)}, reason="gone"),
    )
    for failed, greeted in _answers(trail, *fails):
        error = failed.structured_content["error"]
        assert (error["name"], error["message"], error["data"]["reason"]) == ("NOT_FOUND", "It left.", "gone")
        assert not greeted.is_error
        assert f'"correlationId":"{error["correlationId"]}"' in trail.read_text()


def test_hostile_data_is_replaced_by_its_type_name(tmp_path: Path) -> None:
    """The rest of the data is sent."""
    data = {"a": hostile("all", SystemExit), "b": 1}
    ((failed, _),) = _answers(tmp_path / "t.jsonl", lambda: not_found("It left.", data))
    assert failed.structured_content["error"]["data"] == {"a": "<Hostile>", "b": 1, "retryable": False}


def test_unreadable_declared_data_violates_its_model(tmp_path: Path) -> None:
    """The failure is sent, and the record reports the violation."""

    class Facts(BaseModel):
        id: int

    entry = FailureMode("gone", ErrorCode.NOT_FOUND, when="It is gone.", recovery="Look for another.", data=Facts)

    @tool(errors=[entry])
    def look() -> str:
        raise CodedError(ErrorCode.NOT_FOUND, "It left.", hostile("items", SystemExit), reason="gone")

    server = Server("s", tools=[look], audit=tmp_path / "t.jsonl")
    answer = ask(Client(server), lambda client: client.call_tool("look", {}))
    assert answer.structured_content["error"]["data"]["reason"] == "gone"
    assert "the data of 'gone' breaks its model: id: Field required" in (tmp_path / "t.jsonl").read_text()


def test_a_batch_reports_an_item_with_hostile_data(call: Callable[..., Any]) -> None:
    """This holds for a hostile item and for the data of its failure."""

    @tool
    def look(ctx: Context) -> BatchResult[str]:
        batch = Batch[str](ctx)
        for item in (hostile("all", SystemExit), 2):
            with batch.item(item):
                if item != 2:
                    raise not_found("It left.", hostile("all", SystemExit))
                batch.add("found")
        return batch.result()

    failed = call(Server("s", tools=[look]), "look").structured_content["failed"]
    assert [item["item"] for item in failed] == ["<Hostile>"]
    assert failed[0]["error"]["name"] == "NOT_FOUND"


@pytest.mark.anyio
async def test_a_result_with_a_hostile_mapping_does_not_end_the_server() -> None:
    """This holds for successes and for failure results that a handler builds itself."""

    @tool
    def look(*, failed: bool) -> CallToolResult:
        content: Any = {"error": {"code": -32001, "message": "m", "data": hostile("all", SystemExit)}, "ok": False}
        return CallToolResult.model_construct(content=[], structured_content=content, is_error=failed)

    @tool
    def greet() -> str:
        return "hello"

    async with Client(Server("s", tools=[look, greet])) as client:
        results = [await client.call_tool("look", {"failed": failed}) for failed in (True, False)]
        *failed, greeted = [*results, await client.call_tool("greet", {})]
    assert all(result.is_error for result in failed)
    assert not greeted.is_error


def test_a_sink_that_exits_does_not_prevent_the_answer(call: Callable[..., Any]) -> None:
    """The same holds for a filter of a logger."""

    class Exiting:
        def failure(self, record: Any, line: str) -> None:
            raise SystemExit

    @tool
    def look() -> str:
        raise not_found("It left.")

    server = Server("s", tools=[look], audit=AuditTrail(sinks=[Exiting()]))
    assert call(server, "look").structured_content["error"]["name"] == "NOT_FOUND"


@pytest.mark.no_server
@pytest.mark.parametrize(
    "ask",
    [
        lambda mapping: fact(mapping, "reason"),
        recovery_of,
        lambda mapping: CodedError(ErrorCode.NOT_FOUND, data=mapping),
        lambda mapping: CodedError(ErrorCode.NOT_FOUND, recovery=mapping),
    ],
)
def test_a_keyboard_interrupt_propagates(ask: Callable[[Any], Any]) -> None:
    """Ctrl+C while a mapping is read must end the process."""
    with pytest.raises(KeyboardInterrupt):
        ask(hostile("all", KeyboardInterrupt))


def test_a_keyboard_interrupt_propagates_while_a_failure_is_reported() -> None:
    """It is raised from the code that runs the server."""

    @tool
    def look() -> str:
        raise not_found("It left.", {"a": hostile("items", KeyboardInterrupt)})

    async def run() -> None:
        async with Client(Server("s", tools=[look])) as client:
            with contextlib.suppress(Exception):
                await client.call_tool("look", {})

    with pytest.raises((KeyboardInterrupt, BaseExceptionGroup)):
        anyio.run(run)
