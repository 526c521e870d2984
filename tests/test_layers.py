"""The packages respect their layers, and the runtime uses no unlisted private names of libraries."""

from __future__ import annotations

import ast
import importlib
import inspect
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from mcp.server.mcpserver import MCPServer

import mcpcore
from mcpcore.integrations.fastmcp.private import PRIVATE_USES as FASTMCP_USES
from mcpcore.sdk.private import PRIVATE_USES as SDK_USES, PrivateUse

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "mcpcore"
SEAMS = ("sdk", "integrations")


def test_imports_keep_to_the_layers() -> None:
    """The contracts in pyproject.toml, which `make check` also reads, are satisfied."""
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command; lint_imports_command()"]
    done = subprocess.run([*command, "--no-cache", "--no-logo"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert 0 == done.returncode, done.stdout + done.stderr


def test_the_functions_passed_in_from_above_exist() -> None:
    """A module that requests a function of a higher layer gets one."""
    for name in mcpcore._FROM_ABOVE:
        assert callable(mcpcore.provided(name)), f"mcpcore._FROM_ABOVE names {name}, which is not there"


def _has(use: PrivateUse) -> bool:
    """Return whether the installed library still has the attribute."""
    module, _, name = use.owner.partition(":")
    owner = getattr(importlib.import_module(module), name, None)
    if owner is None or not use.attribute:
        return owner is not None
    if hasattr(owner, use.attribute) or use.attribute in inspect.get_annotations(owner):
        return True
    if owner is MCPServer:
        return hasattr(MCPServer("probe"), use.attribute)
    # The attribute is set in a method, so the class's source is read, since an instance may be hard to create.
    return f"self.{use.attribute}" in inspect.getsource(owner)


@pytest.mark.parametrize("use", [*SDK_USES, *FASTMCP_USES], ids=lambda use: f"{use.owner}.{use.attribute}")
def test_each_private_use_is_still_there(use: PrivateUse) -> None:
    """If a release of the SDK or FastMCP moves a private name, this fails and names the code to review."""
    library = "mcp" if use.owner.startswith("mcp.") else "fastmcp"
    optional = library == "fastmcp" and version("fastmcp").startswith("4.0") and use.attribute == ""
    assert _has(use) or optional, (
        f"{library} {version(library)} has no {use.owner}.{use.attribute} any more; it was read in {use.version}. "
        f"mcpcore uses it in {use.used_in}: {use.reason}. Read the new release, and change that module and the entry."
    )
    for name in use.used_in.split(", "):
        source = PACKAGE.joinpath(*name.split(".")).with_suffix(".py").read_text()
        assert (use.attribute or use.owner.partition(":")[2]) in source, f"{name} no longer uses {use.attribute}"


def _sources() -> dict[Path, ast.Module]:
    return {path: ast.parse(path.read_text()) for path in sorted(PACKAGE.rglob("*.py"))}


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def _own_names(trees: dict[Path, ast.Module]) -> set[str]:
    """Return the private names that mcpcore itself defines: functions, classes, variables, attributes and slots."""
    names: set[str] = set()
    for node in (node for tree in trees.values() for node in ast.walk(tree)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            # `Server` replaces its own resource manager, but the attribute belongs to the SDK.
            names |= {node.attr} - {use.attribute for use in SDK_USES}
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.Assign) and any(
            isinstance(name, ast.Name) and name.id == "__slots__" for name in node.targets
        ):
            names |= {part.value for part in ast.walk(node.value) if isinstance(part, ast.Constant)}
    return names


def _private_reads(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Return the lines that read a private attribute or import a private name of a library, also by `getattr`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and _is_private(node.attr):
            yield node.lineno, node.attr
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in LOOK_UPS:
            for argument in node.args:
                if isinstance(argument, ast.Constant) and _is_private(str(argument.value)):
                    yield node.lineno, str(argument.value)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in LIBRARIES:
            parts = [*(node.module or "").split("."), *(alias.name for alias in node.names)]
            yield from ((node.lineno, part) for part in parts if _is_private(part))


LIBRARIES = ("mcp", "mcp_types", "fastmcp")
LOOK_UPS = ("getattr", "hasattr", "attrgetter")
PYTHON = {"_exit", "_getframe", "_replace", "_asdict", "_fields", "_make"}
"""Public functions of Python by private names."""


OTHERS = {"_raw_paths", "_parts", "_content", "_body", "_content_consumed", "_real_instrument"}
"""Private parts of pathlib, of HTTP libraries and of OpenTelemetry; each has a default where it is read."""


def test_every_private_use_is_listed() -> None:
    """Modules import and read only the private library names in the two lists."""
    trees = _sources()
    own = _own_names(trees) | PYTHON | OTHERS
    listed = {use.attribute for use in (*SDK_USES, *FASTMCP_USES)}
    unlisted = [
        f"{path.relative_to(ROOT)}:{line}: {name}"
        for path, tree in trees.items()
        for line, name in _private_reads(tree)
        if name not in own and not (name in listed and path.relative_to(PACKAGE).parts[0] in SEAMS)
    ]
    assert [] == unlisted, "private parts of a library are used, but not listed in a PRIVATE_USES"


def test_every_private_method_that_is_overridden_is_listed() -> None:
    """A `Server` method with the same name as a private SDK method replaces it."""
    listed = {use.attribute for use in SDK_USES}
    for path in sorted((PACKAGE / "sdk").glob("*.py")):
        module: Any = importlib.import_module(f"mcpcore.sdk.{path.stem}" if path.stem != "__init__" else "mcpcore.sdk")
        for cls in vars(module).values():
            if not isinstance(cls, type) or not cls.__module__.startswith("mcpcore.sdk"):
                continue
            inherited = {name for base in cls.__mro__ if base.__module__.startswith("mcp.") for name in vars(base)}
            for name in filter(_is_private, vars(cls)):
                if name.startswith("_abc_") or name not in inherited:
                    continue
                assert name in listed, f"{cls.__qualname__}.{name} overrides a private method of the SDK"
