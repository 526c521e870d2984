"""Fixes on disk without the command line."""

from __future__ import annotations

import ast

from mcpcore_lint.config import Config
from mcpcore_lint.runner.engine import fix_source
from mcpcore_lint.runner.files import real_paths
from mcpcore_lint.runner.fix import fix_groups
from mcpcore_lint.runner.groups import Group, Walk


def fix_paths(paths, root, settings, *, unsafe=False):
    """Fix files below a folder; the fixed files, and the result of checking them again."""
    config = Config(str(root), settings=settings)
    group = Group(config, tuple(map(str, paths)), Walk(config.settings, str(root)).run(paths))
    return fix_groups([group], lambda result: result.diagnostics, unsafe=unsafe, named=real_paths(paths), cache=False)


def fix_for_good(code, *, path="server.py", **options):
    """The outcome of a fix of valid code, which still parses and which a second run does not change."""
    fixed, report = fix_source(code, path=path, **options)
    assert not report.failures
    ast.parse(fixed.after)
    again, _ = fix_source(fixed.after, path=path, **options)
    assert fixed.after == again.after
    return fixed, report
