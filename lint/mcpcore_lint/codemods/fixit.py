"""The names that rules import from Fixit, so that only the name of the package has to change.

`from fixit import Invalid, LintRule, Valid` becomes `from mcpcore_lint.codemods.fixit import Invalid, LintRule, Valid`.
"""

import inspect
import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from libcst.metadata import CodePosition, CodeRange

from mcpcore_lint import rule
from mcpcore_lint.codemods.rule import CstRule, CstScope
from mcpcore_lint.rule import Valid

MARK: Final = "# A case for mcpcore lint."
"""The last line of cases for whole files, because only files that concern MCP are visited."""

__all__ = ["CodePosition", "CodeRange", "Invalid", "LintRule", "Valid"]


@dataclass(frozen=True)
class Invalid:
    """Code in which the rule finds something, with the finding's place and message and the code after the fix."""

    code: str
    range: CodeRange | None = None
    expected_message: str | None = None
    expected_replacement: str | None = None


class LintRule(CstRule):
    """A Fixit rule: it visits whole files; its id, page and cases come from its class, `VALID` and `INVALID`."""

    scope: ClassVar[CstScope] = "file"
    VALID: ClassVar[Sequence[str | Valid]]
    INVALID: ClassVar[Sequence[str | Invalid]]

    def __init_subclass__(cls, **options: Any) -> None:
        if "VALID" in vars(cls) or "INVALID" in vars(cls):
            _adopt(cls)
        super().__init_subclass__(**options)


def _adopt(kind: type[LintRule]) -> None:
    """Fill in the attributes of a rule that its class does not define from those that Fixit uses."""
    own = vars(kind)
    rule.set_texts(kind)
    message = " ".join(str(getattr(kind, "MESSAGE", "")).split())
    valid, invalid = own.get("VALID", ()), own.get("INVALID", ())
    summary, _, rest = ((inspect.getdoc(kind) if own.get("__doc__") else None) or message or kind.__name__).partition(
        "\n"
    )
    summary = summary.strip().removesuffix(".")
    # `NoStaticIfCondition` is `no-static-if-condition`.
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+", kind.__name__.removesuffix("Rule"))
    whole = kind.scope == "file"
    attributes: dict[str, Any] = {
        "id": "-".join(words).lower(),
        "summary": summary,
        "why": rest.strip() or message or f"{summary}.",
        "how_to_fix": message or f"{summary}.",
        "bad": next(map(_code, invalid), ""),
        "good": next(map(_code, valid), ""),
        "when_to_suppress": "If the code is right as it is; say why in the comment.",
        "valid": tuple(Valid(_code(case, whole=whole)) for case in valid),
        "invalid": tuple(_invalid(case, whole=whole) for case in invalid),
    }
    for name in attributes.keys() - own.keys():
        setattr(kind, name, attributes[name])


def _code(case: Any, *, whole: bool = False) -> str:
    """The code of a case, which is a string or has an attribute `code`."""
    text = textwrap.dedent((case if isinstance(case, str) else str(case.code)).removeprefix("\n"))
    return f"{text}{'' if text[-1:] in {'', chr(10)} else chr(10)}{MARK}\n" if whole else text


def _invalid(case: Any, *, whole: bool) -> rule.Invalid:
    if isinstance(case, rule.Invalid):
        return case
    code = _code(case, whole=whole)
    if (place := getattr(case, "range", None)) is not None:
        # Mark the first line; for a class or a function this is the line of its name.
        lines = code.split("\n")
        lines[place.start.line - 1] += "  # here"
        code = "\n".join(lines)
    message = " ".join((getattr(case, "expected_message", None) or "").split()).removesuffix(".")
    fixed = getattr(case, "expected_replacement", None)
    return rule.Invalid(code, message, None if fixed is None else _code(fixed, whole=whole), loose=True)
