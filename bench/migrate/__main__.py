"""Migrates copies of real servers: `python -m bench.migrate FOLDER…`, with a folder or a git directory for each server.

Counts the places where tools fail that `mcpcore migrate` converts and leaves, the files that no longer compile, and
what a second run would change. Writes the figures to bench/results/migrate.md. Without folders, the cases of the tests
are migrated, and the figures are only printed.

Then measures the command on generated files, in which one tool has 1,600 `except` clauses, and writes the times to
bench/results/migrate.json. Exits with 1 if something does not compile, a second run changes something, or the command
takes longer than its limit.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final, NamedTuple

from mcpcore_lint.runner.migrate import migrate

from bench.conditions import conditions

ROOT: Final = Path(__file__).parents[2]
RESULTS: Final = ROOT / "bench" / "results" / "migrate.md"
TIMES: Final = ROOT / "bench" / "results" / "migrate.json"
CLAUSES: Final = 1_600
LIMIT: Final = 2.0
"""Seconds of processor time for the whole command."""
ROUNDS: Final = 5
PASSED_ON: Final = "() returns a failure, and the tool passes it on"
"""How the report names a function that returns results and failures."""


_COLUMNS: Final = (
    "server", "files changed", "tools", "places converted", "places left", "share converted", "left in functions",
    "to look at", "files that do not compile", "files that a second run changes", "seconds",
)  # fmt: skip


class Row(NamedTuple):
    """The figures of one server."""

    name: str
    files: int
    tools: int
    converted: int
    left: int
    functions: int
    perhaps: int
    broken: int
    second: int
    seconds: float


def measure(source: Path, folder: Path) -> Row:
    """Migrate a copy of a server twice."""
    name = source.name if source.name != "repo" else source.parent.name.partition("+")[2]
    target = folder / name
    if (source / "HEAD").is_file():
        subprocess.run(["git", "clone", "--quiet", str(source), str(target)], check=True)
    else:
        shutil.copytree(source, target, ignore=shutil.ignore_patterns(".venv", "node_modules", "__pycache__"))
    (target / ".git").mkdir(exist_ok=True)
    began = time.perf_counter()
    first = migrate([str(target)], write=True)
    seconds = time.perf_counter() - began
    places = [each for each in first.left if each.tools]
    certain = [each for each in places if not each.perhaps]
    functions = [each for each in certain if each.pattern.endswith(PASSED_ON)]
    broken = sum(not _compiles(Path(file.path)) for file in first.files)
    second = migrate([str(target)])
    return Row(
        name,
        len(first.files),
        first.tools,
        len(first.converted),
        sum(len(each.tools) for each in certain if each not in functions),
        sum(len(each.tools) for each in functions),
        len(places) - len(certain),
        broken,
        len(second.files),
        seconds,
    )


def _compiles(path: Path) -> bool:
    try:
        compile(path.read_bytes(), str(path), "exec", dont_inherit=True)
    except SyntaxError:
        return False
    return True


def clauses(count: int, *, one_try: bool, returns: bool) -> str:
    """A server whose tool has many `except` clauses, each with another failure."""
    lines = ["from fastmcp import FastMCP", "from fastmcp.exceptions import ToolError", "", 'mcp = FastMCP("demo")']
    lines += (f"class SomeError{number}(Exception): ..." for number in range(count))
    lines += ["@mcp.tool()", "def work(path: str) -> str:"]
    for number in range(count):
        if number == 0 or not one_try:
            lines += ["    try:", "        open(path)"]
        text = f'f"Error: step {number} failed: {{e}}"'
        lines.append(f"    except SomeError{number} as e:")
        lines.append(f"        return {text}" if returns else f"        raise ToolError({text}) from e")
    return "\n".join([*lines, "    return path", ""])


def timed(folder: Path) -> dict[str, float]:
    """The least processor time that the command takes for each generated file, in several rounds."""
    command = [str(Path(sys.executable).with_name("mcpcore")), "migrate", "."]
    seconds: dict[str, float] = {}
    for one_try in (True, False):
        for returns in (True, False):
            name = f"{'one try' if one_try else 'a try for each'}, {'returns' if returns else 'raises'}"
            (folder / name).mkdir()
            (folder / name / "server.py").write_text(clauses(CLAUSES, one_try=one_try, returns=returns))
            for _ in range(ROUNDS):
                before = os.times()
                done = subprocess.run(command, cwd=folder / name, capture_output=True, text=True, check=True)
                after = os.times()
                assert f"{CLAUSES} places would be converted" in done.stderr
                used = sum(after[2:4]) - sum(before[2:4])
                seconds[name] = round(min(seconds.get(name, used), used), 2)
            print(f"{CLAUSES:,} clauses, {name}: {seconds[name]:.2f} s (limit {LIMIT:g} s)", flush=True)
    return seconds


def table(rows: list[Row]) -> str:
    """The figures as Markdown."""
    total = Row("all", *(sum(getattr(row, field) for row in rows) for field in Row._fields[1:]))  # type: ignore[arg-type]
    lines = [f"| {' | '.join(_COLUMNS)} |", f"|---{'|---:' * (len(_COLUMNS) - 1)}|"]
    for row in [*sorted(rows), total]:
        every = row.converted + row.left
        share = f"{100 * row.converted / every:.0f} %" if every else "no place"
        cells = [row.name, row.files, row.tools, row.converted, row.left, share, row.functions, row.perhaps]
        cells += [row.broken, row.second, f"{row.seconds:.0f}"]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


def main(names: list[str]) -> int:
    """Migrate the named servers, or the cases of the tests."""
    with tempfile.TemporaryDirectory() as folder:
        sources = [Path(name).resolve() for name in names]
        if not sources:
            cases = Path(folder) / "sources" / "cases"
            cases.mkdir(parents=True)
            for case in (ROOT / "tests" / "migrate" / "cases").glob("*.before.py"):
                shutil.copy(case, cases / case.name.replace(".before", ""))
            sources = [cases]
        rows = []
        for source in sources:
            row = measure(source, Path(folder))
            print(row, flush=True)
            rows.append(row)
        seconds = timed(Path(folder))
    text = table(rows)
    print(text)
    if names:
        RESULTS.write_text(f"{HEAD}\n{text}\n", encoding="utf-8")
    times = {"conditions": conditions(), "clauses": CLAUSES, "limit": LIMIT, "seconds": seconds}
    TIMES.write_text(f"{json.dumps(times, indent=2)}\n", encoding="utf-8")
    return int(any(row.broken or row.second for row in rows) or any(used > LIMIT for used in seconds.values()))


HEAD: Final = """# What `mcpcore migrate` does on public servers

Written by `python -m bench.migrate FOLDER…`.

- A place is a `raise` or a `return` by which the function of a tool fails.
- "places left" are those that the report names for somebody to decide, once for each tool.
- "share converted" is the share of the places that are converted.
- "left in functions" counts functions that return results and failures, whose values a tool passes on, for each tool.
- "to look at" counts what may be a failure, such as a text "Key x not found" or a clause that only logs.
- The last columns before the time must be 0: what is written compiles, and a second run changes nothing.
"""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
