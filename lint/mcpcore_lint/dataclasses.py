"""Plain classes of fields: what `dataclasses` makes, for a fraction of its time at start-up.

An editor runs the linter for each change, and `dataclasses` would take longer to make the model's classes than the
linter takes to check a file. Fields are the annotated names of the class and its bases; a default is the value given.
"""

from __future__ import annotations

from functools import cache
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any, TypeVar, dataclass_transform

T = TypeVar("T")

if TYPE_CHECKING:
    from functools import cached_property
else:

    class cached_property:  # noqa: N801 - it stands for the other one
        """What is found out once: as that of `functools`, without the lock that it takes up to Python 3.11."""

        def __init__(self, make: Any) -> None:
            self._make = make
            self.__doc__ = make.__doc__

        def __set_name__(self, owner: Any, name: str) -> None:
            self._name = name

        def __get__(self, instance: Any, owner: Any = None) -> Any:
            if instance is None:
                return self
            found = self._make(instance)
            setattr(instance, self._name, found)
            return found


def _fields(cls: type[Any]) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for each in reversed(cls.__mro__):
        for name, annotation in vars(each).get("__annotations__", {}).items():
            if "ClassVar" not in str(annotation):
                found[name] = None
    return tuple(found)


def _make(cls: type[Any]) -> tuple[str, ...]:
    names = _fields(cls)
    defaults: list[object] = []
    for name in names:
        if hasattr(cls, name) and not isinstance(getattr(cls, name), property):
            defaults.append(getattr(cls, name))
        elif defaults:
            raise TypeError(f"{cls.__name__}.{name} has no default, but a field before it has one")
    code = _assigning(len(names)).replace(co_names=names, co_varnames=("self", *names))
    made: Any = cls
    made.__init__ = FunctionType(code, {}, "__init__", tuple(defaults))
    setattr(made, "__match_args__", names)  # noqa: B010 - the type checker takes it for a declaration
    return names


@cache
def _assigning(count: int) -> CodeType:
    """What `__init__` of so many fields does: compiled once, since the classes differ in the names alone."""
    names = [f"field{number}" for number in range(count)]
    body = "".join(f"\n    self.{name} = {name}" for name in names) or "\n    pass"
    scope: dict[str, Any] = {}
    exec(f"def __init__(self, {', '.join(names)}):{body}", scope)  # noqa: S102 - made of nothing but these names
    code: CodeType = scope["__init__"].__code__
    return code


def _repr(self: object) -> str:
    inside = ", ".join(f"{name}={getattr(self, name)!r}" for name in _fields(type(self)))
    return f"{type(self).__name__}({inside})"


@dataclass_transform(eq_default=False)
def light(cls: type[T]) -> type[T]:
    """Make a class of fields whose objects are equal to themselves alone."""
    _make(cls)
    if "__repr__" not in cls.__dict__:
        made: Any = cls
        made.__repr__ = _repr
    return cls


@dataclass_transform(eq_default=True, frozen_default=True)
def light_value(cls: type[T]) -> type[T]:
    """Make a class of fields whose objects are equal where all fields are, and are not to be changed."""
    names = _make(cls)

    def key(self: Any) -> tuple[Any, ...]:
        return tuple([getattr(self, name) for name in names])

    def equal(self: object, other: object) -> bool:
        return key(self) == key(other) if type(other) is cls else NotImplemented

    made: Any = cls
    made.__eq__ = equal
    made.__hash__ = lambda self: hash(key(self))
    if "__repr__" not in cls.__dict__:
        made.__repr__ = _repr
    return cls


def replace(value: T, **changes: object) -> T:
    """A copy with some fields changed."""
    copy: Any = object.__new__(type(value))
    copy.__dict__ = {**value.__dict__, **changes}
    made: T = copy
    return made


__all__ = ["cached_property", "light", "light_value", "replace"]
