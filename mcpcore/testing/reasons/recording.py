"""Records the contracts and the failures of a process, each once, in a file that a killed process leaves complete."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

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
