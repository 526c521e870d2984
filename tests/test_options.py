"""The reference of the options names each option with its description, and says what `describe_failures` costs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client import Client
from pages import options as page

from examples.workspace.server import make_server
from mcpcore import FailureMode, Limits, Server
from mcpcore.integrations.fastmcp import ContractMiddleware

ROOT = Path(__file__).parents[1]


def test_the_docstring_describes_exactly_the_options() -> None:
    """`docs/generate.py` writes the page from the docstring."""
    assert [] == page.problems()


def test_an_option_without_a_description_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A description without an option is found, too; both stop `docs/generate.py`."""

    def made(*, named: int = 1, forgotten: bool = False) -> None:
        """Make.

        Args:
            named: A number
                of things.
            gone: An option of an earlier version.
        """

    group = page.Group(title="made(...)", signature=made, described_by=made)
    monkeypatch.setattr(page, "GROUPS", (group,))
    assert [
        "made(...): forgotten has no description in the docstring",
        "made(...): gone is described, but is not an option",
    ] == page.problems()
    assert "A number of things." == group.descriptions["named"]


@pytest.mark.parametrize(
    ("call", "names"),
    [
        ("Server(...)", Server.__init__),
        ("FailureMode(...)", FailureMode.__new__),
        ("ContractMiddleware(...)", ContractMiddleware.__init__),
        ("Limits(...)", Limits),
    ],
)
def test_the_page_names_every_option(call: str, names: Any) -> None:
    """This includes new options, because the page is generated from the signatures."""
    text = (ROOT / "docs" / "reference" / "options.md").read_text(encoding="utf-8")
    section = text.partition(f"## `{call}`\n")[2].partition("\n## ")[0]
    code = names.__code__ if hasattr(names, "__code__") else names.__init__.__code__
    arguments = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    assert all(f"\n| `{name}` | " in section for name in arguments if name not in ("self", "cls"))


def test_the_documented_cost_of_describe_failures_is_correct(tmp_path: Path) -> None:
    """It is the number of characters that the option adds to each description in `tools/list`."""

    async def described(server: Server) -> dict[str, int]:
        async with Client(server) as client:
            return {tool.name: len(tool.description or "") for tool in (await client.list_tools()).tools}

    plain = make_server(str(tmp_path))
    describing = Server("workspace", tools=plain._tool_manager.list_tools(), describe_failures=True)
    before, after = anyio.run(described, plain), anyio.run(described, describing)
    figures = {row[0]: row[1:] for row in anyio.run(page.sections)}
    for name, length in before.items():
        assert [length, after[name] - length] == figures[f"`{name}` (workspace)"][1:]
    text = (ROOT / "docs" / "reference" / "options.md").read_text(encoding="utf-8")
    assert all(f"| {name} | {' | '.join(map(str, row))} |" in text for name, row in figures.items())
