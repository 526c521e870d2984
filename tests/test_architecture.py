"""The page `docs/explanation/architecture.md` agrees with the code, and the code does not grow."""

from __future__ import annotations

import ast
import re
import symtable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from tests.tables import in_one_test

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "explanation" / "architecture.md").read_text(encoding="utf-8")
ARROWS = re.findall(r"^    ([\w.]+) (-->|-\.->) ([\w.]+)$", PAGE, re.MULTILINE)
HOMES = {"mcpcore": ROOT, "mcpcore_lint": ROOT / "lint"}


def _files(name: str) -> list[Path]:
    """Return the file of a module, or all files of a package."""
    path = HOMES[name.partition(".")[0]].joinpath(*name.split("."))
    return sorted(path.rglob("*.py")) if path.is_dir() else [path.with_suffix(".py")]


@cache
def _imports(path: Path) -> frozenset[str]:
    """Return the absolute names that a file imports, at the top or inside functions."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    return frozenset(names)


def test_the_page_has_both_diagrams():
    """One diagram shows the runtime and one the linter."""
    assert PAGE.count("```mermaid") == 2
    assert {source.partition(".")[0] for source, _, _ in ARROWS} == set(HOMES)
    assert len(re.findall(r"^    .*(?:-->|-\.->)", PAGE, re.MULTILINE)) == len(ARROWS)


def test_the_page_lists_all_packages():
    """Adding or removing a package requires the same change on the page: `make docs` makes it."""
    rows = re.findall(r"^\| `([\w.]+)` \| .", PAGE, re.MULTILINE)
    packages = {
        f"{name}.{path.parent.name}" for name, home in HOMES.items() for path in (home / name).glob("*/__init__.py")
    }
    assert packages == {row for row in rows if "." in row}


@in_one_test("name", sorted(set(re.findall(r"\bmcpcore(?:_lint)?\.[\w.]*\w", PAGE))))
def test_each_module_on_the_page_exists(name):
    """Renaming or deleting a module requires the same change on the page."""
    assert all(path.is_file() for path in _files(name))
    assert _files(name)


@in_one_test(("source", "target"), [(source, target) for source, arrow, target in ARROWS if arrow == "-->"])
def test_each_solid_arrow_is_an_import(source, target):
    """A solid arrow means that the first module imports the second."""
    assert any(name == target or name.startswith(f"{target}.") for path in _files(source) for name in _imports(path))


def test_the_guide_for_contributors_names_real_places():
    """Each path in CONTRIBUTING.md exists, or is a new file in an existing folder."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    paths = re.findall(r"`((?:mcpcore|lint|tests|docs)/[\w./-]+)`", text)
    assert len(paths) > 10
    for path in paths:
        folder = (ROOT / path).parent
        # The worked example of a rule comes with a folder of cases.
        assert folder.is_dir() or folder.parent == ROOT / "tests" / "lint" / "cases", path


class Budget(NamedTuple):
    """How many statements a part of the repository may have."""

    ceiling: int
    """The number that it has today, rounded up to a hundred: lower it with the code, and raise it only in a change that says
    why."""
    target: int


BUDGETS = {
    "mcpcore": Budget(ceiling=29_340, target=22_500),
    "lint": Budget(ceiling=27_500, target=18_500),
    "bench": Budget(ceiling=5_400, target=5_000),
    "tests": Budget(ceiling=42_500, target=32_000),
}


def _own_files(folder: str) -> list[Path]:
    """List the Python files of a folder."""
    # The cases of the rules and of the type checkers are data, and Node.js packages are not ours.
    return [path for path in (ROOT / folder).rglob("*.py") if not {"cases", "node_modules"} & set(path.parts)]


def _statements(folder: str) -> int:
    """Count the statements in a folder: comments and blank lines cost nothing, and a docstring of any length one."""
    return sum(_in_block(ast.parse(path.read_text(encoding="utf-8")).body) for path in _own_files(folder))


def _in_block(block: list[Any]) -> int:
    """Count the statements of a block. Expressions contain none, and most of a tree is expressions."""
    blocks = (getattr(node, name, []) for node in block for name in _BLOCKS)
    return sum(isinstance(node, ast.stmt) for node in block) + sum(map(_in_block, blocks))


_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")


def test_the_code_does_not_grow(record_property):
    """Each part has at most as many statements as recorded here. The summary of the run prints them."""
    statements = {folder: _statements(folder) for folder in BUDGETS}
    lines = [
        f"{folder}: {count:,} statements, at most {BUDGETS[folder].ceiling:,}, target {BUDGETS[folder].target:,}"
        for folder, count in statements.items()
    ]
    record_property("budget", "\n".join(lines))
    assert all(count <= BUDGETS[folder].ceiling for folder, count in statements.items()), "\n".join(lines)


def test_no_module_is_longer_than_its_name_can_say():
    """At most 600 lines: a longer one is two things."""
    long = [
        f"{path.relative_to(ROOT)}: {count} lines"
        for folder in ("mcpcore", "lint")
        for path in (ROOT / folder).rglob("*.py")
        if (count := len(path.read_text(encoding="utf-8").splitlines())) > 600
    ]
    assert long == []


POINTING_NAMES = ("each", "found", "given", "handed", "told", "one")


def _scopes(table: symtable.SymbolTable) -> list[symtable.SymbolTable]:
    """List a scope and all scopes in it, but for classes: clients may read the fields of a class."""
    inner = [scope for child in table.get_children() for scope in _scopes(child)]
    return inner if table.get_type() == "class" else [table, *inner]


def test_a_variable_is_called_after_what_it_holds():
    """`found` may be anything; a `failure`, a `path` or a `record` needs no look at where it comes from."""
    pointing = [
        f"{path.relative_to(ROOT)}:{scope.get_lineno() or 1}: {scope.get_name()} calls something {name!r}: "
        "write the noun of what it holds, such as failure, path or record"
        for folder in BUDGETS
        for path in _own_files(folder)
        for scope in _scopes(symtable.symtable(path.read_text(encoding="utf-8"), path.name, "exec"))
        for name in set(POINTING_NAMES).intersection(scope.get_identifiers())
        if (symbol := scope.lookup(name)).is_local() and not symbol.is_imported()
    ]
    assert not pointing, "\n".join(sorted(pointing))


_TIMES = r"(?:[?*+]|\{{1,2}\d*,?\d*\}{1,2})"
_NEXT = r"""(?:["']\s*[frb]{0,2}["'])?"""  # a string may end there and go on
POSSESSIVE_GROUP = re.compile(rf"""[)}}]{_NEXT}{_TIMES}{_NEXT}\+|\+ [frb]{{0,2}}["']{_TIMES}\+""")


@in_one_test(
    ("code", "possessive"),
    [
        ('re.compile(rf"(?:{WORD}b?c)*+x")', True),
        ('rf"{WORD}?+"', True),
        ('rf"(?:a|b){{2,3}}+ c"', True),
        ('(\n    r"(?:ab?c)"\n    rf"*+x"\n)', True),
        ('(r"(?:ab?c)*"\n r"+x")', True),
        ('WORD + r"{1,8}+x"', True),
        (r'rf"[^{BLANK}]{{1,8}}+\s*+(?>(?:ab?c)*)(?:a)?b+"', False),
    ],
)
def test_a_possessive_group_is_recognized(code, possessive):
    """The pattern may be an f-string, several strings on several lines, or a sum of strings."""
    assert possessive is bool(POSSESSIVE_GROUP.search(code))


def test_every_release_of_python_3_11_runs_the_code():
    """Debian 12 has 3.11.2. Before 3.11.4, `except*` wraps what it raises, and `extract` takes no `filter`; before 3.11.5, a
    possessive repetition of a group, as in `(?:ab?c)*+`, also takes the part of the group that did match (gh-106052).
    """
    texts = [path.read_text(encoding="utf-8") for name in HOMES for path in _files(name)]
    assert [] == [part[0] for text in texts for part in POSSESSIVE_GROUP.finditer(text)]
    nodes = [
        node for text in texts if re.search(r"except ?\*|extract|unpack_", text) for node in ast.walk(ast.parse(text))
    ]
    clauses = [clause for node in nodes if isinstance(node, ast.TryStar) for clause in node.handlers]
    assert [] == [ast.unparse(node) for clause in clauses for node in ast.walk(clause) if isinstance(node, ast.Raise)]
    calls = [node for node in nodes if isinstance(node, ast.Call) and "filter" in [word.arg for word in node.keywords]]
    assert [] == [ast.unparse(call) for call in calls if re.search(r"\b(?:extract|unpack_)", ast.unparse(call.func))]
