"""Names of unknown tools, prompts and resources come from the caller, so answers, records and logs cut them."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from mcpcore import Server, not_found
from tests.answers import outcome_of

pytestmark = pytest.mark.usefixtures("door")

LONG = "n" * 90_000


def _server(trail: Path, **options: Any) -> Server:
    server = Server("s", audit=trail, **options)

    @server.resource("page://{name}")
    def page(name: str) -> str:
        raise not_found("There is no such page.")

    @server.prompt()
    def ask() -> str:
        return "?"

    return server


def _error(server: Server, ask: Any) -> dict[str, Any]:
    answer = outcome_of(Client(server), ask)
    if isinstance(answer, MCPError):
        return {"message": answer.message, "data": answer.data}
    return {"message": "", "data": answer.structured_content}


ASKS = {
    "tool": lambda client: client.call_tool(LONG, {}),
    "prompt": lambda client: client.get_prompt(LONG, {}),
    "resource": lambda client: client.read_resource(f"none://{LONG}"),
    "template": lambda client: client.read_resource(f"page://{LONG}"),
}


@pytest.mark.parametrize("dialect", ["canonical", "system_error", "taxonomy"])
@pytest.mark.parametrize("what", ASKS)
def test_a_long_name_is_cut_to_200_characters(
    what: str, dialect: str, trail: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """This holds in the message, the envelope, the data, the record and the log."""
    caplog.set_level(logging.DEBUG, "mcpcore")
    error = _error(_server(trail, dialect=dialect), ASKS[what])
    everything = [str(error), trail.read_text(), *(r.getMessage() for r in caplog.records if "mcpcore" in r.name)]
    assert all("n" * 201 not in text for text in everything)
    assert len(error["message"]) < 260
    if dialect == "canonical":
        envelope = error["data"]["error"]
        assert len(envelope["tool"]) == 200
        assert envelope["tool"].endswith("characters in all)")
        assert what in ("tool", "prompt") or error["data"]["uri"] == envelope["tool"]


@pytest.mark.parametrize("length", [1, 129, 200])
def test_a_name_of_at_most_200_characters_is_kept_whole(length: int, tmp_path: Path) -> None:
    """The reader can see which name was requested."""
    name = "m" * length
    for number, ask in enumerate((lambda c: c.call_tool(name, {}), lambda c: c.get_prompt(name, {}))):
        error = _error(_server(tmp_path / f"{number}.jsonl"), ask)
        assert error["data"]["error"]["tool"] == name
        assert name in error["message"]
