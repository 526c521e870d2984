"""Lists of dependencies get mcpcore, and the pins that the new code needs."""

from __future__ import annotations

import os
import re
import tomllib
from pathlib import Path

import pytest
from mcpcore_lint.migrate.model import KEEPS
from mcpcore_lint.migrate.requirements import LEAST
from mcpcore_lint.runner.migrate import migrate

from tests.migrate.migrating import report, run
from tests.migrate.test_trial import SERVER, migrate as command

SDK = "from mcp.server.fastmcp import FastMCP\n\nmcp = FastMCP('x')\n"
FAST = "from fastmcp import FastMCP\n\nmcp = FastMCP('x')\n"
LOW = """from mcp.server import Server

server = Server("x")


@server.call_tool()
async def call_tool(name: str, arguments: dict) -> list:
    return []
"""

LISTED = (
    LOW.replace(
        "@server.call_tool",
        "@server.list_tools()\nasync def list_tools() -> list[Tool]:\n    return []\n\n\n@server.call_tool",
    )
    .replace("\n\nserver", "\nfrom mcp.types import TextContent, Tool\n\nserver")
    .replace("-> list:", "-> list[TextContent]:")
)

READS = "import httpx\nimport pydantic_settings\ntry:\n    import httpx_sse\nexcept ImportError:\n    pass\n"
HEAD = '# /// script\n# dependencies = [\n#   "mcp",\n# ]\n# ///\nfrom mcpcore import Server\n'
INLINE = '# /// script\n# dependencies = ["requests", "mcp"]\n# ///\nfrom mcpcore import Server\n'
CRLF = f"{INLINE}try:\n    import httpx\nexcept ImportError:\n    httpx = None\n".replace("\n", "\r\n")
LISTS = [
    (SDK, "script.py", HEAD, HEAD.replace('"mcp"', '"mcp>=2.3", "mcpcore>=0.1"')),
    (SDK, "one.py", INLINE, INLINE.replace('"mcp"', '"mcp>=2.3", "mcpcore>=0.1"')),
    (SDK, "requirements.txt", "mcp  # the SDK\n", "mcp>=2.3  # the SDK\nmcpcore>=0.1\n"),
    (SDK, "crlf.py", CRLF, CRLF.replace('"mcp"', '"mcp>=2.3", "mcpcore>=0.1"')),
    (READS + SDK, "requirements.in", "mcp>=1.2\nHttpx\n", "mcp>=2.3\nmcpcore>=0.1\npydantic-settings>=2.5\nHttpx\n"),
    (
        READS + FAST,
        "pyproject.toml",
        '[project]\ndependencies = [\n  "fastmcp>=2.1",\n]\n',
        '[project]\ndependencies = [\n  "fastmcp>=4.0",\n  "mcpcore[fastmcp]>=0.1",\n  "httpx>=0.27",\n]\n',
    ),
    (
        READS + SDK,
        "pyproject.toml",
        '[tool.poetry.dependencies]\nmcp = "^1.2"\nhttpx = "*"\n',
        '[tool.poetry.dependencies]\nmcp = "^2.3"\nmcpcore = ">=0.1"\npydantic-settings = ">=2.5"\nhttpx = "*"\n',
    ),
    (SDK, "Pipfile", '[packages]\nmcp = "*"\n', '[packages]\nmcp = ">=2.3"\nmcpcore = ">=0.1"\n'),
    (
        FAST,
        "fastmcp.json",
        '{"environment": {\n  "python": ">=3.10",\n  "dependencies": ["fastmcp>=3.2,<4"]}}\n',
        '{"environment": {\n  "python": ">=3.11",\n  "dependencies": ["fastmcp>=4.0,<5", "mcpcore[fastmcp]>=0.1"]}}\n',
    ),
    (LISTED, "requirements.txt", "mcp>=1.2\n", "mcp>=2.3\njsonschema>=4.20\n"),
    (f"import jsonschema\n{LISTED}", "requirements.txt", "mcp>=1.2\n", "mcp>=2.3\n"),
    (READS + SDK, "constraints.txt", "mcp<2\nanyio<5\n", "mcp>=2.3,<3\nanyio<5\n"),
    (
        READS + SDK,
        "pyproject.toml",
        '[tool.uv]\nconstraint-dependencies = [\n  "mcp[cli]<2",\n]\n[tool.mypy]\npython_version = "3.9"\n',
        '[tool.uv]\nconstraint-dependencies = [\n  "mcp[cli]>=2.3,<3",\n]\n[tool.mypy]\npython_version = "3.9"\n',
    ),
    (
        SDK,
        "pyproject.toml",
        '[project]\ndependencies = ["mcp>=1.2"]\n[tool.uv]\nconstraint-dependencies = ["mcp<2"]\n',
        '[project]\ndependencies = ["mcp>=2.3", "mcpcore>=0.1"]\n[tool.uv]\nconstraint-dependencies = ["mcp>=2.3,<3"]\n',
    ),
    (
        SDK,
        "pyproject.toml",
        ('[project]\nname = "mcp"\nkeywords = ["mcp"]\nrequires-python = ">=3.10,<4"  # kept\nclassifiers = [\n'
        '  "Programming Language :: Python :: 3.10",\n  "Programming Language :: Python :: 3.11",\n]\ndependencies = [\n'
        '  "httpx",\n  "mcp[cli]>=1.2,<2",  # the SDK\n]\n[tool.uv]\ndev-dependencies = ["mcp ~= 1.2"]\n'),
        ('[project]\nname = "mcp"\nkeywords = ["mcp"]\nrequires-python = ">=3.11,<4"  # kept\nclassifiers = [\n'
        '  "Programming Language :: Python :: 3.11",\n]\ndependencies = [\n'
        '  "httpx",\n  "mcp[cli]>=2.3,<3",  # the SDK\n  "mcpcore>=0.1",\n]\n'
        '[tool.uv]\ndev-dependencies = ["mcp >=2.3,<3"]\n'),
    ),
    (
        FAST,
        "pyproject.toml",
        "[project]\r\ndependencies = [\r\n\t'fastmcp'\r\n]\r\n[dependency-groups]\r\na = [{include-group = 'b'}]\r\n",
        ("[project]\r\ndependencies = [\r\n\t'fastmcp>=4.0',\r\n\t'mcpcore[fastmcp]>=0.1'\r\n]\r\n"
        "[dependency-groups]\r\na = [{include-group = 'b'}]\r\n"),
    ),
    (
        FAST,
        "pyproject.toml",
        '[project.optional-dependencies]\na = ["fastmcp~=2.1; python_version < \'4\'", "b"]\nb = ["mcp>=2", "mcpcore"]\n',
        ('[project.optional-dependencies]\na = ["fastmcp~=4.0; python_version < \'4\'", "mcpcore[fastmcp]>=0.1", "b"]\n'
        'b = ["mcp>=2", "mcpcore"]\n'),
    ),
    (
        SDK,
        "pyproject.toml",
        '[tool.poetry.dependencies]\npython = "^3.10"\nmcp = {version = "^1.2", extras = ["cli"]}\n[tool.black]\n',
        ('[tool.poetry.dependencies]\npython = "^3.11"\nmcp = {version = "^2.3", extras = ["cli"]}\nmcpcore = ">=0.1"\n'
        "[tool.black]\n"),
    ),
    (
        FAST,
        "pyproject.toml",
        "[project]\nrequires-python = '>=3.10'\n[dependency-groups]\nmcp = ['fastmcp==4.0.0b2', 'fastmcp-slim==4.0.0b2']\n",
        (
            "[project]\nrequires-python = '>=3.10'\n[dependency-groups]\n"
            "mcp = ['fastmcp>=4.0,<5; python_version >= \"3.11\"', 'mcpcore[fastmcp]>=0.1; python_version >= \"3.11\"', "
            "'fastmcp-slim>=4.0,<5; python_version >= \"3.11\"']\n"
        ),
    ),
    (
        FAST,
        "pyproject.toml",
        '[tool.poetry.dependencies]\nfastmcp = "2.1"\n',
        '[tool.poetry.dependencies]\nfastmcp = ">=4.0,<5"\nmcpcore = { version = ">=0.1", extras = ["fastmcp"] }\n',
    ),
    (FAST, "requirements.txt", "# mcp\nfastmcp", "# mcp\nfastmcp>=4.0\nmcpcore[fastmcp]>=0.1"),
    (SDK, "requirements-dev.txt", "mcp==1.2 # old\n", "mcp>=2.3,<3 # old\nmcpcore>=0.1\n"),
    (SDK, "setup.py", 'setup(keywords=["mcp"], install_requires=["mcp>=1"])\n',
     'setup(keywords=["mcp"], install_requires=["mcp>=2.3", "mcpcore>=0.1"])\n'),
    (SDK, "requirements.txt", "mcp>=1.2,<2\r\nhttpx\r\n", "mcp>=2.3,<3\r\nmcpcore>=0.1\r\nhttpx\r\n"),
    (SDK, "requirements.txt", "mcp>=2.0,<2.2\n", "mcp>=2.3,<3\nmcpcore>=0.1\n"),
    (SDK, "pyproject.toml", '[project]\ndependencies = ["""mcp"""]\n', '[project]\ndependencies = ["""mcp"""]\n'),
    (SDK, "setup.py", 'setup(install_requires=["mcp" ">=1"])\n', 'setup(install_requires=["mcp" ">=1"])\n'),
    (SDK, "requirements.txt", "mcp" + "!a" * 40 + " y z\n", "mcp" + "!a" * 40 + " y z\n"),
    (LOW, "pyproject.toml", '[project]\nrequires-python = ">=3.9"\ndependencies = ["mcp"]\n',
     '[project]\nrequires-python = ">=3.10"\ndependencies = ["mcp>=2.3"]\n'),
    (SDK, "pyproject.toml", '[project]\nrequires-python = ">=3.10,!=3.10.0, <3.14,!=3.12.1"\ndependencies = ["mcp"]\n',
     '[project]\nrequires-python = ">=3.11, <3.14,!=3.12.1"\ndependencies = ["mcp>=2.3", "mcpcore>=0.1"]\n'),
    (SDK, ".python-version", "3.10.4\r\n", "3.11\r\n"),
    (LOW, ".python-version", "cpython-3.9", "cpython-3.10"),
    (SDK, ".python-version", "3.13.1\n", "3.13.1\n"),
]  # fmt: skip
LEFT = {
    ".azuredevops/build.yml": (
        "variables:\n  pythonVersion: '3.10'\n",
        "build.yml:2: pythonVersion: '3.10': mcpcore needs Python 3.11 or later",
    ),
    ".github/workflows/ci.yml": (
        '        python-version: ["3.9", "3.10", "3.12"]\n        python-version: "3.12"\n',
        'ci.yml:1: python-version: ["3.9", "3.10", "3.12"]: mcpcore needs Python 3.11 or later',
    ),
    ".github/workflows/test.yml": (
        "matrix:\n  python-version:\n    - '3.11'\n    - '3.10'\n  os:\n    - '3.9'\n",
        "test.yml:2: python-version: - '3.11' - '3.10': mcpcore needs Python 3.11 or later",
    ),
    ".gitlab-ci.yml": (
        "test:\n  image: python:3.9-slim\n",
        ".gitlab-ci.yml:2: image: python:3.9-slim: mcpcore needs Python 3.11 or later",
    ),
    ".python-version": (
        "# For development.\n3.10\n3.12\n",
        ".python-version:2: 3.10: mcpcore needs Python 3.11 or later",
    ),
    "Dockerfile": (
        "FROM docker.io/python:3.10-slim\nRUN pip install 'fastmcp==2.3' mcp>=2\nFROM python:3.12\n",
        "Dockerfile:1: FROM docker.io/python:3.10-slim: mcpcore needs Python 3.11 or later",
        "Dockerfile:2: the pin fastmcp==2.3: add mcpcore too, which needs fastmcp 4.0 or later",
    ),
    "install.sh": (
        "mcp=1\npip3 install 'mcp[cli]>=2.0' chromadb # not mcp>=1\n",
        "install.sh:2: the dependency mcp: add mcpcore too, which needs mcp 2.3 or later",
    ),
    "poetry.lock": ('[[package]]\nname = "httpx"\n',),
    "pyproject.toml": (
        '[project]\nrequires-python = ">=3.10,<3.11"\ndependencies = ["mcp[cli] (>=1.9,<2)"]\n',
        'pyproject.toml:2: requires-python = ">=3.10,<3.11": mcpcore needs Python 3.11 or later',
        "pyproject.toml:3: the dependency mcp: add mcpcore too, which needs mcp 2.3 or later",
    ),
    "requirements-b.txt": (
        "mcp[cli] @ git+https://a.b/mcp\n",
        "requirements-b.txt:1: the dependency mcp: add mcpcore too, which needs mcp 2.3 or later",
    ),
    "requirements-c.txt": (
        "mcp>=1.2,\\\n<2\n",
        "requirements-c.txt:1: the pin mcp>=1.2,: add mcpcore too, which needs mcp 2.3 or later",
    ),
    "requirements.lock.txt": (
        "mcp==1.2\npydantic_core==2.4\n",
        "requirements.lock.txt:1: the list that a program wrote: write it again after the requirements",
    ),
    "requirements.txt": (
        "#  uv pip compile a.in\nmcp==1.2\n",
        "requirements.txt:1: the list that a program wrote: write it again after the requirements",
    ),
    "setup.cfg": ("mcp>=1,<2\n", "setup.cfg:1: the pin mcp>=1,<2: add mcpcore too, which needs mcp 2.3 or later"),
    "setup.py": (
        'install_requires=["mcp>=1,<2"\n',
        "setup.py:1: parse-error: '[' was never closed; correct the file and run again",
        "setup.py:1: the pin mcp>=1,<2: add mcpcore too, which needs mcp 2.3 or later",
    ),
    "dev.sh": ("uv pip install -e '.[dev]'\npip install mcp\n",),
    "setup.sh": (
        "pip install mcp\n",
        "setup.sh:1: the dependency mcp: add mcpcore too, which needs mcp 2.3 or later",
    ),
    "tools/install.py": (
        'deps = ["chromadb", "mcp>=2.0.0"]\n',
        "install.py:1: the dependency mcp: add mcpcore too, which needs mcp 2.3 or later",
    ),
    "tox.ini": ("deps = mcp>=1,<2\n", "tox.ini:1: the pin mcp>=1,<2: add mcpcore too, which needs mcp 2.3 or later"),
    "uv.lock": (
        'version = 1\n\n[[package]]\nname = "mcp"\n',
        "uv.lock:1: the lock file: write it again after the requirements",
    ),
}


def test_lists_of_dependencies_follow(tmp_path: Path) -> None:
    """Nothing else changes in them, and a second run finds nothing to do."""
    pairs = {f"{number}/{name}": (before, after) for number, (_, name, before, after) in enumerate(LISTS)}
    sources: dict[str, str | bytes] = {f"{number}/server.py": source for number, (source, *_) in enumerate(LISTS)}
    outcome, files = run(tmp_path, {**sources, **{name: before for name, (before, _) in pairs.items()}})
    assert {name: after for name, (_, after) in pairs.items()} == {name: files[name] for name in pairs}
    assert 'requires-python = ">=3.10,<4" # kept is now 3.11' in {removed.pattern for removed in outcome.removed}
    assert () == migrate([str(tmp_path)]).files
    table = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    listed = [*table["dependencies"], *table["optional-dependencies"]["fastmcp"], f"mcpcore>={table['version']}"]
    assert (
        dict(re.findall(r"^(mcp|fastmcp|mcpcore)>=(\d+\.\d+)", "\n".join(listed), re.MULTILINE)).items()
        <= LEAST.items()
    )


def test_what_cannot_be_changed_safely_has_a_line(tmp_path: Path) -> None:
    """Images, scripts, locks and lists that a program writes; a file that no named path holds."""
    files: dict[str, str | bytes] = {name: text for name, (text, *_) in LEFT.items()}
    outcome, after = run(tmp_path, {"server.py": "from mcpcore import Server\n\nmcp = Server('x')\n", **files})
    assert [line for _, *lines in LEFT.values() for line in lines] == report(outcome)
    assert files == {name: after[name] for name in files}
    low = {"a/server.py": LOW.replace("name: str, ", ""), "a/requirements.txt": "mcp<2"}
    outcome, _ = run(tmp_path / "low", {**low, "b/script.py": HEAD.rpartition("from")[0] + SDK})
    assert "requirements.txt:1: the pin mcp<2: mcpcore needs mcp 2.3 or later" in report(outcome)
    assert "script.py:3: the dependency mcp: add mcpcore too, which needs mcp 2.3 or later" in report(outcome)
    poetry = '[project]\ndependencies = ["mcp (>=1.2,<2)", "mcpcore (>=0.1)"]\n'
    pipfile = '[packages]\nmcp = "*"\n[requires]\npython_version = "3.9"\n'
    two = {"Dockerfile": "FROM python:3.9", "fastmcp.json": '{"environment": {"python": "3.10"}}'}
    outcome, after = run(tmp_path / "two", {"server.py": SDK, "pyproject.toml": poetry, "Pipfile": pipfile, **two})
    assert two == {name: after[name] for name in two}
    assert [
        "Dockerfile:1: FROM python:3.9: mcpcore needs Python 3.11 or later",
        'Pipfile:5: python_version = "3.9": mcpcore needs Python 3.11 or later',
        'fastmcp.json:1: {"environment": {"python": "3.10"}}: mcpcore needs Python 3.11 or later',
        "pyproject.toml:2: the dependency mcp: mcpcore needs mcp 2.3 or later",
    ] == report(outcome)
    run(tmp_path, {"src/server.py": SDK}, write=False)
    left = migrate([str(tmp_path / "src")], write=True).left
    assert "setup.cfg:1: the pin mcp>=1,<2: add mcpcore too, which needs mcp 2.3 or later" in [
        entry.text(Path(entry.path).name, entry.line) for entry in left
    ]


OTHERS = [
    # The framework comes with another package.
    (FAST, "pyproject.toml", '[project]\ndependencies = ["core>=1"]\n',
     '[project]\ndependencies = ["core>=1", "mcpcore[fastmcp]>=0.1"]\n', []),
    (SDK, "requirements.txt", "httpx", "httpx\nmcpcore>=0.1\n", []),
    (SDK, "setup.py", "setup(install_requires=['a' 'b'])\n", None,
     ["setup.py:1: the import of mcpcore: no list of dependencies has it, so add mcpcore>=0.1"]),
    # Nothing imports FastMCP.
    (SDK, "pyproject.toml", '[project]\ndependencies = ["fastmcp<3"]\n',
     '[project]\ndependencies = ["fastmcp<3", "mcpcore>=0.1"]\n',
     ["pyproject.toml:2: the dependency fastmcp: nothing imports it: leave it out, since releases before 4.0 ask for version 1 of the SDK"]),
    (SDK, "pyproject.toml", '[project]\ndependencies = [\n    "mcp>=1.2",\n    "fastmcp<3",\n    "x",\n]\n',
     '[project]\ndependencies = [\n    "mcp>=2.3",\n    "mcpcore>=0.1",\n    "x",\n]\n', []),
    (SDK, "pyproject.toml", '[project]\ndependencies = ["fastmcp<3", "mcp>=1.2"]\n[dependency-groups]\na = ["mcp", "fastmcp"]\n',
     '[project]\ndependencies = ["mcp>=2.3", "mcpcore>=0.1"]\n[dependency-groups]\na = ["mcp>=2.3"]\n', []),
    (SDK, "requirements.txt", "mcp\nfastmcp>=2", "mcp>=2.3\nmcpcore>=0.1\n", []),
    (SDK, "requirements.txt", "mcp\n# The command.\nfastmcp>=2\n", "mcp>=2.3\nmcpcore>=0.1\n# The command.\nfastmcp>=2\n",
     ["requirements.txt:4: the dependency fastmcp: nothing imports it: leave it out, since releases before 4.0 ask for version 1 of the SDK"]),
    # FastMCP takes null for no dependencies.
    (FAST, "fastmcp.json", '{"environment": {"dependencies": null}}', None, []),
    (SDK, "pyproject.toml", "[tool]\nuv = 5\n", None, []),
    (SDK, "constraints.txt", "httpx2==2.5\nmcp==2.0.0\n", None,
     ["constraints.txt:2: the pin mcp==2.0.0: mcpcore needs mcp 2.3 or later"]),
]  # fmt: skip


def test_lists_that_name_no_framework_or_an_idle_one(tmp_path: Path) -> None:
    """mcpcore goes into the only list, or has a line; a file of constraints gets nothing, and a pin there has a line."""
    for number, (source, name, before, after, lines) in enumerate(OTHERS):
        outcome, files = run(tmp_path / str(number), {"server.py": source, name: before})
        assert (after or before, lines) == (files[name], report(outcome))


def test_a_requirement_that_something_else_needs_stays(tmp_path: Path) -> None:
    """A command in a file of the folder, and what the list itself has. Words about the project need nothing."""
    lists = '[project]\nkeywords = [\n    "fastmcp",\n]\ndependencies = ["mcp", "fastmcp>=2"]\n'
    left = {"Makefile": "dev:\n\tfastmcp dev server.py\n", "fastmcp.json": "{}", "a.ipynb": '"from fastmcp import A"'}
    names = ['[project.scripts]\nx = "fastmcp.cli:app"\n', '[tool.uv.sources]\nfastmcp = { path = "x" }\n']
    projects = [{"pyproject.toml": lists, name: text} for name, text in left.items()]
    projects += [{"pyproject.toml": lists + name} for name in names]
    for number, files in enumerate([*projects, {"pyproject.toml": lists, "README.md": "Like fastmcp.\n"}]):
        _, after = run(tmp_path / str(number), {"server.py": SDK, **files})
        assert ("fastmcp>=4.0" in after["pyproject.toml"]) is (number < len(projects)), files


def test_an_idle_requirement_with_a_comment_stays(tmp_path: Path) -> None:
    """A second run changes nothing."""
    text = "mcp>=1\nfastmcp>=2  # the command\n"
    _, files = run(tmp_path, {"server.py": SDK, "requirements.txt": text})
    assert "mcp>=2.3\nmcpcore>=0.1\nfastmcp>=2  # the command\n" == files["requirements.txt"]
    assert () == migrate([str(tmp_path)]).files


def test_a_comment_of_several_lines_about_a_pin_has_one_line(tmp_path: Path) -> None:
    """It is the first that names a version."""
    lists = "# Protocol.\n# Floor is 2.0, since the server imports mcp.server.\n# mcp 1.x has no such module.\nmcp>=2.0,<3\n"
    outcome, _ = run(tmp_path, {"server.py": SDK_2, "requirements.txt": lists})
    assert [(2, "the comment 'Floor is 2.0, since the server imports mcp.server.'")] == [
        (line.line, line.pattern) for line in outcome.removed
    ]


def test_requirements_are_put_back_with_the_code(tmp_path: Path) -> None:
    """A list of dependencies asks for nothing that the code does not import any more."""
    broken = f"{SERVER}\n\nimport inspect\n\nassert inspect.isfunction(f), 'no function'\n"
    done = command(tmp_path, {"server.py": broken, "requirements.txt": "fastmcp<3"})
    assert (1, "fastmcp<3") == (done.exit_code, (tmp_path / "requirements.txt").read_text())
    assert "the pin fastmcp<3: mcpcore needs fastmcp 4.0 or later" in done.stdout


def test_comments_about_a_pin_that_changes_have_a_line(tmp_path: Path) -> None:
    """Others, such as those about what a package is for, have none."""
    lists = """[project]
dependencies = [
    "httpx",  # not mcp 1
    # Protocol.
    # Stays below 2: mcp 2.0 renamed FastMCP.
    "mcp>=1.2,<2",  # >=1.2 for icons
]
"""
    outcome, _ = run(tmp_path, {"server.py": SDK, "pyproject.toml": lists})
    (tmp_path / "Pipfile").write_text('[packages]\nmcp = "<2"  # pinned below 2\n')
    (removed,) = migrate([str(tmp_path)]).removed
    assert (2, "the comment 'pinned below 2'") == (removed.line, removed.pattern)
    assert [(5, "the comment 'Stays below 2: mcp 2.0 renamed FastMCP.'"), (6, "the comment '>=1.2 for icons'")] == [
        (line.line, line.pattern) for line in outcome.removed
    ]


SDK_2 = "from mcp.server.mcpserver import MCPServer\n\nmcp = MCPServer('x')\n"
RELEASES = [
    ("uv.lock", '[[package]]\nname = "mcp"\nversion = "2.0.1"\n', True),
    ("poetry.lock", '[[package]]\nname = "mcp"\nversion = "2.3.0"\n', False),
    ("Pipfile.lock", '{"default": {"mcp": {"hashes": ["a"], "version": "==2.0.0"}}}', True),
    ("requirements.txt", "mcp==2.0.0\n", True),
    ("requirements.txt", "mcp==2.1.0\n", False),
    ("requirements.txt", "mcp[cli,ws]==2.1.0\n", False),
    ("pyproject.toml", '[project]\ndependencies = ["mcp[cli]>=2.0,<3"]\n', True),
    ("pyproject.toml", '[project]\ndependencies = ["mcp>=2.1,!=2.0.0"]\n', False),
    ("pyproject.toml", '[project]\ndependencies = ["mcp"]\n', False),
    ("pyproject.toml", '[project]\ndependencies = ["mcp>=1,<3"]\n', True),
    ("pyproject.toml", '[project]\ndependencies = ["mcp~=20.0"]\n', False),
]


def test_a_server_of_an_early_release_goes_on_to_send_texts(tmp_path: Path) -> None:
    """Version 2.0 of the SDK sent the texts of exceptions; a lock decides before the range that the project allows."""
    allowed = {"pyproject.toml": '[project]\ndependencies = ["mcp>=2"]\n'}
    for number, (name, text, sends) in enumerate(RELEASES):
        _, files = run(tmp_path / str(number), {"server.py": SDK_2, **allowed, name: text})
        assert sends is ('expose_internal_errors="message"' in files["server.py"]), (name, text)


def test_an_extra_for_an_early_python_has_a_marker_for_all_of_it(tmp_path: Path) -> None:
    """Without it, an early Python would get the framework alone, and then miss mcpcore. A marker of the project stays."""
    text = "[project]\nrequires-python = '>=3.9'\n[project.optional-dependencies]\na = ['fastmcp>=2', 'b']\n"
    new = """a = ['fastmcp>=4.0; python_version >= "3.11"', 'mcpcore[fastmcp]>=0.1; python_version >= "3.11"', 'b']"""
    for old, after in (
        (text, new),
        (text.replace("=2'", "=4; x'"), new.replace('4.0; python_version >= "3.11"', "4; x", 1)),
    ):
        _, files = run(tmp_path, {"server.py": FAST, "pyproject.toml": old})
        assert after in files["pyproject.toml"]
        assert files == run(tmp_path, {**files})[1]


def test_a_low_level_server_that_stays_keeps_its_requirements(tmp_path: Path) -> None:
    """A docstring that names FastMCP makes no other server, so nothing changes and the server goes on to work."""
    source = f'{LOW.replace("-> list", "-> dict")}\n\ndef app(result) -> str:\n    """As FastMCP has it."""\n    return result.isError\n'
    files: dict[str, str | bytes] = {"server.py": source, "requirements.txt": "mcp>=1.2\n"}
    outcome, after = run(tmp_path, files)
    assert files == after
    assert [KEEPS] == [line.stops for line in outcome.left if "keeps server on version 1 of the SDK" in line.pattern]
    # Another environment moves.
    both, apart = {**files, "a.py": SDK}, {**files, "b/a.py": SDK, "b/requirements.txt": "mcp\n"}
    assert [both, "mcp>=2.3\nmcpcore>=0.1\n"] == [
        run(tmp_path / "both", both)[1],
        run(tmp_path / "apart", apart)[1]["b/requirements.txt"],
    ]


_SCRIPT = '# /// script\n# dependencies = ["mcp>=1.2"]\n# ///\n'
_OF_A_PROJECT = '[project]\nname = "x"\ndependencies = ["mcp>=1.2"]\n'
_STAYS = LOW.replace("-> list", "-> dict")


@pytest.mark.parametrize(
    ("files", "changed"),
    [
        ({"server.py": _STAYS, "a.py": SDK, "Dockerfile": 'RUN pip install "mcp<2"\n'}, set()),
        ({"server.py": _STAYS, "a.py": SDK, "requirements/base.txt": "mcp<2\n"}, set()),
        # These lists install no framework, so their folders need that of the folder above.
        ({"server.py": _STAYS, "requirements.txt": "mcp<2", "b/a.py": SDK, "b/pyproject.toml": "[tool.ruff]\n"}, set()),
        (
            {
                "server.py": _STAYS,
                "requirements.txt": "mcp<2",
                "tests/test_a.py": "from mcp.server.fastmcp import FastMCP\nimport pytest\nprint(result.isError)\n",
                "tests/requirements.txt": "pytest",
            },
            set(),
        ),
        # The members of a workspace share one environment; other projects have one each.
        (
            {
                "pyproject.toml": "[tool.uv.workspace]\nmembers = ['a', 'b']\n",
                "a/server.py": _STAYS,
                "a/pyproject.toml": _OF_A_PROJECT,
                "b/a.py": SDK,
                "b/pyproject.toml": _OF_A_PROJECT,
            },
            set(),
        ),
        (
            {"server.py": _STAYS, "pyproject.toml": _OF_A_PROJECT, "b/a.py": SDK, "b/pyproject.toml": _OF_A_PROJECT},
            {"a.py", "b/pyproject.toml"},
        ),
        (
            {"b/server.py": _STAYS, "b/pyproject.toml": _OF_A_PROJECT, "a.py": SDK, "pyproject.toml": _OF_A_PROJECT},
            {"a.py", "pyproject.toml"},
        ),
        ({"script.py": _SCRIPT + _STAYS, "a.py": SDK, "requirements.txt": "mcp<2"}, {"a.py", "requirements.txt"}),
    ],
)
def test_an_environment_moves_as_a_whole_or_not_at_all(
    files: dict[str, str | bytes], changed: set[str], tmp_path: Path
) -> None:
    """One that stays has no line that asks for mcpcore, and the first line says where to begin."""
    outcome, _ = run(tmp_path, files)
    paths = {file.path.removeprefix(f"{tmp_path}/") for file in outcome.files}
    assert changed == {path.removeprefix("b/") if path.endswith(".py") else path for path in paths}
    assert not [line for line in outcome.left if "add mcpcore" in line.decide]
    assert KEEPS in {line.stops for line in outcome.left}


def test_earlier_versions_of_python_are_named(tmp_path: Path) -> None:
    """Options of tools stay, since a later version may give the project new findings."""
    text = """[project]
requires-python = ">=3.10"
dependencies = ["mcp", "tomli; python_version < '3.11'", "a; python_version < '3.12'"]
[tool.ruff]  # Python 3.11
target-version = "py310"  # as the others
# Needs Python 3.10 or later.
[tool.black]
target-version = ["py311"]
[tool.mypy]
python_version = "3.10"
"""
    hints = (
        "\n\n@mcp.tool(annotations=ToolAnnotations(readOnlyHint=True, openWorldHint = False))\ndef f() -> None: ...\n"
    )
    outcome, _ = run(tmp_path, {"server.py": SDK + hints, "pyproject.toml": text})
    assert (
        "pyproject.toml:9: the type checker in [tool.mypy]: it refuses 2 arguments such as readOnlyHint=, which version 2 "
        "calls read_only_hint="
    ) in report(outcome)
    (line,) = [removed.decide for removed in outcome.removed if "requires-python" in removed.pattern]
    assert "mcpcore needs it; look at the documentation, and at earlier versions in this file: 3, 5, 6, 10" == line
    aliases = text + "plugins = ['pydantic.mypy']\n"
    outcome, _ = run(tmp_path, {"server.py": SDK + hints, "pyproject.toml": aliases})
    assert "type checker" not in "\n".join(report(outcome))


README = """# A server for Python 3.10+
![Python](https://img.shields.io/badge/python-%3E%3D3.10-blue) ![](https://img.shields.io/badge/Python-3.10%2B-blue)
| Python | **3.10** or newer |

Python version: >= 3.10, and Python 3.12+ for the client.
Tested with Python 3.10 and Python 3.10.4+; the old client needs Python 3.8+.

Changelog
---------
- Python 3.10+ is needed.
"""


def test_documents_that_name_an_earlier_python_follow(tmp_path: Path) -> None:
    """Those that may mean something else have a line. A changelog stays, and so does the document of another project."""
    bundle = '{"compatibility": {"runtimes": {"python": ">=3.10,<4"}}}'
    table = '[project]\nrequires-python = ">=3.10"\ndependencies = ["mcp"]\n'
    kept: dict[str, str | bytes] = {
        "docs/CHANGES.md": "Python 3.10+\n",
        "new/README.md": "Python 3.10+\n",
        "new/pyproject.toml": table.replace("3.10", "3.12"),
        "new/server.py": SDK,
        "node_modules/x/README.md": "Python 3.10+\n",
    }
    versions = "      python-version: [ '3.9', \"3.10\", '3.11', '3.12' ]\n      python-version: ['3.12']\n"
    kept[".github/workflows/a.yml"] = f"{versions}      exclude: '3.10'\n"
    files = {"server.py": SDK, "README.md": README, "manifest.json": bundle, "pyproject.toml": table, **kept}
    files[".github/workflows/test.yml"] = versions
    outcome, after = run(tmp_path, {**files, "docs/a.rst": "Python 3.10+"})
    assert versions.replace("'3.9', \"3.10\", ", "") == after[".github/workflows/test.yml"]
    head, past = README.split("Tested")
    assert head.replace("3.10", "3.11") + "Tested" + past == after["README.md"]
    assert (bundle.replace("3.10", "3.11"), "Python 3.11+") == (after["manifest.json"], after["docs/a.rst"])
    assert {"new/pyproject.toml", "new/server.py"} == {name for name, text in kept.items() if text != after[name]}
    assert "README.md:6: an earlier version of Python: the project needs Python 3.11 or later now" == report(outcome)[1]
    assert ["a.yml:1", "README.md:6"] == [line.partition(": ")[0] for line in report(outcome)]
    run(tmp_path / "b", {**files, "pyproject.toml": "", "requirements.txt": "mcp", "src/a.py": ""}, write=False)
    left = migrate([str(tmp_path / "b" / "src"), str(tmp_path / "b" / "server.py")], write=True).left
    assert {1, 2, 3, 5, 6} <= {line.line for line in left if line.path.endswith("README.md")}


PARTS = """# Hacker News server
```sh
# upgrade pip
```
Python 3.10+
| 0.1 | Python 3.10+ |
Python>=3.10,<3.11 and some-python>=3.10
# Changelog
## v0.2
Python 3.10+
"""


def test_documents_that_name_an_earlier_framework_follow(tmp_path: Path) -> None:
    """They follow where they have the version of the list. The protocol and other packages stay."""
    text = "- **FastMCP \u2265 0.4.0** and mcp>=1.2\n- `fastmcp[x]==0.9`, fastmcp>=0.4.0rc1, my-mcp>=1.2, MCP 1.2+, mcp<1.9\n"
    past = "# Changelog\nfastmcp>=0.4.0\n"
    table = '[project]\nrequires-python = ">=3.12"\ndependencies = ["fastmcp>=0.4"]\n[dependency-groups]\na = ["mcp>=1.2,<2"]\n'
    outcome, after = run(tmp_path, {"server.py": FAST, "README.md": text + past, "pyproject.toml": table})
    assert text.replace("0.4.0**", "4.0**").replace(" mcp>=1.2", " mcp>=2.3") + past == after["README.md"]
    decide = "the project needs fastmcp 4.0 or later now"
    assert [f"README.md:2: an earlier version of fastmcp: {decide}"] == report(outcome)


def test_documents_about_something_else_stay(tmp_path: Path) -> None:
    """Another project, earlier releases, and links to other documents. A pipe is not read."""
    table = '[project]\nrequires-python = ">=3.10"\ndependencies = ["mcp"]\n'
    versions = "python-version: ['3.10', '3.11']\ntoxenv: [py310]\n"
    kept: dict[str, str | bytes] = {
        "docs/releases/v0.3.md": "Python 3.10+\n",
        "other/README.md": "Python 3.10+\n",
        "other/pyproject.toml": "[project]\nrequires-python = '>=3.10'\n",
        ".github/workflows/a.yml": versions,
    }
    os.mkfifo(tmp_path / "pipe.md")
    (tmp_path / "link.md").symlink_to("README.md")
    outcome, after = run(tmp_path, {"server.py": SDK, "README.md": PARTS, "pyproject.toml": table, **kept})
    assert PARTS.replace("3.10", "3.11", 1) == after["README.md"]
    assert kept.items() <= after.items()
    assert ["a.yml:1", "README.md:6", "README.md:7"] == [line.partition(": ")[0] for line in report(outcome)]
    assert [] == list(outcome.failures)


def test_a_test_that_names_a_requirement_has_a_line(tmp_path: Path) -> None:
    """It may compare it with the list. Another requirement, and a name without a version, have none."""
    test = "def test_x():\n    assert 'mcp>=1.2,<2' in LIST\n    assert 'mcp>=1.2' in LIST\n    assert 'fastmcp>=1' == 'mcp'\n"
    table = '[project]\ndependencies = ["mcp>=1.2,<2"]\n[dependency-groups]\na = ["mcp"]\n'
    outcome, _ = run(tmp_path, {"server.py": SDK, "tests/test_list.py": test, "pyproject.toml": table})
    assert ["test_list.py:2: the requirement mcp>=1.2,<2: it is mcp>=2.3,<3 now"] == report(outcome)


def test_a_folder_of_requirements_belongs_to_the_project(tmp_path: Path) -> None:
    """Its lists follow. A check of types needs what the written import of jsonschema has none of."""
    files = {
        "src/server.py": LISTED,
        "requirements/base.txt": "mcp>=1.2,<2\n",
        "requirements/notes.md": "mcp<2\n",
        "mypy.toml": "mcp<2\n",
        "pyproject.toml": '[project]\nname = "x"\n[tool.mypy]\nstrict = true\n[tool.pyright]\n',
    }
    outcome, after = run(tmp_path / "a", {**files})
    assert "mcp>=2.3,<3\njsonschema>=4.20\n" == after["requirements/base.txt"]
    typed = "it needs types-jsonschema, since the code imports jsonschema"
    assert [f"pyproject.toml:3: the type checker in [tool.mypy]: {typed}"] == [
        line for line in report(outcome) if "server.py" not in line
    ]
    assert "CallToolResult(content=[*content])" in after["src/server.py"]
