"""Imports that fail in no installation of a project, since it requires the packages."""

import ast
from collections.abc import Sequence
from typing import Final

from mcpcore_lint.engine.syntax.module import Module
from mcpcore_lint.engine.syntax.requirements import package_name
from mcpcore_lint.engine.syntax.scopes import Binding, Scope
from mcpcore_lint.model import CatchSite
from mcpcore_lint.rules._bodies import inside

_ERRORS: Final = frozenset({"ImportError", "ModuleNotFoundError"})


def is_for_required(catch: CatchSite, module: Module) -> bool:
    """Whether a clause is only for imports of packages that the project requires."""
    return (
        isinstance(catch.node, ast.ExceptHandler)
        and _is_for_imports(catch.node)
        and _are_required(catch.try_body, module)
    )


def lacks_required(test: ast.expr, scope: Scope, *, holds: bool) -> bool:
    """Whether the result of a test means that a package is missing that the project requires.

    `if requests is None`, where a clause for the failed import sets it to None; `if not HAS_REQUESTS`
    """
    match test:
        case ast.Name(id=name):
            is_missing = not holds
        case ast.Compare(
            left=ast.Name(id=name), ops=[ast.Is() | ast.IsNot() as operator], comparators=[ast.Constant(value=None)]
        ):
            is_missing = holds is isinstance(operator, ast.Is)
        case _:
            return False
    where, bindings = scope.lookup(name) or (scope, [])
    blocks = where.module.tree.body if is_missing and where.is_module else ()
    return any(isinstance(block, ast.Try) and _always_sets(block, bindings, where.module) for block in blocks)


def _always_sets(block: ast.Try, bindings: Sequence[Binding], module: Module) -> bool:
    """Whether a name is what a block imports, or says that the block did, wherever the requirements are installed."""
    done = [*block.body, *block.orelse]
    good = [at for at in bindings if at.kind == "import" or getattr(at.value, "value", None)]
    # Only a clause, or a line before, says that a package is missing.
    return (
        all(map(_is_for_imports, block.handlers))
        and _are_required(block.body, module)
        and bool(good)
        and all(inside(at.node, done) for at in good)
        and all(
            inside(at.node, block.handlers) or getattr(at.node, "lineno", block.lineno) < block.lineno
            for at in bindings
            if at not in good
        )
    )


def _is_for_imports(clause: ast.ExceptHandler) -> bool:
    kinds = getattr(clause.type, "elts", [clause.type])
    return {getattr(kind, "id", "") for kind in kinds} <= _ERRORS


def _are_required(statements: Sequence[ast.stmt], module: Module) -> bool:
    """Whether statements only import packages that the project requires, and say so."""
    packages = module.project.packages_required(module)
    names: list[str] = []
    for statement in statements:
        match statement:
            case ast.Import(names=aliases):
                names += [alias.name for alias in aliases]
            case ast.ImportFrom(module=str(name), level=0):
                names.append(name)
            case ast.Assign(value=ast.Constant()):
                continue
            case _:
                return False
    return bool(names) and all(package_name(name.partition(".")[0]) in packages for name in names)
