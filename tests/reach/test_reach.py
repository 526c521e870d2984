"""What a model reads of a failed call, through real clients of other makers."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator

import pytest

from tests.reach.drivers import DRIVERS, PARTS, PASSWORD, RECORDED, ROOT, Driver, arriving, ask, interpreter, serving

OURS = ("mcpcore", "mcpcore-fastmcp")
WHOLE = ("declared", "retryable", "arguments", "crash")


@pytest.fixture(scope="module")
def servers() -> Iterator[dict[str, str]]:
    """The addresses of the servers."""
    with serving() as addresses:
        yield addresses


@pytest.mark.slow
@pytest.mark.parametrize("driver", DRIVERS, ids=lambda driver: driver.script)
def test_failures_reach_the_model_whole_and_without_secrets(driver: Driver, servers: dict[str, str]) -> None:
    """Message, reason, recovery, retry advice and effects are in the text, the same as when the page was made."""
    texts = ask(driver, servers)
    for server in OURS:
        for client in driver.clients:
            arrived = {case: arriving(case, text) for case, text in texts[server][client].items()}
            assert {case: list(PARTS[case]) for case in WHOLE} == {case: arrived[case] for case in WHOLE}
            assert "message" in arrived["unknown"]
            assert PASSWORD not in arrived["unknown"]
    recorded = json.loads(RECORDED.read_text(encoding="utf-8"))
    for server, by_client in texts.items():
        for client, by_case in by_client.items():
            shown = {
                case: entry["text"]
                for case, entries in recorded[server].items()
                for entry in entries
                if client in entry["clients"]
            }
            assert shown == by_case, "Run `python -m tests.reach.drivers` and `make docs`, and read what changed."


def test_both_servers_of_mcpcore_say_the_same() -> None:
    """A `Server` and a FastMCP server with the middleware differ in no text."""
    recorded = json.loads(RECORDED.read_text(encoding="utf-8"))
    assert recorded["mcpcore"] == recorded["mcpcore-fastmcp"]


def test_every_client_is_recorded_for_every_case() -> None:
    """No client is missing from the page."""
    expected = {client for driver in DRIVERS for client in driver.clients}
    for cases in json.loads(RECORDED.read_text(encoding="utf-8")).values():
        for entries in cases.values():
            assert sorted(expected) == sorted(client for entry in entries for client in entry["clients"])


@pytest.mark.slow
def test_langchain_mcp_adapters_still_refuse_the_sdk_that_mcpcore_needs() -> None:
    """The day they accept it, they move into the environment of the others, and this page and the extras change."""
    done = subprocess.run(
        [interpreter("adapters"), "-c", "import importlib.metadata as m; print(m.requires('langchain-mcp-adapters'))"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "mcp<2" in done.stdout


def test_a_missing_client_is_an_error_that_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is skipped where an interpreter is not installed."""
    from tests.reach import drivers

    monkeypatch.setattr(drivers, "ROOT", ROOT / "nowhere")
    monkeypatch.setattr(drivers, "HERE", ROOT / "nowhere")
    for runs_on in ("adapters", "node"):
        with pytest.raises(RuntimeError, match="Run `make reach`"):
            interpreter(runs_on)
