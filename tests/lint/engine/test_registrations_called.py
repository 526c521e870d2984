"""Tools in files that never import a framework: the call that passes the server registers them."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Final

import pytest
from mcpcore_lint.runner.engine import lint_paths
from mcpcore_lint.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

SERVER: Final = "from {package} import FastMCP\nmcp = FastMCP('x')\n{rest}\n"
SDK: Final = "mcp.server.fastmcp"
CALLED: Final[dict[str, tuple[str, str, dict[str, str]]]] = {
    "a decorator": (
        SDK,
        "import plain\nplain.register(mcp)",
        {"plain": "def register(server):\n    @server.tool()\n    def find(q: str): ...\n"},
    ),
    "a function of any name": (
        SDK,
        "import plain\nplain.setup(mcp)",
        {"plain": "def setup(server):\n    @server.tool()\n    def find(q: str): ...\n"},
    ),
    "a decorator of FastMCP, on a parameter of any name": (
        "fastmcp",
        "from plain import register\nregister(host=mcp)",
        {"plain": "def register(*, host):\n    @host.tool\n    def find(q: str): ...\n"},
    ),
    "a call with the function": (
        SDK,
        "import plain\nplain.register(mcp)",
        {"plain": "def find(q: str): ...\ndef register(app):\n    app.tool()(find)\n"},
    ),
    "add_tool": (
        SDK,
        "import plain\nplain.register(mcp)",
        {"plain": "def find(q: str): ...\ndef register(server) -> None:\n    server.add_tool(find)\n"},
    ),
    "a method": (
        SDK,
        "import plain\nplain.Tools().register(mcp)",
        {"plain": "class Tools:\n    def register(self, s):\n        @s.tool()\n        def find(q: str): ...\n"},
    ),
    "through a function that names no framework either": (
        SDK,
        "import parts\nparts.register_all(mcp)",
        {
            "parts/__init__": "from . import plain\ndef register_all(server):\n    plain.register(server)\n",
            "parts/plain": "def register(srv):\n    @srv.tool()\n    def find(q: str): ...\n",
        },
    ),
    "a resource": (
        SDK,
        "import plain\nplain.register(mcp)",
        {"plain": "def register(server):\n    @server.resource('a://{q}')\n    def find(q: str): ...\n"},
    ),
}
NOT_CALLED: Final[dict[str, tuple[str, dict[str, str]]]] = {
    "another object with such a method": (
        "import plain\nfrom pydantic_ai import Agent\nplain.register(Agent('x'))",
        {"plain": "def register(server):\n    @server.tool\n    def find(q: str): ...\n"},
    ),
    "a name that only sounds like a server": (
        "import plain\nfrom elsewhere import server\nplain.register(server)",
        {"plain": "def register(server):\n    @server.tool\n    def find(q: str): ...\n"},
    ),
    "a function that nothing calls": (
        "import plain",
        {"plain": "def register(server):\n    @server.tool\n    def find(q: str): ...\n"},
    ),
    "a function that only calls itself": (
        "import plain",
        {"plain": "def register(server):\n    register(server)\n    @server.tool\n    def find(q: str): ...\n"},
    ),
    "a decorator of another framework": (
        "import plain",
        {"plain": "from langchain_core.tools import tool\n@tool\ndef find(q: str): ...\n"},
    ),
}


def _write(folder: Path, package: str, rest: str, files: dict[str, str]) -> None:
    for name, text in {"server": SERVER.format(package=package, rest=rest), **files}.items():
        path = folder / f"{name}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(textwrap.dedent(text))


@pytest.mark.parametrize("case", CALLED)
@pytest.mark.parametrize("limit", [0, 500], ids=["large", "small"])
def test_calls_show_that_a_parameter_is_a_server(tmp_path: Path, case: str, limit: int) -> None:
    """This holds in a tree of any size, and for a file linted by itself if the caller imports it."""
    package, rest, files = CALLED[case]
    _write(tmp_path, package, rest, files)
    settings = Settings(syntax_limit=limit)
    report = lint_paths([tmp_path], settings=settings, root=str(tmp_path))
    flavour = "fastmcp" if package == "fastmcp" else "sdk"
    assert [("find", flavour)] == [(tool.name, tool.flavour) for tool in report.tools]
    if "plain" in files:
        alone = lint_paths([tmp_path / "plain.py"], settings=settings, root=str(tmp_path))
        assert ["find"] == [tool.name for tool in alone.tools]


@pytest.mark.parametrize("case", NOT_CALLED)
def test_other_objects_are_not_servers(tmp_path: Path, case: str) -> None:
    """Agents, command lines and queues have methods and decorators of the same names."""
    rest, files = NOT_CALLED[case]
    _write(tmp_path, SDK, rest, files)
    assert () == lint_paths([tmp_path], settings=Settings(), root=str(tmp_path)).tools


def test_a_new_caller_invalidates_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A call added in another file defines tools in a file that did not change."""
    monkeypatch.setenv("MCPCORE_CACHE_DIR", str(tmp_path / "cache"))
    folder = tmp_path / "project"
    folder.mkdir()

    def names() -> list[str | None]:
        report = lint_paths([folder], settings=Settings(), root=str(folder), cache=True)
        return [tool.name for tool in report.tools]

    _write(folder, SDK, "", {"plain": "def register(server):\n    @server.tool()\n    def find(q: str): ...\n"})
    assert [] == names()
    (folder / "more.py").write_text("import plain\nfrom server import mcp\nplain.register(mcp)\n")
    assert ["find"] == names()
    (folder / "more.py").write_text("")
    assert [] == names()
    _write(folder, SDK, "import plain\nplain.register(mcp)", {})
    assert ["find"] == names()
