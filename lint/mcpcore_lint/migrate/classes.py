"""Gives each failure of a helper a class, so that a contract can name it: a subclass for each sentence.

A subclass of the class that was raised is caught by the same clauses, and by the same tests.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from mcpcore_lint.diagnostics import Edit
from mcpcore_lint.migrate.constants import above
from mcpcore_lint.migrate.messages import VAGUE, pieces, slug
from mcpcore_lint.migrate.reached import Raised, code_of_raised, package_of
from mcpcore_lint.migrate.sentences import blank, sentences

if TYPE_CHECKING:
    from collections.abc import Container, Iterable

    from mcpcore_lint.engine.syntax.module import Module

_WORDS = (8, 12)
"""How many words of a message its class is named after; more if the name is taken."""


class Leaving(NamedTuple):
    """An exception of a helper that leaves a tool."""

    raised: Raised
    module: Module
    """The file of the tool."""
    tool: ast.AST
    declarable: bool
    """Whether the tool can get a contract."""


class NewClasses(NamedTuple):
    """Classes to be made."""

    edits: dict[Module, list[Edit]]
    """The edits by file; the last one inserts the classes."""
    raised: dict[ast.Raise, Raised]
    """The exceptions as they are raised then."""


def new_classes(leaving: Iterable[Leaving], files: Container[str]) -> NewClasses:
    """Raise a new class where a built-in one has a text that says what happened.

    Args:
        leaving: The exceptions that leave the tools.
        files: The absolute paths of the files that may change.
    """
    groups: dict[Module, dict[ast.Raise, list[Leaving]]] = {}
    for item in leaving:
        groups.setdefault(item.raised.module, {}).setdefault(item.raised.node, []).append(item)
    classes = NewClasses({}, {})
    for home, group in groups.items():
        made: dict[tuple[str, str], tuple[str, str]] = {}
        """The name and the sentence of each class, by its base and what its sentence shares with others."""
        nodes: list[ast.AST] = []
        changes: list[Edit] = []
        for items in group.values() if home.absolute in files else ():
            raised = items[0].raised
            kind = _kind(raised)
            sentence = sentences(raised.message, raised.scope)
            if kind is None or sentence is None or code_of_raised(raised) in VAGUE:
                continue
            users = {item.module for item in items}
            if not all(item.declarable for item in items) or any(
                user is not home and package_of(home, user) is None for user in users
            ):
                continue
            key = kind.id, blank(sentence.when)
            name = made[key][0] if key in made else _free(raised, {home, *users}, [name for name, _ in made.values()])
            if name:
                made.setdefault(key, (name, sentence.when))
                nodes += [raised.node, *(item.tool for item in items if item.module is home)]
                changes.append(Edit(*home.source.node_range(kind), name))
                classes.raised[raised.node] = raised._replace(name=f"{home.name}.{name}", base=raised.name)
        if made:
            newline, unit = home.source.newline, "    "
            text = "".join(
                f"class {name}({kind}):{newline}{unit}{_docstring(when)}{newline}{newline * 2}"
                for (kind, _), (name, when) in made.items()
            )
            place = above(home, nodes)
            classes.edits[home] = [*changes, Edit(place, place, text)]
    return classes


def _docstring(when: str) -> str:
    """A sentence as the docstring of a class."""
    plain = when.isascii() and not set(when) & {"\\", '"'}
    return f'"""{when}"""' if plain else "pass"


def _kind(raised: Raised) -> ast.Name | None:
    """The name of the built-in class in a `raise`; None if it is raised in another way."""
    match raised.node.exc:
        case ast.Call(func=ast.Name() as kind, args=[_], keywords=[]) if raised.name == f"builtins.{kind.id}":
            return kind
    return None


def _free(raised: Raised, modules: Iterable[Module], made: Iterable[str]) -> str:
    """A name for the class that is free in some files; empty if all are taken."""
    taken = {
        name for module in modules for scope in (module.scope, *module.functions.values()) for name in scope.bindings
    }
    parts = pieces(raised.message, raised.scope)
    names = ["".join(word.capitalize() for word in slug(parts, most).split("_")) for most in _WORDS]
    return next((f"{name}Error" for name in names if name and f"{name}Error" not in {*taken, *made}), "")
