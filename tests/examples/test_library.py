"""The lending library of `docs/how-to/real-server.md`."""

from __future__ import annotations

import ast
import asyncio
import importlib
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "examples" / "library"
PAGE = ROOT / "docs" / "how-to" / "real-server.md"
TOOLS = 6


def test_its_own_tests_raise_every_reason():
    """The tests of the example pass with the plugin, and reach 100 % of the declared reasons."""
    options = ("-o", "addopts=", "-p", "no:cacheprovider", "-p", "no:langsmith_plugin", "--import-mode=importlib")
    command = [sys.executable, "-m", "pytest", "examples/library", "--reason-coverage-fail-under=100", *options]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_page_shows_what_the_files_have():
    """Each block of the page is in a file of the example, but for line breaks."""
    page = PAGE.read_text(encoding="utf-8")
    files = ["".join(path.read_text(encoding="utf-8").split()) for path in FOLDER.glob("*.py")]
    blocks = re.findall(r"^```python no-run\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 7
    for block in blocks:
        assert any("".join(block.split()).replace(",)", ")") in text.replace(",)", ")") for text in files), block


def _counted(path: Path) -> tuple[int, int, int, int]:
    """The lines of a server below its imports without empty ones, its clauses, its guards, and the reasons in types."""
    source = path.read_text(encoding="utf-8")
    tree = ast.parse(source)
    # The plain server imports from the other one what the two share.
    shared = {"Library", "open_library"}
    skipped = [
        node
        for node in tree.body
        if isinstance(node, ast.Import | ast.ImportFrom) or getattr(node, "name", None) in shared
    ]
    lines = {number for number, line in enumerate(source.splitlines(), 1) if line.strip()}
    for node in skipped:
        lines -= set(range(node.lineno, (node.end_lineno or 0) + 1))
    clauses = sum(isinstance(node, ast.ExceptHandler) for node in ast.walk(tree))
    twice = sum(len(re.findall(r'"\w+"', names)) for names in re.findall(r"Literal\[([^\]]*)\]", source))
    return len(lines), clauses, source.count("guard("), twice


def test_a_contract_costs_few_lines():
    """Its handlers have neither clauses nor guards, and it is at most five lines for each tool longer than the plain one."""
    lines, *rest = _counted(FOLDER / "server.py")
    plain, clauses, *_ = _counted(FOLDER / "plain_server.py")
    assert (rest, clauses) == ([0, 0, 1], 10)
    assert lines <= plain + 5 * TOOLS, (lines, plain)
    assert f"the file has {lines} lines instead of {plain}" in " ".join(PAGE.read_text(encoding="utf-8").split())


def test_guards_cost_more():
    """The same tools with guards: more lines, two clauses, and reasons that are written again in types."""
    lines, *rest = _counted(Path(__file__).parent / "cases" / "library_with_guards.py")
    assert rest == [2, 9, 12]
    assert lines > _counted(FOLDER / "server.py")[0] + 3 * TOOLS
    listed = asyncio.run(_tools("tests.examples.cases.library_with_guards"))
    assert listed == asyncio.run(_tools("examples.library.server"))


async def _tools(module: str) -> list[object]:
    return [tool.model_dump() for tool in await importlib.import_module(module).server.list_tools()]
