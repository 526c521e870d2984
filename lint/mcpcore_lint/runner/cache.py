"""Keeps results between runs, in one file for each project.

A result holds for the content of its file, the files that were consulted for it, the settings, the linter's own files
and the Python version. A cache that does not match, cannot be read or is damaged is ignored.
"""

from __future__ import annotations

import os
import sys
import time
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from mcpcore_lint.diagnostics import Change, Diagnostic, Edit, Failure, Fix, Related, Severity, Span
from mcpcore_lint.records import ToolRecord
from mcpcore_lint.runner import memo
from mcpcore_lint.runner.results import FileResult, Report

if TYPE_CHECKING:
    from mcpcore_lint.runner.discover import Found
    from mcpcore_lint.settings import Settings


def content_hash(raw: bytes) -> bytes:
    """Identifies the content of a file."""
    return blake2b(raw, digest_size=16).digest()


def folder(settings: Settings) -> str:
    """The folder of the cache."""
    return memo.folder() if settings.cache_dir is None else os.path.abspath(settings.cache_dir)


def _installation() -> tuple[tuple[tuple[str, int, int], ...], tuple[tuple[str, int], ...], str]:
    """The state of the linter's own files, of the places where rules may be installed, and the Python version."""
    files: list[tuple[str, int, int]] = []
    stack = [os.path.dirname(os.path.dirname(os.path.abspath(__file__)))]
    while stack:
        with os.scandir(stack.pop()) as scan:
            for entry in scan:
                if entry.is_dir(follow_symlinks=False):
                    if entry.name != "__pycache__":
                        stack.append(entry.path)
                elif entry.name.endswith((".py", ".json")):
                    stat = entry.stat()
                    files.append((entry.path, stat.st_mtime_ns, stat.st_size))
    # Installing a package changes the time of its folder, and may add rules by an entry point.
    places = [
        (path, os.stat(path).st_mtime_ns)
        for path in sys.path
        if path.endswith(("site-packages", "dist-packages")) and os.path.exists(path)
    ]
    return tuple(sorted(files)), tuple(places), sys.version


class Cache:
    """The cache of one project with one set of settings. `data` is empty if there is nothing that can be used."""

    def __init__(self, root: str, settings: Settings) -> None:
        from mcpcore_lint.settings import fingerprint

        name = blake2b(os.fsencode(root), digest_size=12).hexdigest()
        self.file = os.path.join(folder(settings), f"{name}.bin")
        self._installation = _installation()
        self.key = repr((self._installation, fingerprint(settings), root))
        data: dict[str, Any] = memo.load(self.file, self.key) or {}
        unchanged = all(_state(plugin[0]) == plugin for plugin in data.get("plugins", ()))
        self.data = data if unchanged else {}

    def inputs(self) -> tuple[str, ...] | None:
        """What the cached report depends on in addition to its files; None without a cached report."""
        data = self.data
        if data.get("report") is None:
            return None
        files, places, _ = self._installation
        states = (*data["plugins"], *files, *places)
        return (*data["outside"], *data["absent"], *(state[0] for state in states))

    def save(self, data: dict[str, Any]) -> None:
        """Replace the cache."""
        data["plugins"] = _plugins() if "mcpcore_lint.rules" in sys.modules else self.data.get("plugins", ())
        self.data = data if memo.store(self.file, self.key, data) else {}


def _plugins() -> tuple[tuple[str, int, int], ...]:
    """The modules of other packages' rules, which their authors edit without installing anything."""
    from mcpcore_lint.rules import all_rules

    names = {type(rule).__module__ for rule in all_rules().values()}
    files = {
        file
        for name in names
        if not name.startswith("mcpcore_lint.") and (file := getattr(sys.modules.get(name), "__file__", None))
    }
    return tuple(_state(file) for file in sorted(files))


def _state(path: str) -> tuple[str, int, int]:
    try:
        stat = os.stat(path)
    except OSError:
        return (path, 0, 0)
    return (path, stat.st_mtime_ns, stat.st_size)


def trusted(found: Found) -> int:
    """The modification time to remember; 0 if it is so recent that another change could have the same time."""
    return 0 if found.mtime_ns > time.time_ns() - memo.RACY_NS else found.mtime_ns


# ---------------------------------------------------------------------------------------------------------------------
# Values that marshal can write: plain tuples, numbers and texts.
# ---------------------------------------------------------------------------------------------------------------------


def _plain(value: Any) -> Any:
    """Named tuples as tuples, and severities as numbers."""
    if isinstance(value, tuple):
        return tuple([_plain(part) for part in value])
    return int(value) if isinstance(value, Severity) else value


def pack_result(result: FileResult) -> Any:
    """The result of a file, for marshal."""
    return _plain(result)


def unpack_result(packed: Any) -> FileResult:
    """The result of a file."""
    result = FileResult(*packed)
    return result._replace(
        diagnostics=tuple(_diagnostic(*each) for each in result.diagnostics),
        failures=tuple(Failure(*each) for each in result.failures),
        tools=tuple(_record(*each) for each in result.tools),
    )


def pack_report(report: Report) -> Any:
    """A report, for marshal."""
    return _plain(report._replace(inputs=None, judged=0))


def unpack_report(packed: Any) -> Report:
    """A report."""
    report = Report(*packed)
    return report._replace(
        diagnostics=tuple(_diagnostic(*each) for each in report.diagnostics),
        tools=tuple(_record(*each) for each in report.tools),
    )


def _diagnostic(
    rule: str, severity: int, path: str, span: Any, message: str, help_: str, related: Any, fix: Any, *rest: Any
) -> Diagnostic:
    places = tuple(Related(where, Span(*at), text) for where, at, text in related)
    if fix is not None:
        title, edits, safety = fix
        fix = Fix(title, tuple((Edit if len(edit) == 3 else Change)(*edit) for edit in edits), safety)
    return Diagnostic(rule, Severity(severity), path, Span(*span), message, help_, places, fix, *rest)


def _record(*fields: Any) -> ToolRecord:
    record = ToolRecord(*fields)
    return record._replace(span=Span(*record.span))
