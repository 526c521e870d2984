"""Labelled sentences, from the files in `bench/classify/sentences`.

A file holds one sentence per line, under a line such as `== NOT_FOUND` with the label.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from bench.classify.case import Case, said
from mcpcore.contract.codes import ErrorCode as C

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

FOLDER: Final = Path(__file__).parents[1] / "sentences"


class SyncError(Exception):
    """An application's own exception, which no table knows."""


def _plain(sentence: str) -> type[Exception]:
    return RuntimeError if len(sentence) % 2 else Exception


def _own(_: str) -> type[Exception]:
    return SyncError


FILES: Final[dict[str, Callable[[str], type[Exception]]]] = {
    "applications": _own,
    "servers_and_clients": _own,
    "ordinary": _plain,
    "short": _plain,
    "tool_servers": _plain,
    "chats_and_logs": _plain,
    "program_errors": _plain,
    "systems": _plain,
    "services": _plain,
    "services_and_traps": _plain,
    "terse": _plain,
    "misleading_names": _plain,
    "service_error_names": _plain,
    "exceptions_as_text": _plain,
    "exceptions_of_other_languages": _plain,
}
"""The exception class to raise for a sentence of each file."""


def _labelled(file: str) -> Iterator[tuple[C, str]]:
    label = C.INTERNAL_ERROR
    for line in (FOLDER / f"{file}.txt").read_text(encoding="utf-8").split("\n"):
        if line.startswith("== "):
            label = C[line[3:]]
        elif line:
            yield label, line


def _class_names() -> Iterator[tuple[str, str, C]]:
    """The name of an application's own class, its message, and the label."""
    for line in (FOLDER / "class_names.txt").read_text(encoding="utf-8").split("\n"):
        if line:
            name, message, label = line.split("|")
            yield name, message, C[label]


CASES: list[Case] = [
    *(
        said(label, kind_of(sentence), sentence)
        for file, kind_of in FILES.items()
        for label, sentence in _labelled(file)
    ),
    *(said(label, type(name, (Exception,), {"__module__": "app"}), message) for name, message, label in _class_names()),
]
