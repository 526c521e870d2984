"""Gives each failure of a helper a class, so that a contract can name it: a subclass for each sentence.

A subclass of the class that was raised is caught by the same clauses, and by the same tests.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, NamedTuple

from mcpcore_lint.diagnostics import Edit
from mcpcore_lint.migrate.constants import above, joined
from mcpcore_lint.migrate.contracts import Names
from mcpcore_lint.migrate.messages import VAGUE, pieces, slug
from mcpcore_lint.migrate.reached import Raised, code_of_raised, package_of
from mcpcore_lint.migrate.sentences import blank, sentences

if TYPE_CHECKING:
    from collections.abc import Container, Iterable

    from mcpcore_lint.engine.syntax.module import Module

_WORDS = (8, 12)
"""How many words of a message its class is named after; more if the name is taken."""
_FIRST = re.compile(
    r"[^_]+(?:_[^_]+){2,}?(?<!_is)(?<!_are)(?<!_was)(?<!_be)(?<!_not)(?<!_must)"
    r"(?=_(?:in|at|for|of|to|from|with|on|by|via|as|when|if|that|which|because)_)"
)
"""What a message says up to a preposition, which suffices for a name."""


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

    changes: dict[Module, list[Edit]]
    """The edits by file that raise them."""
    inserts: dict[Module, list[Edit]]
    """The edits by file that define them."""
    names: dict[Module, Names]
    """The imports of files that raise a class of another one."""
    raised: dict[ast.Raise, Raised]
    """The exceptions as they are raised then."""

    def edits(self, module: Module) -> tuple[Edit, ...]:
        """All edits of a file whose tools get no contracts."""
        names = self.names.get(module, Names(module))
        return joined([*names.edits(names.spelled), *self.inserts.get(module, ()), *self.changes.get(module, ())])


def new_classes(leaving: Iterable[Leaving], files: Container[str]) -> NewClasses:
    """Raise a new class where a built-in one has a text that says what happened.

    Args:
        leaving: The exceptions that leave the tools.
        files: The absolute paths of the files that may change.
    """
    groups: dict[Module, dict[ast.Raise, list[Leaving]]] = {}
    for item in leaving:
        groups.setdefault(item.raised.module, {}).setdefault(item.raised.node, []).append(item)
    classes = NewClasses({}, {}, {}, {})
    known: dict[tuple[str, str], list[tuple[Module, str]]] = {}
    """The classes, by their base and what their sentence shares with others."""
    # A class goes to the file that most others can import from.
    for home in sorted(groups, key=lambda home: -sum(_reach(home, [other]) for other in groups)):
        group = groups[home]
        made: dict[str, str] = {}
        nodes: list[ast.AST] = []
        for items in group.values() if home.absolute in files else ():
            raised = items[0].raised
            kind = _kind(raised)
            sentence = sentences(raised.message, raised.scope)
            if kind is None or sentence is None or code_of_raised(raised) in VAGUE:
                continue
            if not all(item.declarable for item in items):
                continue
            around = {home, *(item.module for item in items)}
            alike = known.setdefault((kind.id, blank(sentence.when)), [])
            owner, name = next((pair for pair in alike if _reach(pair[0], around)), (home, ""))
            if not name:
                taken = [name for group in known.values() for _, name in group]
                name = _free(raised, around, taken) if _reach(home, around) else ""
                if not name:
                    continue
                alike.append((home, name))
                made[name] = f"class {name}({kind.id}):\n    {_docstring(sentence.when)}\n\n\n"
            spelled = name
            if owner is not home:
                spelled = classes.names.setdefault(home, Names(home)).spell(package_of(owner, home) or "", name)
            nodes += [raised.node, *(item.tool for item in items if item.module is home)]
            classes.changes.setdefault(home, []).append(Edit(*home.source.node_range(kind), spelled))
            classes.raised[raised.node] = raised._replace(name=f"{owner.name}.{name}", base=raised.name, home=owner)
        if made:
            place = above(home, nodes)
            text = "".join(made.values()).replace("\n", home.source.newline)
            classes.inserts[home] = [Edit(place, place, text)]
    return classes


def _reach(home: Module, modules: Iterable[Module]) -> bool:
    """Whether some files can import from a module."""
    return all(module is home or package_of(home, module) is not None for module in modules)


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
    slugs = [slug(parts, most) for most in _WORDS]
    short = _FIRST.match(slugs[0])
    names = ["".join(word.capitalize() for word in name.split("_")) for name in ([short[0]] if short else []) + slugs]
    return next((f"{name}Error" for name in names if name and f"{name}Error" not in {*taken, *made}), "")
