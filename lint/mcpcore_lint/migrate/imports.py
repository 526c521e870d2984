"""Removes imports that the migration left without a use, keeps the others in order, and breaks lines that it wrote."""

import ast
import re
from collections.abc import Callable, Iterable
from typing import Final

from mcpcore_lint.codemods import edits as codemods
from mcpcore_lint.diagnostics import Edit
from mcpcore_lint.engine.syntax.module import Module
from mcpcore_lint.engine.syntax.parse import walk
from mcpcore_lint.engine.syntax.source import Source

_SDK: Final = re.compile(r"mcp(?:core|_types)?(?:\.|$)")


def unused(
    module: Module, before: ast.Module, others: Iterable[str], names: Callable[[ast.Module], set[str]]
) -> list[Edit]:
    """The edits that remove the imports of a file that were used before, and that nothing uses any more.

    Args:
        module: The file as it is now.
        before: Its syntax before the run.
        others: The texts of the other files, which may import a name from this one or patch it by its path.
        names: The function `used_names`, which may remember what it returned.
    """
    # The imports of an `__init__.py` are what its package exports.
    if module.is_package:
        return []
    used, old = names(module.tree), names(before)
    local = {alias.asname or alias.name.partition(".")[0] for node in _removable(before) for alias in node.names}
    idle = (local & old) - used
    own = module.name.rpartition(".")[2]
    # Most files have no idle name, and the search goes through all other files.
    gone = idle - {name for text in (others if idle else ()) for name in idle if _takes(text, own, name)}
    return [edit for node in _removable(module.tree) for edit in _without(node, gone, module.source)]


def ordered(module: Module, before: ast.Module) -> list[Edit]:
    """The edits that sort the imports of mcpcore among those of the SDK, if these were sorted before the run."""
    source = module.source
    run: list[ast.Import | ast.ImportFrom] = []
    nodes = [node for node in walk([module.tree]) if isinstance(node, (ast.Import, ast.ImportFrom))]
    nodes.sort(key=lambda node: node.lineno)
    for node in nodes if not _unsorted(_imports(before)) else ():
        follows = bool(run) and (run[-1].end_lineno, run[-1].col_offset) == (node.lineno - 1, node.col_offset)
        run = [*(run if follows else []), node] if _SDK.match(_package(node)) else []
        between = source.newline + source.line(node.lineno)[: node.col_offset]
        place = source.text.find(between.join(map(source.segment, run))) if _unsorted(run) else -1
        if place >= 0:
            new = between.join(source.segment(part) for part in sorted(run, key=_package))
            return [Edit(place, place + len(new), new)]
    return []


def shortened(module: Module, before: bytes, width: int) -> list[Edit]:
    """The edits that put each argument of a call, parameter of a function or name of an import on a separate line.

    Args:
        module: The file as it is now.
        before: Its contents before the run, whose lines stay.
        width: The most characters that the project allows in a line; 0 if it does not say it.
    """
    source, old = module.source, {*before.decode("utf-8", "replace").splitlines()}
    edits: list[Edit] = []
    for node in walk([module.tree]) if width else ():
        head = node.args if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) else None
        if not isinstance(node, ast.stmt) or (node.lineno != node.end_lineno and head is None):
            continue
        line, value = source.line(node.lineno), getattr(node, "exc", getattr(node, "value", None))
        call = value.value if isinstance(value, ast.Await) else value
        known = head is not None or isinstance(call or node, (ast.Call, ast.ImportFrom))
        if len(line) <= width or line in old or not known:
            continue
        named = head.args if head is not None else getattr(node, "names", [])
        parts = codemods.arguments_in_order(call) if isinstance(call, ast.Call) else named
        texts = [source.segment(part) for part in parts]
        brackets = ("(", ")") if isinstance(node, ast.ImportFrom) else ("", "")
        last = named[-1] if head is not None and named else call or node
        end = source.node_range(last)[1] - isinstance(call, ast.Call)
        start = end - len(", ".join(texts))
        # Parentheses around an argument, a default, or a generator without its own, stay on their line.
        is_all = isinstance(node, ast.ImportFrom) or source.text[start - 1] + source.text[end] == "()"
        if (
            texts
            and is_all
            and source.text[start:end] == ", ".join(texts)
            and not isinstance(parts[0], ast.GeneratorExp)
        ):
            newline = source.newline + line[: len(line) - len(line.lstrip())]
            inside = "".join(f"{newline}    {text}," for text in texts)
            edits.append(Edit(start, end, f"{brackets[0]}{inside}{newline}{brackets[1]}"))
    return edits


def _package(node: ast.Import | ast.ImportFrom) -> str:
    return getattr(node, "module", None) or ""


def _unsorted(imports: list[ast.Import | ast.ImportFrom]) -> bool:
    names = [*filter(_SDK.match, map(_package, imports))]
    return names != sorted(names)


def _imports(tree: ast.Module) -> list[ast.Import | ast.ImportFrom]:
    return [node for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))]


def _removable(tree: ast.Module) -> list[ast.Import | ast.ImportFrom]:
    """The imports of a file and of its functions, which keep another statement."""
    bodies = [node.body for node in walk([tree]) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    kinds = (ast.Import, ast.ImportFrom)
    inside = [part for body in bodies if not all(isinstance(part, kinds) for part in body) for part in body]
    return [*_imports(tree), *(part for part in inside if isinstance(part, kinds))]


def used_names(tree: ast.Module) -> set[str]:
    """The names that a file uses, also in strings other than docstrings, such as annotations and `__all__`."""
    used: set[str] = set()
    document: ast.expr | None = None
    for node in walk([tree]):
        if isinstance(node, ast.Name):
            used.add(node.id)
        elif isinstance(node, ast.Expr):
            document = node.value
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node is not document:
            used.update(re.findall(r"\w+", node.value))
    return used


def _takes(text: str, own: str, name: str) -> bool:
    """Whether a file may take a name from a module: by an import, an attribute of it, or a path in a text."""
    # Most files do not have the letters at all, and a plain search for them is many times faster.
    if name not in text or own not in text:
        return False
    listed = r"import\b(?:\s*\((?:[^)#]|#[^\n]*)*?|(?:\\\n|[^\n])*?)"
    ways = rf"\b{own}(?:\.{name}\b|[\"'])|\bfrom\s+[\w.]*\b{own}\s+{listed}(?:\b{name}\b|\*)|\b{listed}\b{own}\b"
    return re.search(rf"\b{name}\b", text) is not None and re.search(ways, text) is not None


def _without(node: ast.Import | ast.ImportFrom, gone: set[str], source: Source) -> list[Edit]:
    names = [alias.asname or alias.name.partition(".")[0] for alias in node.names]
    kept = [alias for alias, name in zip(node.names, names, strict=True) if name not in gone]
    start, end = source.node_range(node)
    if len(kept) == len(names) or codemods.has_comment(source.text[start:end]):
        return []
    if kept:
        first = source.node_range(node.names[0])[0]
        last = source.node_range(node.names[-1])[1]
        between = source.text[source.node_range(node.names[0])[1] : source.node_range(node.names[1])[0]]
        return [Edit(first, last, between.join(source.segment(alias) for alias in kept))]
    starts = [*source.line_starts, len(source.text)]
    whole = starts[node.lineno - 1], starts[node.end_lineno or node.lineno]
    alone = source.text[whole[0] : start].strip() == source.text[end : whole[1]].strip() == ""
    return [Edit(*whole, "")] if alone else []
