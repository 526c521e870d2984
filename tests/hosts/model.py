"""A scripted model on loopback: it calls the next tool in each turn, in the protocol in which the host asks.

How far the script is follows from the request alone, since a request holds all answers to earlier calls.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple


class Call(NamedTuple):
    """A call of a tool, by the name that its server gives it."""

    tool: str
    arguments: dict[str, Any]


class Turn(NamedTuple):
    """What a host asks its model: with which tools, and after which answers."""

    tools: dict[str, dict[str, Any]]
    """The fields that name each tool in a call, by the name that the host gives it."""

    answers: list[str]
    """What the host shows of the answers to the calls so far."""

    def named(self, tool: str) -> dict[str, Any] | None:
        """The fields that name a tool. Hosts put the name of the server before that of the tool."""
        return next((fields for name, fields in self.tools.items() if name.endswith(tool)), None)


class Model:
    """The script, and what the host has shown so far."""

    def __init__(self, calls: Sequence[Call]) -> None:
        self.calls = calls
        self.url = ""
        self.turns: list[Turn] = []

    @property
    def shown(self) -> dict[int, str]:
        """What the host showed of each call, by the position of the call; a tool that it does not offer is left out."""
        last = max(self.turns, key=lambda turn: len(turn.answers))
        offered = [position for position, call in enumerate(self.calls) if last.named(call.tool)]
        return dict(zip(offered, last.answers, strict=True))

    def reply(self, path: str, body: dict[str, Any]) -> str:
        """The events of the response."""
        read, write = next(protocol for end, protocol in PROTOCOLS.items() if path.partition("?")[0].endswith(end))
        turn = read(body)
        if turn.tools:  # a host also asks for a title, without tools
            self.turns.append(turn)
        calls = [(fields, call.arguments) for call in self.calls if (fields := turn.named(call.tool))]
        step = len(turn.answers)
        events = write(step, calls[step] if step < len(calls) else None)
        types = [f"event: {event['type']}\n" if "type" in event else "" for event in events]
        return "".join(f"{kind}data: {json.dumps(event)}\n\n" for kind, event in zip(types, events, strict=True))


Step = tuple[dict[str, Any], dict[str, Any]]
"""The fields that name the tool to call, and the arguments."""


def read_responses(body: dict[str, Any]) -> Turn:
    """A turn of the Responses API. Tools of MCP servers are in a namespace for each server."""
    tools: dict[str, dict[str, Any]] = {}
    for tool in body.get("tools", []):
        for member in tool.get("tools", []):
            tools[f"{tool['name']}_{member['name']}"] = {"namespace": tool["name"], "name": member["name"]}
    outputs = [item["output"] for item in body["input"] if item.get("type") == "function_call_output"]
    texts = [text if isinstance(text, str) else "\n".join(part["text"] for part in text) for text in outputs]
    return Turn(tools, texts)


def write_responses(step: int, call: Step | None) -> list[dict[str, Any]]:
    """The events of the Responses API."""
    if call is None:
        text = {"type": "output_text", "text": "done", "annotations": []}
        item = {"type": "message", "id": "message", "role": "assistant", "status": "completed", "content": [text]}
    else:
        item = {"type": "function_call", "id": f"function_{step}", "call_id": f"call_{step}", "status": "completed"}
        item |= {**call[0], "arguments": json.dumps(call[1])}
    usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
    response = {"id": "response", "object": "response"}
    return [
        {"type": "response.created", "response": {**response, "status": "in_progress", "output": []}},
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {
            "type": "response.completed",
            "response": {**response, "status": "completed", "output": [item], "usage": usage},
        },
    ]


def read_gemini(body: dict[str, Any]) -> Turn:
    """A turn of the Gemini API."""
    declared = [tool for tools in body.get("tools", []) for tool in tools.get("functionDeclarations", [])]
    parts = [part for content in body.get("contents", []) for part in content["parts"]]
    answers = [part["functionResponse"]["response"] for part in parts if "functionResponse" in part]
    texts = [answer.get("error") or answer["output"] for answer in answers]
    return Turn({tool["name"]: {"name": tool["name"]} for tool in declared}, texts)


def write_gemini(step: int, call: Step | None) -> list[dict[str, Any]]:
    """The one event of the Gemini API."""
    part = {"text": "done"} if call is None else {"functionCall": {**call[0], "args": call[1]}}
    candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
    usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
    return [{"candidates": [candidate], "usageMetadata": usage}]


def read_chat(body: dict[str, Any]) -> Turn:
    """A turn of the chat completions API."""
    names = [tool["function"]["name"] for tool in body.get("tools", [])]
    answers = [message["content"] for message in body["messages"] if message["role"] == "tool"]
    return Turn({name: {"name": name} for name in names}, answers)


def write_chat(step: int, call: Step | None) -> list[dict[str, Any]]:
    """The events of the chat completions API."""
    delta: dict[str, Any] = {"role": "assistant", "content": "done"}
    if call is not None:
        function = {**call[0], "arguments": json.dumps(call[1])}
        tool_call = {"index": 0, "id": f"call_{step}", "type": "function", "function": function}
        delta = {"role": "assistant", "tool_calls": [tool_call]}
    choices = [{"delta": delta}, {"delta": {}, "finish_reason": "stop" if call is None else "tool_calls"}]
    chunk = {"id": "chunk", "object": "chat.completion.chunk", "created": 1, "model": "scripted"}
    return [{**chunk, "choices": [{"index": 0, **choice}]} for choice in choices]


PROTOCOLS: dict[str, tuple[Callable[[dict[str, Any]], Turn], Callable[[int, Step | None], list[dict[str, Any]]]]] = {
    "/responses": (read_responses, write_responses),
    "/chat/completions": (read_chat, write_chat),
    ":streamGenerateContent": (read_gemini, write_gemini),
}
"""How to read a request and to write the response, by the end of the path."""


@contextmanager
def scripted(calls: Sequence[Call]) -> Iterator[Model]:
    """Serve a model that makes `calls`."""
    model = Model(calls)

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            """Print nothing."""

        def do_POST(self) -> None:
            """Take a turn."""
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            events = model.reply(self.path, body).encode()
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.end_headers()
            self.wfile.write(events)

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        model.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield model
        finally:
            server.shutdown()
            thread.join()
