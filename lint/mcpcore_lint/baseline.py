"""Findings that are known already: written down once, and not told again until they change."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mcpcore_lint.diagnostics import Diagnostic

VERSION: Final = 1


class BaselineError(Exception):
    """A baseline that cannot be read; the text says which and what next."""


def fingerprints(diagnostics: Sequence[Diagnostic], source: Callable[[str], str | None]) -> list[str]:
    """A mark for each finding that stays the same when lines move.

    It is made of the file, the rule, the tool and the text of the line, without its indentation; findings alike in all
    of these are numbered.
    """
    lines: dict[str, list[str]] = {}
    seen: Counter[str] = Counter()
    marks = []
    for each in diagnostics:
        if each.path not in lines:
            lines[each.path] = (source(each.path) or "").splitlines()
        text = lines[each.path]
        line = text[each.span.line - 1].strip() if 0 < each.span.line <= len(text) else each.message
        base = "\0".join((each.path, each.rule, each.tool or "", line))
        seen[base] += 1
        marks.append(hashlib.sha256(f"{base}\0{seen[base]}".encode(errors="surrogatepass")).hexdigest()[:32])
    return marks


def read(path: str) -> set[str]:
    """The marks in a baseline.

    Raises:
        BaselineError: If it is not one.
    """
    try:
        with open(path, encoding="utf-8") as file:
            found: Any = json.load(file)
    except FileNotFoundError:
        raise BaselineError(
            f"{path}: there is no such baseline; make it with --baseline {path} --write-baseline"
        ) from None
    except (OSError, ValueError) as error:
        raise BaselineError(f"{path}: cannot be read as a baseline: {error}") from error
    if not isinstance(found, dict) or found.get("version") != VERSION or not isinstance(found.get("findings"), list):
        raise BaselineError(f"{path}: not a baseline of version {VERSION}; write it anew with --write-baseline")
    return {str(each.get("fingerprint")) for each in found["findings"] if isinstance(each, dict)}


def write(path: str, diagnostics: Sequence[Diagnostic], source: Callable[[str], str | None]) -> None:
    """Write the findings down, in place of what was there.

    Raises:
        OSError: If it cannot be written.
    """
    findings = [
        {"path": each.path, "rule": each.rule, "tool": each.tool, "message": each.message, "fingerprint": mark}
        for each, mark in zip(diagnostics, fingerprints(diagnostics, source), strict=True)
    ]
    write_text(path, json.dumps({"version": VERSION, "findings": findings}, indent=2, ensure_ascii=False) + "\n")


def write_text(path: str, text: str) -> None:
    """Write a file whole or not at all.

    Raises:
        OSError: If it cannot be written.
    """
    write_bytes(path, text.encode("utf-8", "surrogatepass"))


def write_bytes(path: str, content: bytes) -> None:
    """Replace a file whole or not at all, keeping its mode; of a link, the file that it points to.

    Raises:
        OSError: If it cannot be written.
    """
    target = os.path.realpath(path)
    folder = os.path.dirname(target)
    handle, temporary = tempfile.mkstemp(prefix=".mcpcore-", dir=folder)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        try:
            mode = os.stat(target).st_mode & 0o7777
        except FileNotFoundError:
            mask = os.umask(0)
            os.umask(mask)
            mode = 0o666 & ~mask
        os.chmod(temporary, mode)
        os.replace(temporary, target)
    except BaseException:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise
