"""The example of `mcpcore migrate`: the servers before and after it, and the page that quotes them."""

from __future__ import annotations

import re
import runpy
import shutil
from pathlib import Path
from typing import Any

import fastmcp
import pytest
from click.testing import CliRunner
from mcp import Client

from mcpcore.cli.root import cli

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "migrate"
PAGE = ROOT / "docs" / "how-to" / "migrate.md"


def test_the_command_makes_the_second_servers_of_the_first(tmp_path: Path) -> None:
    """`mcpcore migrate --write` gives the files of the folder `after`, and leaves nothing."""
    folder = tmp_path / "moved"
    shutil.copytree(EXAMPLE / "before", folder, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / ".git").mkdir()
    result = CliRunner().invoke(cli, ["migrate", str(folder), "--write"])
    assert 0 == result.exit_code, result.output
    names = sorted(path.name for path in folder.glob("*.py"))
    assert ["notes.py", "shop.py"] == names == sorted(path.name for path in (EXAMPLE / "after").glob("*.py"))
    for name in names:
        assert (EXAMPLE / "after" / name).read_text() == (folder / name).read_text()


@pytest.mark.parametrize("name", ["before", "after"])
def test_the_page_quotes_the_shop(name: str) -> None:
    """The blocks under "Before:" and "After:" are parts of the example, word for word."""
    block = re.search(rf"^{name.title()}:\n\n```text\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert block is not None
    assert block[1] in (EXAMPLE / name / "shop.py").read_text()


def server(name: str) -> Any:
    """The server in a file of the example."""
    return runpy.run_path(str(EXAMPLE / f"{name}.py"))["mcp"]


@pytest.mark.anyio
async def test_the_failures_are_failures_afterwards() -> None:
    """Before, an order that is missing is a success; afterwards, it is a failure with a reason, as the README says."""
    async with Client(server("before/shop")) as client:
        assert not (await client.call_tool("get_order", {"order_id": "A-9"})).is_error
    calls = {"A-9": ("order_not_found", "NOT_FOUND"), "": ("order_id_is_missing", "VALIDATION_ERROR")}
    async with Client(server("after/shop")) as client:
        for order_id, (reason, code) in calls.items():
            failed = await client.call_tool("get_order", {"order_id": order_id})
            assert failed.is_error
            assert failed.structured_content is not None
            error = failed.structured_content["error"]
            assert (reason, code) == (error["data"]["reason"], error["name"])
        counted = await client.call_tool("count_items", {"order_id": "A-9"})
        assert counted.structured_content is not None
        assert "There is no order A-9" == counted.structured_content["error"]["message"]
        assert "there_is_no_order" == counted.structured_content["error"]["data"]["reason"]
    async with fastmcp.Client(server("after/notes")) as notes:
        missing = await notes.call_tool("read_note", {"name": "milk"}, raise_on_error=False)
        assert missing.is_error
        assert missing.structured_content is not None
        assert "there_is_no_note" == missing.structured_content["error"]["data"]["reason"]
        assert "There is no note milk" == missing.structured_content["error"]["message"]
