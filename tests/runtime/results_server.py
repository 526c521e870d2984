"""A server whose handlers return values that JSON cannot represent, for tests that start it over stdio."""

from __future__ import annotations

import math
import sys
from typing import Any

from mcp_types import CallToolResult, ImageContent, TextContent
from pydantic import BaseModel
from typing_extensions import TypedDict

from mcpcore import Context, Server, tool
from tests.doors import behind

HALF = "a file \udcff"
"""A name as `os.listdir` gives one whose bytes are no UTF-8."""


class Measured(BaseModel):
    value: float = 0.0
    maybe: float | None = None
    free: Any = None


class Counted(TypedDict):
    counts: list[float]


def nested(depth: int) -> dict[str, Any]:
    whole: dict[str, Any] = {}
    for _ in range(depth):
        whole = {"a": whole}
    return whole


RETURNED: dict[str, Any] = {
    "half": HALF,
    "halves": [HALF],
    "half deep": {"k": [{"x": HALF}]},
    "half key": {HALF: 1},
    "half in the texts": CallToolResult(content=[TextContent(type="text", text=HALF)], structured_content={"a": 1}),
    "half in an image": [ImageContent(type="image", data="AAAA", mime_type=HALF)],
    "half in the result": CallToolResult(content=[], structured_content={"a": HALF}),
    "half in the meta": CallToolResult(content=[], structured_content={"a": 1}, _meta={"k": HALF}),
    "half in a failure": CallToolResult(content=[TextContent(type="text", text=HALF)], is_error=True),
    "object": CallToolResult(content=[], structured_content={"a": object()}),
    "deep": nested(3_000),
    "too deep for readers": nested(195),
    "wide": {"rows": [{"n": [number]} for number in range(300)]},
    "as deep as may be": nested(180),
    "nan": {"k": math.nan, "l": [1.5, math.inf]},
    "a nan of its own": CallToolResult(
        content=[TextContent(type="text", text='{"k": NaN}')], structured_content={"k": [-math.inf]}
    ),
    "numbers and words": [1.5, math.nan, "NaN and words", {"k": -math.inf}],
    "words": {"k": "NaN", "l": ["Infinity"]},
}
TYPED: dict[str, Measured] = {
    "value": Measured(value=math.nan),
    "maybe": Measured(maybe=math.inf),
    "free": Measured(free={"k": (math.nan,)}),
}


def untyped(kind: str):  # type: ignore[no-untyped-def]
    """Whatever it is."""
    return RETURNED[kind]


def mapping(kind: str) -> dict[str, Any]:
    """A mapping."""
    return RETURNED[kind]  # type: ignore[no-any-return]


def text(kind: str) -> str:
    """A text."""
    return RETURNED.get(kind, kind)  # type: ignore[no-any-return]


def model(kind: str) -> Measured:
    """A model."""
    return TYPED[kind]


def counts(kind: str) -> Counted:
    """Numbers."""
    return {"counts": [0.5, math.nan, -math.inf]}


def numbers(kind: str) -> list[float]:
    """Numbers alone."""
    return [0.5, math.nan] if kind == "nan" else [0.5]


HANDLERS = (untyped, mapping, text, model, counts, numbers)


@tool
async def tells(ctx: Context) -> str:
    """Log and report progress with values that JSON cannot represent, then succeed."""
    await ctx.report_progress(0.5, 1.0, HALF)
    await ctx.info({"name": HALF, "n": math.nan})
    return "told"


server = Server("results", tools=[*(tool(handler) for handler in HANDLERS), tells])
for handler in HANDLERS:
    server.add_tool(handler, name=f"sdk_{handler.__name__}")


@server.resource("file:///half")
def half() -> str:
    """A resource."""
    return HALF


@server.prompt()
def ask() -> str:
    """A prompt."""
    return HALF


if __name__ == "__main__":
    behind(sys.argv[1], server).run()
    sys.exit(0)
