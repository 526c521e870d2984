"""The error code of a failure, from the tables by which the runtime classifies exceptions."""

from __future__ import annotations

import builtins
from functools import cache
from typing import Final

_VAGUE: Final = frozenset({"INTERNAL_ERROR", "UNKNOWN_ERROR"})
_PLAIN: Final = frozenset(
    f"builtins.{name}" for name in ("Exception", "ValueError", "RuntimeError", "TypeError", "KeyError", "LookupError")
)
"""Classes that say less about a failure than its message does."""
_CLEAR: Final = frozenset(
    {"NOT_FOUND", "FORBIDDEN", "UNAUTHORIZED", "RATE_LIMITED", "TIMEOUT", "CONFIGURATION_ERROR", "SERVICE_UNAVAILABLE"}
)
"""Codes that a text gives only if it says so in plain words."""


@cache
def code_of(class_name: str, message: str) -> str:
    """The name of the code for an exception class and the constant part of a message; both may be empty."""
    from mcpcore.classification import classify, explain

    explanation = explain(_exception(class_name, message))
    by_class = explanation.code.name if class_name else ""
    if explanation.matched.layer == "default" or (by_class and by_class not in _VAGUE and class_name not in _PLAIN):
        return explanation.code.name  # nothing in the message helps, or the class says enough
    by_text = classify(Exception(message)).name
    if by_text in _VAGUE or not by_class:
        return by_class or by_text
    # A ValueError is about an argument, unless its text says more than that.
    return by_text if by_class in _VAGUE or by_text in _CLEAR else by_class


def _exception(class_name: str, message: str) -> Exception:
    """An exception with the name of a class, made without importing the library that defines it."""
    module, _, name = class_name.rpartition(".")
    known = getattr(builtins, name, None) if module == "builtins" else None
    if isinstance(known, type) and issubclass(known, Exception):
        try:
            return known(message)
        except TypeError:  # such as UnicodeDecodeError
            return ValueError(message)
    made: type[Exception] = type(name or "Exception", (Exception,), {"__module__": module})
    return made(message)
