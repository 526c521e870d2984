"""Migrates copies of real servers: `python -m bench.migrate FOLDER…`, with a folder or a git directory for each server.

Counts the places where tools fail that `mcpcore migrate` converts and leaves, the files that no longer compile, and
what a second run would change. Writes the figures to bench/results/migrate.md. Without folders, the cases of the tests
are migrated, and the figures are only printed.

Then measures the command on generated files, in which one tool has 1,600 `except` clauses, beside libcst, which reads
and writes the same file once, and writes the figures to bench/results/migrate.json. Exits with 1 if something does not
compile, a second run changes something, or the command takes too many times as long as libcst.

`servers.json` names the public servers of the measurement that people judge. The list is older than the first run on
any of them, and the command was not tuned on them.
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
FIGURES: Final = ROOT / "bench" / "results" / "migrate.json"
CLAUSES: Final = 1_600
# Reads a file and writes it as it was.
PEER: Final = [sys.executable, "-c", "import libcst; print(libcst.parse_module(open('server.py').read()).code)"]
# How many times as much processor time as that the whole command may take.
TIMES: Final = 4.0
ROUNDS: Final = 5
# How the report names a function that returns results and failures.
PASSED_ON: Final = "() returns a failure, and the tool passes it on"


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
    places = [place for place in first.left if place.tools]
    certain = [place for place in places if not place.perhaps]
    functions = [place for place in certain if place.pattern.endswith(PASSED_ON)]
    broken = sum(not _compiles(Path(file.path)) for file in first.files)
    second = migrate([str(target)])
    return Row(
        name,
        len(first.files),
        first.tools,
        len(first.converted),
        sum(len(place.tools) for place in certain if place not in functions),
        sum(len(place.tools) for place in functions),
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
    lines = ["import errors", "from fastmcp import FastMCP", "from fastmcp.exceptions import ToolError", ""]
    lines += ['mcp = FastMCP("demo")', "", "", "@mcp.tool()", "def work(path: str) -> str:"]
    for number in range(count):
        if number == 0 or not one_try:
            lines += ["    try:", "        open(path)"]
        text = f'f"Error: step {number} is closed: {{e}}"'
        lines.append(f"    except errors.SomeError{number} as e:")
        lines.append(f"        return {text}" if returns else f"        raise ToolError({text}) from e")
    return "\n".join([*lines, "    return path", ""])


def used(command: list[str], folder: Path) -> float:
    """The seconds of processor time of a command."""
    before = os.times()
    subprocess.run(command, cwd=folder, capture_output=True, check=True)
    return sum(os.times()[2:4]) - sum(before[2:4])


def timed(folder: Path) -> dict[str, dict[str, float]]:
    """The least processor time of the command for each generated file, and of libcst alone, in turns."""
    ours = [str(Path(sys.executable).with_name("mcpcore")), "migrate", "."]
    figures: dict[str, dict[str, float]] = {}
    for one_try in (True, False):
        for returns in (True, False):
            name = f"{'one try' if one_try else 'a try for each'}, {'returns' if returns else 'raises'}"
            (folder / name).mkdir()
            (folder / name / "server.py").write_text(clauses(CLAUSES, one_try=one_try, returns=returns))
            rounds = [(used(ours, folder / name), used(PEER, folder / name)) for _ in range(ROUNDS)]
            seconds, peer = map(min, zip(*rounds, strict=True))
            figures[name] = {"seconds": round(seconds, 2), "libcst": round(peer, 2), "times": round(seconds / peer, 1)}
            print(f"{CLAUSES:,} clauses, {name}: {figures[name]} (at most {TIMES:g} times)", flush=True)
    return figures


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
        figures = timed(Path(folder))
    text = table(rows)
    print(text)
    if names:
        _, heading, judged = RESULTS.read_text(encoding="utf-8").partition("\n## ")
        RESULTS.write_text(f"{HEAD}\n{text}\n{heading}{judged}", encoding="utf-8")
    table_of = {"conditions": conditions(), "clauses": CLAUSES, "most times": TIMES, "files": figures}
    FIGURES.write_text(f"{json.dumps(table_of, indent=2)}\n", encoding="utf-8")
    slow = any(figure["times"] > TIMES for figure in figures.values())
    return int(slow or any(row.broken or row.second for row in rows))


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
