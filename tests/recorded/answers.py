"""Some 300 calls on both servers in all dialects, and their answers on the wire: `python -m tests.recorded.answers` records them.

An answer is the message that the server writes, before any client reads it. Ids and times differ in each run.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final, Literal

import anyio
from mcp.shared.exceptions import MCPError
from mcp.shared.memory import create_client_server_memory_streams
from mcp.shared.message import SessionMessage
from mcp_types import CallToolResult, ImageContent, JSONRPCNotification, JSONRPCRequest, TextContent, ToolAnnotations
from pydantic import BaseModel

from mcpcore import (
    CodedError,
    Context,
    CustomCode,
    ErrorCode,
    FailureMode,
    Retry,
    Server,
    not_found,
    prompt,
    resource,
    tool,
)
from mcpcore.services.batch import Batch, BatchResult
from mcpcore.wire.dialects import DIALECTS
from mcpcore.wire.envelope import CANONICAL
from tests.doors import DOORS, behind

RECORDED: Final = Path(__file__).with_name("answers.jsonl")
SECRET: Final = "sk-ant-api03-" + "x" * 24
STALL_SHUT = CustomCode(
    "STALL_SHUT", 4217, http_status=503, category="upstream", retry=Retry.now(), sentence="The stall is shut."
)


class Missing(BaseModel):
    """The data of a failure."""

    ids: list[str]
    tried: int = 1


class Order(BaseModel):
    """A result."""

    id: str
    total: int


NO_ORDER = FailureMode("no_order", ErrorCode.NOT_FOUND, when="There is no such order.", recovery="Search for it first.")
MODES: Final = [
    NO_ORDER,
    FailureMode("missing", ErrorCode.NOT_FOUND, when="Some are missing.", recovery="Look them up.", data=Missing),
    FailureMode(
        "closed",
        ErrorCode.CONFLICT,
        when="The shop is closed.",
        recovery="Use the other shop.",
        fallback_tool="find_order",
        corrective_params={"shop": "b"},
        user_message="The shop is closed.",
    ),
    FailureMode(
        "busy", ErrorCode.SERVICE_UNAVAILABLE, when="It is busy.", recovery="Wait.", retry=Retry.after(seconds=7)
    ),
    FailureMode("half", ErrorCode.TIMEOUT, when="A part was done.", recovery="Look at the order.", effects="partial"),
    FailureMode("lease", STALL_SHUT, when="The lease was lost.", recovery="Take a new lease."),
]


@tool(errors=MODES, read_only=True)
async def order(ctx: Context[Any], ending: str, count: int = 1) -> Order:
    """Get an order, or fail."""
    match ending:
        case "message":
            raise ctx.fail("no_order", "There is no order 7.")
        case "data":
            raise ctx.fail("no_order", "There is no order 7.", data={"orderId": "7", "list": [1, None, 2.5]})
        case "model":
            raise ctx.fail("missing", data=Missing(ids=["a", "b"]))
        case "broken model":
            raise ctx.fail("missing", data={"ids": 7})
        case "long":
            raise ctx.fail("no_order", "long " * 2_000, data={"text": "y" * 20_000, "many": list(range(9_000))})
        case "hostile":
            raise ctx.fail(
                "no_order", "a\x1b[31m\n\n(NOT_FOUND · retry now)\u202e", data={"a\nb": "\x00\ud800", "reason": "other"}
            )
        case "secret":
            raise ctx.fail("no_order", f"The key {SECRET} is refused.", data={"password": "hunter2", "key": SECRET})
        case "throw site":
            raise ctx.fail("no_order", recovery="Ask the shop.", retry=Retry.after(seconds=2.5), effects="none")
        case "undeclared":
            raise CodedError(ErrorCode.FORBIDDEN, "Not yours.", {"owner": "b"}, reason="not_yours")
        case "factory":
            raise not_found("No order 7.", {"id": 7}) from KeyError("7")
        case "group":
            raise ExceptionGroup("two", [ValueError("x"), ctx.fail("closed")])
        case "bound":
            ctx.bind(session_id="S1")
            raise ctx.fail("no_order")
        case "integer":
            raise ctx.fail("no_order", data={"id": 2**70})
        case "success":
            return Order(id="7", total=count)
    if ending in dict.fromkeys(mode.reason for mode in MODES):
        raise ctx.fail(ending)
    raise {
        "key": KeyError("7"), "time": TimeoutError(), "value": ValueError(SECRET), "connection": ConnectionError("db:5432"),
        "exit": SystemExit(3), "protocol": MCPError(-32602, "Bad order.", {"id": 7}), "permission": PermissionError(13, "no"),
    }[ending]  # fmt: skip


@tool(errors=[NO_ORDER])
def send(ctx: Context[Literal["no_order"]], items: list[str]) -> BatchResult[str]:
    """Send items."""
    batch = Batch[str](ctx)
    for item in items:
        with batch.item(item):
            if item == "none":
                raise ctx.fail("no_order")
            if item == "crash":
                raise RuntimeError(SECRET)
            batch.add(item)
    return batch.result()


@tool
async def unstated(ending: str) -> Any:
    """Change something, or return anything."""
    results = {
        "text": "a text", "none": None, "number": 7, "list": ["a", {"b": 1}], "dict": {"a": {"b": [1]}}, "nan": {"a": float("nan")},
        "image": ImageContent(type="image", data="aGk=", mime_type="image/png"), "bytes": b"hi", "exception": {"a": OSError("x")},
        "error": {"error": "a word"}, "surrogate": "\ud800", "huge": 10**4300,
        "result": CallToolResult(content=[TextContent(type="text", text="t")], structured_content={"a": 1}),
        "failed": CallToolResult(content=[TextContent(type="text", text="It broke.")], is_error=True),
        "upstream": CallToolResult(content=[], structured_content={"ok": False, "error": {"code": "ERR_TIMEOUT", "message": "m"}}),
    }  # fmt: skip
    if ending in results:
        return results[ending]
    raise {"time": TimeoutError(), "rate": CodedError(ErrorCode.RATE_LIMITED), "crash": RuntimeError("x")}[ending]


@resource("orders://{number}", errors=[NO_ORDER])
async def order_resource(ctx: Context[Literal["no_order"]], number: str) -> str:
    """Read an order."""
    if number == "0":
        raise ctx.fail("no_order", data={"number": number})
    if number == "1":
        raise RuntimeError(SECRET)
    return f"order {number}"


@prompt(errors=[NO_ORDER])
async def about(ctx: Context[Literal["no_order"]], number: str) -> str:
    """Ask about an order."""
    if number == "0":
        raise ctx.fail("no_order")
    return f"What of order {number}?"


def plain(ending: str) -> str:
    """Do something without a contract."""
    if ending == "fails":
        raise ValueError(SECRET)
    return "done"


def made(door: str, dialect: str, **options: Any) -> Any:
    """A server with everything."""
    server = Server("shop", tools=[order, send, unstated], dialect=dialect, bind={"role": "clerk"}, **options)
    server.add_tool(plain, annotations=ToolAnnotations(idempotent_hint=True))
    server.add_resource(order_resource)
    server.add_prompt(about)
    return behind(door, server)


ORDERS: Final = [
    "message", "data", "model", "broken model", "long", "hostile", "secret", "throw site", "undeclared", "factory", "group",
    "bound", "integer", "success", "no_order", "closed", "busy", "half", "lease", "key", "time", "value", "connection",
    "exit", "protocol", "permission",
]  # fmt: skip
RESULTS: Final = [
    "text", "none", "number", "list", "dict", "nan", "image", "bytes", "exception", "error", "surrogate", "huge", "result",
    "failed", "upstream", "time", "rate", "crash",
]  # fmt: skip
ARGUMENTS: Final[list[dict[str, Any]]] = [
    {}, {"ending": 7}, {"ending": "success", "count": "many"}, {"ending": "success", "cuont": 1}, {"ending": [SECRET]},
]  # fmt: skip


def calls(dialect: str) -> list[tuple[str, dict[str, Any]]]:
    """Each call as a method and its parameters; the dialects of others have only failures of each kind."""
    if dialect != CANONICAL:
        endings = ["message", "model", "closed", "busy", "half", "lease", "hostile", "undeclared", "key", "time"]
        tools = [("order", {"ending": ending}) for ending in endings]
        tools += [
            ("order", {}),
            ("send", {"items": ["none", "crash"]}),
            ("unstated", {"ending": "upstream"}),
            ("ordre", {}),
        ]
        named = [("tools/call", {"name": name, "arguments": arguments}) for name, arguments in tools]
        return [
            *named,
            ("resources/read", {"uri": "orders://0"}),
            ("prompts/get", {"name": "about", "arguments": {"number": "0"}}),
        ]
    tools = [("order", {"ending": ending}) for ending in ORDERS]
    tools += [("order", arguments) for arguments in ARGUMENTS]
    tools += [("unstated", {"ending": ending}) for ending in RESULTS]
    tools += [
        ("send", {"items": items}) for items in (["a", "b"], ["a", "none"], ["none", "crash"], ["none", "none"], [])
    ]
    tools += [("plain", {"ending": "works"}), ("plain", {"ending": "fails"}), ("plain", {}), ("ordre", {})]
    named = [("tools/call", {"name": name, "arguments": arguments}) for name, arguments in tools]
    named += [("resources/read", {"uri": f"orders://{number}"}) for number in range(3)]
    named += [("prompts/get", {"name": "about", "arguments": {"number": number}}) for number in ("0", "2")]
    return [*named, ("prompts/get", {"name": "about"}), ("tools/list", {}), ("resources/read", {"uri": "none://x"})]


@asynccontextmanager
async def connected(server: Any) -> AsyncIterator[Any]:
    """A function that sends a request to `server` and returns the message with which it answers."""
    lowlevel = getattr(server, "_lowlevel_server", None) or server._mcp_server
    async with create_client_server_memory_streams() as ((read, write), streams), anyio.create_task_group() as group:
        group.start_soon(lowlevel.run, *streams, lowlevel.create_initialization_options())
        number = 0

        async def ask(method: str, params: dict[str, Any]) -> dict[str, Any]:
            nonlocal number
            number += 1
            request = JSONRPCRequest(jsonrpc="2.0", id=number, method=method, params=params)
            await write.send(SessionMessage(request))
            while True:
                message = (await read.receive()).message
                if getattr(message, "id", None) == number:
                    return message.model_dump(mode="json", by_alias=True, exclude_none=True)

        client = {"name": "c", "version": "1"}
        await ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client})
        await write.send(SessionMessage(JSONRPCNotification(jsonrpc="2.0", method="notifications/initialized")))
        yield ask
        group.cancel_scope.cancel()


_CHANGING: Final = [
    (re.compile(r"\b[0-9a-f]{16}\b"), "<id>"),
    (re.compile(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|\+00:00)"), "<time>"),
]


def settled_text(answer: dict[str, Any]) -> str:
    """An answer as one line of JSON, without what differs in each run."""
    answer.pop("id", None)
    text = json.dumps(answer, ensure_ascii=True)
    for pattern, word in _CHANGING:
        text = pattern.sub(word, text)
    return text


async def answers(door: str, dialect: str) -> dict[str, str]:
    """The answers to all calls, by the call."""
    said: dict[str, str] = {}
    async with connected(made(door, dialect)) as ask:
        for method, params in calls(dialect):
            key = " ".join([door, dialect, method, json.dumps(params)])
            said[key] = settled_text(await ask(method, params))
    return said


def recorded() -> dict[str, str]:
    """The answers in the file."""
    lines = (json.loads(line) for line in RECORDED.read_text("utf-8").splitlines())
    return {call: json.dumps(answer, ensure_ascii=True) for call, answer in lines}


def main() -> None:
    """Record the answers."""
    every = {}
    for door in DOORS:
        for dialect in DIALECTS:
            every |= anyio.run(answers, door, dialect)
    lines = [f"[{json.dumps(call)}, {answer}]\n" for call, answer in every.items()]
    RECORDED.write_text("".join(lines), "utf-8")


if __name__ == "__main__":
    main()
