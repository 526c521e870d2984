"""Imports that a migration leaves without a use go, and no others."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.migrate.migrating import run

SERVER = """import os
import sys, traceback
from fastmcp import FastMCP
from fastmcp.exceptions import ToolError
from typing import Any, Optional

mcp = FastMCP("x")


@mcp.tool
def f(x: str) -> str:
    '''Raises ToolError.'''
    try:
        return x[1]
    except Exception as e:
        traceback.print_exc(file=sys.stderr)
        raise ToolError(f"Failed: {e}")
"""


def test_imports_without_a_use_go(tmp_path: Path) -> None:
    """Imports that had no use before the run stay: the migration did not cause them."""
    _, files = run(tmp_path, {"server.py": SERVER})
    head = files["server.py"].partition("mcp = ")[0]
    assert head == (
        "import os\nfrom fastmcp import FastMCP\nfrom typing import Any, Optional\n\n"
        "from mcpcore.integrations.fastmcp import ContractMiddleware\n\n"
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("mcp = FastMCP", '__all__ = ["mcp", "ToolError"]\nmcp = FastMCP'),
        ("import ToolError", "import ToolError  # for the tests\nimport os.path"),
        ("import ToolError", "import (\n    ToolError,  # for the tests\n)"),
        ("from fastmcp.exceptions", "import os; from fastmcp.exceptions"),
    ],
    ids=["a name in __all__", "a comment behind it", "a comment within it", "two statements on a line"],
)
def test_imports_that_somebody_may_mean_stay(old: str, new: str, tmp_path: Path) -> None:
    """A name in a string, a comment within the import, and another statement on its line keep it."""
    _, files = run(tmp_path, {"server.py": SERVER.replace(old, new, 1)})
    assert "ToolError" in files["server.py"].partition("mcp = ")[0]


def test_names_that_other_files_import_stay(tmp_path: Path) -> None:
    """Another file may import the name from this one, or replace it in a test."""
    other = "from server import ToolError, mcp\n"
    _, files = run(tmp_path, {"server.py": SERVER, "other.py": other})
    assert "import ToolError\n" in files["server.py"]
    assert "traceback" not in files["server.py"]


def test_one_of_several_names_goes(tmp_path: Path) -> None:
    """The others stay in their order."""
    source = SERVER.replace("import ToolError", "import FastMCPError, ToolError, ResourceError")
    _, files = run(tmp_path, {"server.py": f"{source}\n\nERRORS = (FastMCPError, ResourceError)\n"})
    assert "from fastmcp.exceptions import FastMCPError, ResourceError\n" in files["server.py"]
