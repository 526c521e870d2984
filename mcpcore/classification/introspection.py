"""Reads foreign objects, whose own methods may raise or lie, without calling these methods where possible."""

from __future__ import annotations

from typing import Any, Final, cast

from mcpcore.classification.matcher import bound, fold
from mcpcore.values.jsonable import text_of

# An exception or its class may define attributes of these names that raise or lie.
mro_of: Final = type.__dict__["__mro__"].__get__
module_of: Final = type.__dict__["__module__"].__get__
qualname_of: Final = type.__dict__["__qualname__"].__get__
name_of: Final = type.__dict__["__name__"].__get__
namespace_of: Final = type.__dict__["__dict__"].__get__
args_of: Final = cast("Any", BaseException.__dict__["args"]).__get__
attributes_of: Final = cast("Any", BaseException.__dict__["__dict__"]).__get__
_class_attribute = type.__getattribute__


def is_exception(value: object) -> bool:
    """Whether a value is an exception; `isinstance` would call the `__class__` of the value."""
    return BaseException in mro_of(type(value))


def full_name(kind: type) -> str:
    """A class's module and qualified name."""
    return f"{module_of(kind)}.{qualname_of(kind)}"


def get(holder: object, name: str) -> Any:
    """An attribute, or None if it is missing or raises."""
    try:
        return getattr(holder, name, None)
    except BaseException:  # noqa: BLE001  # a property may raise anything
        return None


def as_int(value: object) -> int | None:
    """The number, or None for anything else: a bool, a string of digits."""
    kind = type(value)
    if kind is int:
        return cast("int", value)
    if kind is not bool and int in mro_of(kind):
        return int.__index__(cast("int", value))
    return None


def raw_text(exc: BaseException) -> str:
    """The bounded message, without the repr of arguments, which may be huge."""
    try:
        if _class_attribute(type(exc), "__str__") is BaseException.__str__:
            args = args_of(exc)
            if len(args) != 1:
                return bound(" ".join(arg[:400] if type(arg) is str else str(arg) if type(arg) is int else ""
                                      for arg in args[:6]))  # fmt: skip
            if type(args[0]) is str:
                return bound(args[0])
            if is_exception(args[0]):
                return ""
        text = text_of(exc, 100_000)
        return bound(text if type(text) is str else str.__str__(text))
    except BaseException:  # noqa: BLE001  # __str__ may raise anything
        return ""


def folded_text(exc: BaseException) -> str:
    """The bounded message in lower case."""
    return fold(raw_text(exc))
