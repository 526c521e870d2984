"""Fixes on disk without the command line."""

from __future__ import annotations

from mcpcore_lint.config import Config
from mcpcore_lint.runner.files import real_paths
from mcpcore_lint.runner.fix import fix_groups
from mcpcore_lint.runner.groups import Group, Walk


def fix_paths(paths, root, settings, *, unsafe=False):
    """Fix files below a folder; the fixed files, and the result of checking them again."""
    config = Config(str(root), settings=settings)
    group = Group(config, tuple(map(str, paths)), Walk(config.settings, str(root)).run(paths))
    return fix_groups([group], lambda result: result.diagnostics, unsafe=unsafe, named=real_paths(paths), cache=False)
