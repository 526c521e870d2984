"""Records the contracts and the failures of a process, each once, and merges the records of all processes.

A file that a killed process leaves is complete.
"""

from __future__ import annotations

import json
import os
import site
import sysconfig
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from mcpcore.contract.failure_modes import Contract


class Handler(NamedTuple):
    """A declared handler, by the place of its function. `file` and `line` are empty for a tool without a contract."""

    noun: str
    name: str
    file: str = ""
    line: int = 0


class Recorder:
    """The observer of one process. Until it has a folder, it keeps what it sees."""

    def __init__(self) -> None:
        """Start without a folder."""
        self._contracts: dict[int, tuple[Contract[Any], Handler]] = {}
        self._seen: set[tuple[object, ...]] = set()
        self._lines: list[bytes] = []
        self._file: int | None = None

    def open(self, folder: str) -> None:
        """Write the events so far, and each further event when it happens, to a file of this process in `folder`."""
        os.makedirs(folder, exist_ok=True)  # noqa: PTH103 - loading pathlib would slow the start of each server
        path = os.path.join(folder, f"{os.getpid()}-{os.urandom(4).hex()}{SUFFIX}")  # noqa: PTH118
        # A forked process appends to the same file; a line is one write.
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o600)
        for line in self._lines:
            os.write(self._file, line)
        self._lines.clear()

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def declared(self, noun: str, name: str, function: Callable[..., Any], contract: Contract[Any]) -> None:
        """Record a declaration."""
        code = getattr(function, "__code__", None)
        file = "" if code is None else os.path.abspath(code.co_filename)  # noqa: PTH100
        handler = Handler(noun, name, file, 0 if code is None else code.co_firstlineno)
        # The contract is kept, so that no other object gets its id.
        self._contracts[id(contract)] = contract, handler
        self._write("declared", handler, {entry.reason: entry.code.name for entry in contract})

    def failed(self, surface: str, name: str | None, contract: Contract[Any], code: str, reason: str | None) -> None:
        """Record a failure. A declared reason with another code is both raised and undeclared."""
        key = (id(contract), name if not len(contract) else None, surface, code, reason)
        if key in self._seen:
            return
        self._seen.add(key)
        known = self._contracts.get(id(contract))
        # Failures of tools without a contract all have the same empty one.
        handler = Handler(surface, name or "") if known is None else known[1]
        entry = contract.get(reason)
        if entry is not None:
            self._write("raised", handler, entry.reason)
        if entry is None or entry.code.name != code:
            self._write("undeclared", handler, [code, reason])

    def _write(self, event: str, handler: Handler, facts: object) -> None:
        line = json.dumps([event, handler, facts]).encode() + b"\n"
        if self._file is None:
            self._lines.append(line)
            return
        try:
            os.write(self._file, line)
        except OSError:  # a full disk must not change the answer of a tool
            self.close()


def reason_recorder(folder: str) -> Recorder | None:
    """A recorder into `folder`, for a process that a test started; None if the folder cannot be written."""
    recorder = Recorder()
    try:
        recorder.open(folder)
    except OSError:
        return None
    return recorder


SUFFIX: Final = ".jsonl"


@dataclass(slots=True, kw_only=True)
class Covered:
    """The coverage of one handler."""

    handler: Handler
    declared: dict[str, str] = field(default_factory=dict)
    """The code of each declared reason."""

    raised: set[str] = field(default_factory=set)
    """The declared reasons that were raised."""

    undeclared: set[tuple[str, str | None]] = field(default_factory=set)
    """The codes, each with its reason, that the contract does not declare."""

    sites: dict[str, list[tuple[str, int]]] = field(default_factory=dict)
    """The files and lines that would raise each reason, as far as the linter knows."""

    @property
    def missing(self) -> list[str]:
        """The declared reasons that were not raised, in order."""
        return [reason for reason in self.declared if reason not in self.raised]


def merged(folder: Path) -> list[Covered]:
    """The coverage of all handlers that the processes recorded in `folder`.

    The last line of a process that was killed while it wrote may be incomplete; it is left out.
    """
    handlers: dict[Handler, Covered] = {}
    for path in sorted(folder.glob(f"*{SUFFIX}")):
        for line in path.read_bytes().splitlines():
            try:
                event, key, facts = json.loads(line)
            except ValueError:
                continue
            handler = Handler(*key)
            covered = handlers.setdefault(handler, Covered(handler=handler))
            if event == "declared":
                covered.declared.update(facts)
            elif event == "raised":
                covered.raised.add(facts)
            else:
                code, reason = facts
                covered.undeclared.add((code, reason))
    # Without a contract, a handler is there only for the codes that it raised.
    kept = [covered for covered in handlers.values() if covered.declared or covered.undeclared]
    return sorted(kept, key=lambda covered: (covered.handler.file, covered.handler.line, covered.handler))


_INSTALLED: Final = tuple(
    Path(folder).resolve()
    for folder in {*site.getsitepackages(), *(sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib"))}
)


def within(handlers: Iterable[Covered], sources: Sequence[Path]) -> list[Covered]:
    """The handlers of files in `sources`; without any, all handlers except those of installed packages.

    A tool without a contract has no known file, so that it is left out only if there are `sources`.
    """
    kept = []
    for covered in handlers:
        path = Path(covered.handler.file).resolve() if covered.handler.file else None
        if sources:
            keep = path is not None and any(path.is_relative_to(source) for source in sources)
        else:
            keep = path is None or not any(path.is_relative_to(folder) for folder in _INSTALLED)
        if keep:
            kept.append(covered)
    return kept
