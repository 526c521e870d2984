"""The values that an expression can have, as far as the linter knows them without running the code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from mcpcore_lint.dataclasses import light

if TYPE_CHECKING:
    import ast

    from mcpcore_lint.diagnostics import Span
    from mcpcore_lint.engine.syntax.module import Module


MAX_OPTIONS: Final = 64
"""The maximum number of values that an expression may have; with more, it is unknown."""


@light
class Value:
    """The base class of values, with the place in the code. `node` is the expression that the value comes from."""

    node: ast.AST | None
    module: Module | None

    @property
    def span(self) -> Span | None:
        """The place of the value, which may be in another file than the code that uses it."""
        return None if self.node is None or self.module is None else self.module.source.span(self.node)


@light
class Unknown(Value):
    """A value that is only known when the code runs."""

    why: str = ""


@light
class Missing(Value):
    """An argument that the call leaves out."""


@light
class Const(Value):
    """A string, number, bool, None, bytes or Ellipsis."""

    value: str | bytes | bool | int | float | complex | None = None


@light
class Text(Value):
    """A string that is known in part: its literal pieces, with None for each unknown piece."""

    parts: tuple[str | None, ...] = ()


@light
class Items(Value):
    """A list, tuple or set. If `complete` is false, it may have more items than those listed."""

    kind: Literal["list", "tuple", "set"] = "list"
    items: tuple[Value, ...] = ()
    complete: bool = True


@light
class Mapping(Value):
    """A dict. If `complete` is false, it may have more keys than those listed."""

    items: tuple[tuple[Value, Value], ...] = ()
    complete: bool = True

    def get(self, key: str) -> Value | None:
        """The value of a string key, or None."""
        for item_key, value in reversed(self.items):  # the last entry of a key counts
            if isinstance(item_key, Const) and item_key.value == key:
                return value
        return None

    @property
    def values(self) -> tuple[Value, ...]:
        """All values."""
        return tuple(value for _, value in self.items)

    @property
    def keys(self) -> tuple[str, ...]:
        """The known string keys."""
        return tuple(key.value for key, _ in self.items if isinstance(key, Const) and isinstance(key.value, str))


@light
class CodeValue(Value):
    """An error code: a member of `ErrorCode`, or a `CustomCode` of the project.

    `exists` is false if `ErrorCode` has no member of that name.
    """

    name: str = ""
    number: int | None = None
    custom: bool = False
    exists: bool = True


@light
class Symbol(Value):
    """A module, class or function, by its qualified name: `mcpcore.not_found`, `httpx.HTTPError`, `app.store.Store`.

    Names of mcpcore, the SDK, FastMCP and the standard library are canonical: `mcpcore.contract.errors.not_found`, an
    alias and a re-export in the project are all `mcpcore.not_found`. Builtins are `builtins.ValueError` and the like.
    `definition` is the class or function of the project with that name.
    """

    name: str = ""
    definition: ast.AST | None = None


@light
class CallValue(Value):
    """The result of calling a known class or function: `Retry.after(seconds=30)`, `FailureMode(...)`."""

    func: Symbol = Symbol(None, None)
    args: tuple[Value, ...] = ()
    keywords: tuple[tuple[str, Value], ...] = ()
    complete: bool = True
    """False if an unknown `*args` or `**kwargs` may add arguments."""
    mapped: tuple[CallValue, ...] = ()
    """The calls of `on` and `on_code` on a `FailureMode`, each with the method's name as `func`."""

    def argument(self, name: str, position: int | None = None) -> Value:
        """An argument by keyword or position: `Missing` if the call lacks it, `Unknown` if it may have it."""
        for keyword, value in self.keywords:
            if keyword == name:
                return value
        return self.at(position)

    def at(self, position: int | None) -> Value:
        """A positional argument, with the same results as `argument`."""
        if position is not None and position < len(self.args):
            return self.args[position]
        if not self.complete:
            return Unknown(self.node, self.module, "it may come from * or ** arguments")
        return Missing(self.node, self.module)


@light
class Choice(Value):
    """One of several values: a conditional expression, a name bound in several branches, a `Literal` parameter."""

    options: tuple[Value, ...] = ()


def options(value: Value) -> tuple[Value, ...]:
    """The options of a `Choice`, flattened; for any other value, the value alone."""
    if type(value) is not Choice:
        return (value,)
    return tuple(inner for option in value.options for inner in options(option))


def string(value: Value) -> str | None:
    """The text of a known string, or None."""
    return value.value if type(value) is Const and isinstance(value.value, str) else None


def strings(value: Value) -> tuple[str, ...] | None:
    """The text of every option of a value; None if an option is not a known string."""
    texts = tuple(string(option) for option in options(value))
    return None if None in texts else tuple(text for text in texts if text is not None)


def pieces(value: Value) -> tuple[str | None, ...]:
    """The pieces of a text, with None for each unknown piece; for any other value, that alone."""
    return value.parts if isinstance(value, Text) else (string(value),)


def joined(node: ast.AST, module: Module, parts: list[str | None]) -> Value:
    """A string made of pieces, of which None is unknown."""
    known = [part for part in parts if part is not None]
    return Const(node, module, "".join(known)) if len(known) == len(parts) else Text(node, module, tuple(parts))


def is_left_out(value: Value) -> bool:
    """Whether an argument is definitely missing or None."""
    return isinstance(value, Missing) or (type(value) is Const and value.value is None)


def choice(values: list[Value], node: ast.AST, module: Module) -> Value:
    """One of several values, each listed once."""
    if len(values) == 1:
        return values[0]
    unique: dict[object, Value] = {}
    for value in values:
        for option in options(value):
            unique.setdefault(_identity(option), option)
    flat = tuple(unique.values())
    if len(flat) == 1:
        return flat[0]
    return (
        Choice(node, module, flat) if 0 < len(flat) <= MAX_OPTIONS else Unknown(node, module, "too many possibilities")
    )


def _identity(value: Value) -> object:
    """A key that equal values share."""
    match value:
        case Const(value=constant):
            # `1 == True == 1.0` in Python, and these are different values.
            return type(constant), constant
        case CodeValue(name=name, number=number):
            return name, number
        case Symbol(name=name):
            return name
    return id(value)
