"""The members of `ErrorCode`, and the values of `ErrorCode(...)` and `CustomCode(...)`."""

import ast
from typing import Final

from mcpcore_lint.dataclasses import cached_property
from mcpcore_lint.engine.syntax.module import Module
from mcpcore_lint.model import CallValue, CodeValue, Const, Unknown, Value, options, string
from mcpcore_lint.values import choice


class _Codes:
    """The codes of the runtime, read on first use."""

    @cached_property
    def by_name(self) -> dict[str, int]:
        from mcpcore.contract.codes import ErrorCode

        return {name: int(member) for name, member in ErrorCode.__members__.items()}

    def name_of(self, number: int) -> str | None:
        return next((name for name, code in self.by_name.items() if code == number), None)


CODES: Final = _Codes()


def code_of(args: list[Value], node: ast.AST, module: Module) -> Value:
    """The value of `ErrorCode(...)`, from its arguments."""
    codes: list[Value] = []
    for option in options(args[0]) if len(args) == 1 else ():
        if isinstance(option, Const) and isinstance(option.value, int):
            name = CODES.name_of(option.value)
            codes.append(CodeValue(node, module, name or str(option.value), option.value, exists=name is not None))
        elif isinstance(option, CodeValue):
            codes.append(option)
        else:
            codes.append(Unknown(node, module, "a code that is not a constant"))
    return choice(codes, node, module)


def custom_code(call: CallValue) -> Value:
    """The value of `CustomCode(...)`."""
    name = string(call.argument("name", 0))
    number = call.argument("number", 1)
    if name is None:
        return Unknown(call.node, call.module, "a custom code whose name is not a constant")
    known = number.value if isinstance(number, Const) and isinstance(number.value, int) else None
    return CodeValue(call.node, call.module, name, known, custom=True)
