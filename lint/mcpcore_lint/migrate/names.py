"""How the names that a migrated file needs are spelled in it, and the imports that it lacks."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from mcpcore_lint.codemods.edits import import_edit, import_name, name_order

if TYPE_CHECKING:
    from mcpcore_lint.diagnostics import Edit
    from mcpcore_lint.engine.syntax.module import Module

_OTHERWISE: Final = {"Context": "ToolContext", "tool": "contract_tool", "Server": "ContractServer"}
"""The local name of an import if its own name is taken."""


class Names:
    """The imports of one file."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._wanted: dict[tuple[str, str], str] = {}
        """The names to import, each with its spelling in the file."""
        self.spelled: set[tuple[str, str]] = set()
        """The names that were asked for, and would be imported, since somebody cleared this."""

    def spell(self, package: str, name: str) -> str:
        """The spelling of a name in the file. A name that is not imported yet is noted."""
        known = self._wanted.get((package, name))
        self.spelled.add((package, name))
        if known is not None:
            return known
        imported = import_name(self._module, package, name)
        if not imported.edits:
            return imported.text
        local = imported.text
        if local != name:
            local = self._free(_OTHERWISE.get(name, local), local)
        self._wanted[package, name] = local
        return local

    def _free(self, local: str, otherwise: str) -> str:
        scopes = [self._module.scope, *self._module.functions.values()]
        return otherwise if any(local in scope.bindings for scope in scopes) else local

    def edits(self, used: set[tuple[str, str]]) -> list[Edit]:
        """The imports of the names that were used in the end, one for each package."""
        clauses: dict[str, list[str]] = {}
        for (package, name), local in self._wanted.items():
            if (package, name) in used:
                clauses.setdefault(package, []).append(name if local == name else f"{name} as {local}")
        edits: list[Edit] = []
        for package, names in clauses.items():
            ordered = sorted(names, key=name_order)
            # Into an import that is there, each name goes to its own place.
            imported = any(
                isinstance(statement, ast.ImportFrom) and statement.module == package and not statement.level
                for statement in self._module.tree.body
            )
            edits += [
                import_edit(self._module, package, clause) for clause in (ordered if imported else [", ".join(ordered)])
            ]
        return edits
