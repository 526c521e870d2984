"""The vectors of `docs/reference/vectors`: what is read of a result, and which step a client may take next by itself."""

from __future__ import annotations

import json
import math
import time
from pathlib import Path
from typing import Any

import pytest

from mcpcore import Envelope
from mcpcore.client import CallPolicy, Progress, decide, failure_of
from mcpcore.client.failures import listed_tool

FOLDER = Path(__file__).parents[2] / "docs" / "reference" / "vectors"
TOOLS = {tool["name"]: listed_tool(tool) for tool in json.loads((FOLDER / "tools.json").read_text("utf-8"))}
VECTORS = {
    f"{path.stem}: {vector['name']}": vector
    for path in sorted(FOLDER.glob("*.json"))
    if path.name != "tools.json"
    for vector in json.loads(path.read_text("utf-8"))
}
POLICY = CallPolicy(max_attempts=3, max_wait=math.inf, max_elapsed=math.inf, fallbacks=True)


def facts(envelope: Envelope) -> dict[str, Any]:
    """Return what a vector says of a failure."""
    return {
        "code": envelope.name,
        "message": envelope.message,
        "reason": envelope.reason,
        "hint": envelope.hint,
        "fallbackTool": envelope.fallback_tool,
        "retry": envelope.retry.to_json(),
        "effects": envelope.effects,
        "correlationId": envelope.correlation_id or None,
        "data": envelope.details or None,
    }


def step(result: Any, tool: str) -> Any:
    """Return the step that a client takes by itself after `result` of `tool`."""
    failure = failure_of(result, tool, {}, listed=TOOLS[tool])
    assert failure is not None
    decision = decide(failure, POLICY, Progress(tools=TOOLS))  # type: ignore[arg-type]
    if decision.kind in ("retry", "wait"):
        return {"repeat": round(decision.wait * 1000)}
    return {"call": decision.tool} if decision.kind == "fall_back" else {"give_up": "stop"}[decision.kind]


@pytest.mark.parametrize("vector", VECTORS.values(), ids=VECTORS.keys())
def test_a_vector(vector: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """The failure has the facts of the vector, and no automatic step is taken that the vector does not have."""
    if "now" in vector:
        monkeypatch.setattr(time, "time", lambda: vector["now"] / 1000)
    envelope = Envelope.from_result(vector["result"])
    assert (envelope is None) == (vector["failure"] is None)
    if envelope is not None:
        assert vector["failure"] == {name: facts(envelope)[name] for name in vector["failure"]}
    for tool, expected in vector.get("next", {}).items():
        assert expected == step(vector["result"], tool), tool
