"""Migrates sources in a folder, for the tests of `mcpcore migrate`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mcpcore_lint.runner.migrate import migrate
from mcpcore_lint.runner.outcome import Migration

from tests.files import write_files

CASES = Path(__file__).with_name("cases")


def migrated(folder: Path, source: str | bytes, *, name: str = "server.py", rules: tuple[str, ...] = ()) -> str:
    """The text of a file after it was migrated."""
    return run(folder, {name: source}, rules=rules)[1][name]


def run(
    folder: Path, files: dict[str, str | bytes], *, rules: tuple[str, ...] = (), write: bool = True
) -> tuple[Migration, dict[str, str]]:
    """Migrate files in a folder; the outcome, and the files afterwards."""
    (folder / ".git").mkdir(parents=True, exist_ok=True)
    write_files(folder, files)
    outcome = migrate([str(folder)], rules=rules, write=write)
    return outcome, {name: (folder / name).read_bytes().decode(errors="replace") for name in files}


def report(migration: Migration) -> list[str]:
    """The lines of the report, with the names of the files alone."""
    return [left.text(Path(left.path).name, left.line) for left in migration.left]


def executed(source: str) -> dict[str, Any]:
    """What a migrated server defines, without starting it."""
    space: dict[str, Any] = {"__name__": "server"}
    exec(compile(source, "server.py", "exec"), space)
    return space
