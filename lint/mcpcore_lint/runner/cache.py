"""Keeps results between runs, in one file for each project.

A result holds for the content of its file, the files that were consulted for it, the settings, the linter's own files
and the Python version. A cache that does not match, cannot be read or is damaged is ignored.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Container, Mapping
from typing import Any, Final, TypeAlias, TypeVar

from mcpcore_lint.diagnostics import Change, Diagnostic, Edit, Failure, Fix, Related, Severity, Span
from mcpcore_lint.records import ToolRecord
from mcpcore_lint.runner import memo
from mcpcore_lint.runner.files import content_of
from mcpcore_lint.runner.groups import Walk, state_of
from mcpcore_lint.runner.results import FileResult, Report
from mcpcore_lint.settings import fingerprint

T = TypeVar("T", FileResult, Report)
_State: TypeAlias = "tuple[int, int, int, bytes]"
"""The modification time, size, inode and digest of a file."""


_TICK: Final = 20_000_000
"""Nanoseconds by which the times of files may lag behind the clock, since systems take them at ticks."""


class Cache:
    """The cache of one project with one set of settings."""

    def __init__(self, walk: Walk, *, every: bool) -> None:
        """Load the cache for the files of a run. `every` tells whether it checks files that never mention MCP too."""
        folder = walk.settings.cache_dir
        folder = memo.folder() if folder is None else os.path.abspath(folder)
        self.file = os.path.join(folder, f"{memo.checksum(os.fsencode(walk.root)).hex()}.bin")
        self._files = walk.files
        self._started = time.time_ns()
        self._installation = _installation()
        self._key = repr((self._installation, sys.version, fingerprint(walk.settings), walk.root, every))
        self._data: dict[str, Any] = memo.load(self.file, self._key) or {}
        if any(_time_and_size(plugin[0]) != plugin for plugin in self._data.get("plugins", ())):
            self._data = {}

    def valid(self, contents: Container[str]) -> dict[str, FileResult]:
        """The results that still hold, to be thawed. Those of files with other `contents` than on disk do not."""
        states: dict[str, _State | None] = self._data.get("states", {})
        changed = {path for path, state in states.items() if path in contents or not self._holds(path, state)}
        changed |= self._appeared()
        results: dict[str, FileResult] = {}
        for path, packed in self._data.get("results", {}).items():
            state = states[path]
            if path not in self._files or path in changed or state is None:
                continue
            result = FileResult("", state[-1]) if packed is None else FileResult(*packed)
            if not changed or (changed.isdisjoint(result.consulted) and changed.isdisjoint(result.missing)):
                results[path] = result
        return results

    def _holds(self, path: str, state: _State | None) -> bool:
        """Whether a file has the same content, or is still missing."""
        now = self._files.get(path) or state_of(path)
        if now is None or state is None:
            return now is None and state is None
        if now == state[:3]:
            return True
        return now.size == state[1] and memo.checksum(content_of(path) or b"") == state[-1]

    def _appeared(self) -> set[str]:
        """The modules and requirement files that did not exist before and do now."""
        appeared: set[str] = set()
        for folder, (mtime, *names) in self._data.get("absent", {}).items():
            if _time_and_size(folder)[1] != mtime:
                paths = {name: os.path.join(folder, name) for name in names}
                appeared.update(
                    path for name, path in paths.items() if os.path.isfile(f"{path}.py") or os.path.exists(path)
                )
        return appeared

    def report(self) -> Report | None:
        """The report of the last run, for a run over the same files in which all results still hold."""
        data = self._data
        same = data.get("report") is not None and data["results"].keys() == self._files.keys()
        return thawed(Report(*data["report"])) if same else None

    def inputs(self) -> tuple[str, ...] | None:
        """The files and folders that the cached report depends on; None without a cached report."""
        data = self._data
        if data.get("report") is None:
            return None
        return (*data["states"], *data["absent"], *(path for path, *_ in (*data["plugins"], *self._installation)))

    def save(self, results: Mapping[str, FileResult], report: Report) -> None:
        """Replace the cache. Files that failed are checked again next time."""
        kept = {path: result for path, result in results.items() if result.digest and not result.failures}
        absent: dict[str, list[Any]] = {}
        for path in sorted({path for result in kept.values() for path in result.missing}):
            folder, name = os.path.split(path)
            mtime = _time_and_size(folder)[1]
            # In a folder that changed during the run, a module may have appeared after it was looked for.
            absent.setdefault(folder, [mtime if mtime < self._started - _TICK else 0]).append(name)
        consulted = {path: None for result in kept.values() for path in result.consulted}
        data = {
            "states": {path: self._state(path, kept.get(path)) for path in consulted | dict.fromkeys(kept)},
            "results": {
                path: _packed(result) if result.path or result.missing else None for path, result in kept.items()
            },
            "absent": absent,
            "plugins": _plugins() if "mcpcore_lint.rules" in sys.modules else self._data.get("plugins", ()),
            # Whether a tool exists that a finding misses is looked up in files beside those of the run.
            "report": _plain(report)
            if len(kept) == len(results)
            and not any(finding.missing_tool for result in results.values() for finding in result.diagnostics)
            else None,
        }
        self._data = data if memo.store(self.file, self._key, data) else {}

    def _state(self, path: str, result: FileResult | None) -> _State | None:
        """The state of a file, with the content that was checked; None if it cannot be read."""
        before, now = self._files.get(path), state_of(path)
        if now is None:
            return (0, 0, 0, b"") if before else None
        digest = memo.checksum(content_of(path) or b"") if result is None else result.digest
        # A file that changed so recently may change again without getting another time.
        recent = now.mtime_ns > time.time_ns() - memo.RACY_NS
        if now.mtime_ns > self._started if before is None else now != before:
            # It changed during the run. The results may come from its old content, so no state matches.
            recent, digest = True, b""
        return (0 if recent else now.mtime_ns, now.size, now.inode, digest)


def _installation() -> tuple[tuple[str, int, int], ...]:
    """The state of the linter's own files, and of the places where rules may be installed."""
    top = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    paths = [os.path.join(folder, name) for folder, _, names in os.walk(top) for name in names]
    own = [path for path in paths if path.endswith((".py", ".json"))]
    # Installing a package changes the time of its folder, and may add rules by an entry point.
    places = [path for path in sys.path if path.endswith(("site-packages", "dist-packages"))]
    return tuple(map(_time_and_size, sorted(own) + places))


def _plugins() -> tuple[tuple[str, int, int], ...]:
    """The modules of other packages' rules, which their authors edit without installing anything."""
    from mcpcore_lint.rule import is_ours
    from mcpcore_lint.rules import all_rules

    modules = {type(rule).__module__ for rule in all_rules().values() if not is_ours(rule)}
    files = {getattr(sys.modules.get(module), "__file__", None) for module in modules}
    return tuple(_time_and_size(file) for file in sorted(filter(None, files)))


def _time_and_size(path: str) -> tuple[str, int, int]:
    state = state_of(path)
    return (path, state.mtime_ns, state.size) if state is not None else (path, 0, 0)


# -- values that marshal can write: plain tuples, numbers and texts ----------------------------------------------------


def _plain(value: Any) -> Any:
    """Named tuples as tuples, and severities as numbers."""
    if isinstance(value, tuple):
        return tuple([_plain(part) for part in value])
    return int(value) if isinstance(value, Severity) else value


def _packed(result: FileResult) -> Any:
    # marshal writes a text once if it is the same object, and many files consult the same ones.
    consulted, missing = (tuple(map(sys.intern, paths)) for paths in (result.consulted, result.missing))
    return _plain(result._replace(consulted=consulted, missing=missing))


def thawed(item: T) -> T:
    """A result or a report from the cache, whose parts are plain tuples."""
    return item._replace(
        diagnostics=tuple(_diagnostic(*fields) for fields in item.diagnostics),
        failures=tuple(Failure(*fields) for fields in item.failures),
        tools=tuple(_record(*fields) for fields in item.tools),
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
