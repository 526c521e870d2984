"""The table of how frameworks handle exceptions, checked against the frameworks; and the framework of each tool."""

from __future__ import annotations

import textwrap

import fastmcp
import pytest
from fastmcp.exceptions import PromptError, ResourceError as FastMCPResourceError, ToolError as FastMCPToolError
from mcp.client import Client
from mcp.server.lowlevel import Server as LowLevelServer
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ToolError
from mcp.shared.exceptions import MCPError
from mcp.types import CallToolResult, TextContent
from mcpcore_lint import lint_paths
from mcpcore_lint.engine.syntax.requirements import Requirements, major_of, nearest
from mcpcore_lint.frameworks import PROTOCOL, TABLE, TEXT, as_markdown
from mcpcore_lint.settings import Settings

SENTENCE = "no such article"
INSTEAD = {
    "sdk-2": {"tool": ToolError, "resource": ResourceError, "prompt": MCPError},
    "fastmcp": {"tool": FastMCPToolError, "resource": FastMCPResourceError, "prompt": PromptError},
    "fastmcp-masked": {"tool": FastMCPToolError, "resource": FastMCPResourceError, "prompt": PromptError},
}


def failing(name, error):
    """A client of a server whose tool, resource and prompt raise an error."""
    masked = name == "fastmcp-masked"
    server = MCPServer("x") if name == "sdk-2" else fastmcp.FastMCP("x", mask_error_details=masked)

    @server.tool()
    def fetch() -> str:
        raise error

    @server.resource("x://fetch")
    def read() -> str:
        raise error

    @server.prompt()
    def ask() -> str:
        raise error

    return Client(server) if name == "sdk-2" else fastmcp.Client(server)


async def shown(client, kind):
    """The text that the client gets for a failure, and whether it is a protocol error."""
    try:
        if kind == "tool":
            options = {} if isinstance(client, Client) else {"raise_on_error": False}
            result = await client.call_tool("fetch", {}, **options)
            assert result.is_error
            return result.content[0].text, False
        await (client.read_resource("x://fetch") if kind == "resource" else client.get_prompt("ask"))
    except Exception as error:
        return str(error), True
    return "", False


@pytest.mark.anyio
@pytest.mark.parametrize("kind", ["tool", "resource", "prompt"])
@pytest.mark.parametrize("name", INSTEAD)
async def test_the_table_matches_the_framework(name, kind):
    """This covers the text of any exception and of the class that the advice names."""
    handling = TABLE[name].handling(kind)
    async with failing(name, ValueError(SENTENCE)) as client:
        text, _ = await shown(client, kind)
    assert (SENTENCE in text) == handling.sends
    if not handling.sends and kind != "prompt":
        assert text.startswith(handling.shows.replace("{name}", "").strip())
    advised = INSTEAD[name][kind]
    assert f"raise {advised.__name__} " in handling.instead
    error = advised(-32602, SENTENCE) if advised is MCPError else advised(SENTENCE)
    async with failing(name, error) as client:
        text, _ = await shown(client, kind)
    assert SENTENCE in text


@pytest.mark.anyio
@pytest.mark.parametrize("name", INSTEAD)
async def test_the_table_is_right_about_protocol_errors(name):
    """In a tool, FastMCP turns a protocol error into a result, and the SDK into a JSON-RPC error."""
    shows = TABLE[name].protocol_error
    async with failing(name, MCPError(-32602, SENTENCE)) as client:
        text, protocol = await shown(client, "tool")
    assert protocol == (shows == PROTOCOL)
    assert (SENTENCE in text) == (shows in {TEXT, PROTOCOL})


@pytest.mark.anyio
async def test_the_low_level_server_needs_a_result():
    """An exception becomes a JSON-RPC error; a result marked as failed keeps its text."""

    async def call(ctx, params):
        if params.name == "raises":
            raise ToolError(SENTENCE)
        return CallToolResult(content=[TextContent(type="text", text=SENTENCE)], is_error=True)

    async with Client(LowLevelServer("x", on_call_tool=call)) as client:
        with pytest.raises(MCPError):
            await client.call_tool("raises", {})
        assert (await client.call_tool("returns", {})).is_error
    assert TABLE["sdk-2-lowlevel"].tool.shows == PROTOCOL
    assert "CallToolResult(is_error=True)" in TABLE["sdk-2-lowlevel"].tool.instead


def test_the_documentation_has_a_row_for_each_framework():
    """The row for an SDK of unknown version is left out."""
    assert as_markdown().count("\n") == len(TABLE)


# -- requirements ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("specifier", "major"),
    [
        (">=1.23.0,<2.0.0", 1),
        ("==1.26.0", 1),
        (" == 1.28.1", 1),
        ("~=1.5", 1),
        ("^1.2", 1),
        ("<2", 1),
        ("<=1.30", 1),
        (">=2.0.0,<3", 2),
        (">=2", 2),
        (">=3.1", 3),
        ("<2.1", None),
        (">=1.23", None),
        ("", None),
        ("*", None),
        ("@ git+https://example.com/mcp@1.2", None),
    ],
)
def test_a_specifier_means_a_major_version(specifier, major):
    """If more than one major version matches, it means none."""
    assert major_of(specifier) == major


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("pyproject.toml", '[project]\ndependencies = ["mcp[cli]>=1.2,<2", "mcpcore"]', Requirements(True, True, 1)),
        ("pyproject.toml", '[project]\ndependencies = ["mcp-client", "fastmcp"]', Requirements(True, fastmcp=True)),
        ("pyproject.toml", '[project]\nname = "mcpcore"', Requirements(True, True, None)),
        (
            "pyproject.toml",
            '[project]\nname = "x"\n[dependency-groups]\ndev = ["mcpcore", "mcp==2.0", {include-group = "x"}]',
            Requirements(True),
        ),
        (
            "pyproject.toml",
            '[tool.poetry.dependencies]\nmcp = {version = "^1.2", extras = ["cli"]}\nmcpcore = "*"',
            Requirements(True, True, 1),
        ),
        ("pyproject.toml", '[project]\nname = "mcp-x\nbroken', Requirements(True, False, None)),
        ("pyproject.toml", '[project]\ndependencies = "mcp"\noptional-dependencies = ["mcp"]', Requirements(True)),
        ("requirements.txt", "# mcpcore\nmcp[cli]==1.9.4 ; python_version > '3'\n", Requirements(True, False, 1)),
        ("requirements.txt", "httpx\nmcpcore>=0.1\n", Requirements(True, True, None)),
        ("setup.py", "setup(install_requires=['httpx', \"mcp>=2,<3\"])", Requirements(True, False, 2)),
    ],
)
def test_the_nearest_requirements_apply(tmp_path, name, text, expected):
    """A dependency group for developers is not a requirement of the project."""
    (tmp_path / name).write_text(text)
    folder = tmp_path / "src"
    folder.mkdir()
    (folder / "pyproject.toml").write_text("[tool.ruff]\nline-length = 100\n")
    requirements, files, _ = nearest(str(folder), str(tmp_path), lambda place, file: (tmp_path / place / file).exists())
    assert requirements == expected
    assert str(tmp_path / name) in files


def test_the_requirements_of_the_folders_above_the_run_do_not_count(tmp_path):
    """The folder of the run is the last one that is looked at."""
    (tmp_path / "pyproject.toml").write_text('[project]\ndependencies = ["mcp>=2", "fastmcp"]')

    def exists(place, file):
        return (tmp_path / place / file).exists()

    assert nearest(str(tmp_path), str(tmp_path), exists)[0] == Requirements(True, sdk=2, fastmcp=True)
    inner = tmp_path / "inner"
    inner.mkdir()
    assert nearest(str(inner), str(inner), exists)[0] == Requirements()


# -- which framework a tool runs on ----------------------------------------------------------------------------------

TOOLS = """
    def register(server):
        @server.tool()
        def fetch(a: str) -> str:
            'Fetch.'
            raise ValueError("no article, call search first")

    # mcp
"""


def messages(root, **options):
    """The messages about the exceptions in a project."""
    settings = Settings(cache_dir=str(root / ".cache"))
    report = lint_paths([root], settings=settings, root=str(root), **options)
    return [
        f"{finding.message}; {finding.help}"
        for finding in report.diagnostics
        if finding.rule == "prefer-mcp-error-in-handler"
    ]


def test_an_imported_server_is_fastmcp_if_the_project_requires_it(tmp_path):
    """This holds whatever version of the SDK the project also lists."""
    (tmp_path / "tools.py").write_text(textwrap.dedent(TOOLS))
    (tmp_path / "pyproject.toml").write_text("[project]\ndependencies = ['fastmcp>=4', 'mcp>=2']\n")
    assert not messages(tmp_path)


def test_each_project_of_a_repository_has_its_own_framework(tmp_path):
    """The nearest requirements decide, and changing them rechecks even cached files."""
    for name, requirement in (("old", "mcp<2"), ("new", "mcp>=2"), ("coded", "mcp>=2', 'mcpcore")):
        folder = tmp_path / name / "src"
        folder.mkdir(parents=True)
        (folder / "tools.py").write_text(textwrap.dedent(TOOLS))
        (tmp_path / name / "pyproject.toml").write_text(f"[project]\ndependencies = ['{requirement}']\n")
    coded, new = messages(tmp_path, cache=True)
    assert "or raise a coded error" in coded
    assert "SDK 2 hides" in new
    assert "coded" not in new
    assert [coded, new] == messages(tmp_path, cache=True)
    (tmp_path / "old" / "pyproject.toml").write_text("[project]\ndependencies = ['mcp>=2.0']\n")
    assert [coded, new, new] == messages(tmp_path, cache=True)
    (tmp_path / "new" / "src" / "requirements.txt").write_text("mcp==1.28.1\n")
    assert [coded, new] == messages(tmp_path, cache=True)
    (tmp_path / "new" / "src" / "requirements.txt").unlink()
    assert [coded, new, new] == messages(tmp_path, cache=True)
