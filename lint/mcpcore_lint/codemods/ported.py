"""Adapts rules from Fixit: derives the id, the page and the cases from their class."""

from __future__ import annotations

import inspect
import re
import textwrap
from typing import TYPE_CHECKING, Any, Final

from mcpcore_lint.rule import Invalid, Valid

if TYPE_CHECKING:
    from mcpcore_lint.codemods.rule import CstRule

MARK: Final = "# A case for mcpcore lint."
"""The last line of cases for whole files, because only files that concern MCP are visited."""


def adopt(kind: type[CstRule]) -> None:
    """Fill in the attributes of a rule that its class does not define from those that Fixit uses."""
    own = vars(kind)
    message = " ".join(str(getattr(kind, "MESSAGE", "")).split())
    whole = kind.scope == "file"
    valid = tuple(each if isinstance(each, Valid) else Valid(_code(each, whole=whole)) for each in own.get("VALID", ()))
    invalid = tuple(_invalid(each, whole=whole) for each in own.get("INVALID", ()))
    said_of_it = (inspect.getdoc(kind) if own.get("__doc__") else None) or message or kind.__name__
    summary, _, rest = said_of_it.partition("\n")
    summary = summary.strip().removesuffix(".")
    said: dict[str, Any] = {
        "id": _id(kind.__name__),
        "summary": summary,
        "why": rest.strip() or message or f"{summary}.",
        "how_to_fix": message or f"{summary}.",
        "bad": _plain(own.get("INVALID", ())),
        "good": _plain(own.get("VALID", ())),
        "when_to_suppress": "If the code is right as it is; say why in the comment.",
        "valid": valid,
        "invalid": invalid,
    }
    for name, value in said.items():
        if name not in own:
            setattr(kind, name, value)


def _id(name: str) -> str:
    """`NoStaticIfCondition` is `no-static-if-condition`."""
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+", name.removesuffix("Rule"))
    return "-".join(each.lower() for each in words)


def _text(case: Any) -> str:
    """The code of a case, which is a string or has an attribute `code`."""
    return case if isinstance(case, str) else str(case.code)


def _code(case: Any, *, whole: bool) -> str:
    text = textwrap.dedent(_text(case).removeprefix("\n"))
    if not whole:
        return text
    return f"{text}{'' if not text or text.endswith(chr(10)) else chr(10)}{MARK}\n"


def _plain(cases: Any) -> str:
    return next((textwrap.dedent(_text(each).removeprefix("\n")) for each in cases), "")


def _invalid(case: Any, *, whole: bool) -> Invalid:
    if isinstance(case, Invalid):
        return case
    code = _code(case, whole=whole)
    place = getattr(case, "range", None)
    if place is not None:
        # Mark the first line; for a class or a function this is the line of its name.
        lines = code.split("\n")
        lines[place.start.line - 1] += "  # here"
        code = "\n".join(lines)
    message = " ".join((getattr(case, "expected_message", None) or "").split()).removesuffix(".")
    fixed = getattr(case, "expected_replacement", None)
    return Invalid(code, message, None if fixed is None else _code(fixed, whole=whole), loose=True)
