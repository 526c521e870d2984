"""The transformations that fixes are made of, each a function from a libcst node to its replacement."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from typing import Any, Final

import libcst as cst

from mcpcore_lint.codemods.piece import children

_NO_SPACE: Final = cst.SimpleWhitespace("")
_SPACE: Final = cst.SimpleWhitespace(" ")


def _expression(code: str) -> cst.BaseExpression:
    """Parse an expression, and keep the indentation of its new lines, to which libcst adds that of the block."""
    expression = cst.parse_expression(code)
    stack: list[cst.CSTNode] = [expression] if "\n" in code else []
    while stack:
        node = stack.pop()
        if isinstance(node, cst.ParenthesizedWhitespace):
            # The tree is new, so no other code sees the change. A transformer would copy it, which takes much longer.
            object.__setattr__(node, "indent", False)
        stack += children(node)
    return expression


def _argument(code: str) -> cst.Arg:
    """Parse an argument of a call."""
    if not code.startswith("*"):
        with suppress(cst.ParserSyntaxError):
            return cst.Arg(_expression(code))  # in half the time of a call
    return cst.ensure_type(_expression(f"_({code})"), cst.Call).args[0]


@cache
def _callee(code: str) -> cst.BaseExpression:
    """Parse what is called, which is the same for most places of a tool."""
    return cst.parse_expression(code)


def replace(node: cst.BaseExpression, code: str) -> cst.BaseExpression:
    """Replace an expression, and keep the parentheses around it."""
    new = _expression(code)
    return new.with_changes(lpar=[*node.lpar, *new.lpar], rpar=[*new.rpar, *node.rpar])


def rewrite_call(node: cst.Call, function: str, *arguments: str | int) -> cst.Call:
    """Change the arguments of a call: a number is an argument that stays, a text is a new one.

    `function` is the new callee; empty if it stays.
    """
    new: list[cst.Arg] = []
    for argument in arguments:
        if isinstance(argument, int):
            arg = node.args[argument]
            # Beside other arguments, a generator needs its own parentheses.
            if len(arguments) > 1 and isinstance(arg.value, cst.GeneratorExp) and not arg.value.lpar:
                arg = arg.with_deep_changes(arg.value, lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
            new.append(arg)
        else:
            new.append(_argument(argument))
    if new and node.args:
        # An argument that stays keeps its comma, and the last one ends as the old last one did.
        comma, last = cst.Comma(whitespace_after=_gap(node.whitespace_before_args)), node.args[-1]
        new = [
            *(
                arg if arg in node.args[:-1] else arg.with_changes(comma=comma, whitespace_after_arg=_NO_SPACE)
                for arg in new[:-1]
            ),
            new[-1].with_changes(comma=last.comma, whitespace_after_arg=last.whitespace_after_arg),
        ]
    return node.with_changes(
        func=_callee(function) if function else node.func,
        args=new,
        whitespace_before_args=node.whitespace_before_args if new else _NO_SPACE,
    )


def raise_it(node: cst.Expr | cst.Return) -> cst.Raise:
    """Write `raise x` for `x` and for `return x`."""
    space = node.whitespace_after_return if isinstance(node, cst.Return) else _SPACE
    return cst.Raise(exc=node.value, whitespace_after_raise=space)


def raise_failure(node: cst.Return, cause: str, function: str, *arguments: str) -> cst.Raise:  # noqa: ARG001 - as all transformations
    """Write `raise function(arguments) from cause` for a `return`; without `from` if `cause` is empty."""
    failure = cst.Raise(exc=cst.Call(_callee(function), [*map(_argument, arguments)]), whitespace_after_raise=_SPACE)
    return add_cause(failure, cause) if cause else failure


def add_cause(node: cst.Raise, name: str) -> cst.Raise:
    """Write `raise x from name` for `raise x`."""
    return node.with_changes(cause=cst.From(cst.Name(name), whitespace_before_from=_SPACE))


def name_caught(node: cst.ExceptHandler | cst.ExceptStarHandler, name: str, bare: str = "BaseException") -> cst.CSTNode:
    """Write `except x as name` for `except x`, and the class `bare` for a bare `except`."""
    return node.with_changes(
        type=node.type or cst.Name(bare),
        name=cst.AsName(cst.Name(name)),
        whitespace_after_except=node.whitespace_after_except if node.type else _SPACE,
    )


def add_parameter(node: cst.FunctionDef, code: str, index: int) -> cst.FunctionDef:
    """Add a positional parameter: as the first one, or as the second behind `self`."""
    parsed = cst.ensure_type(cst.parse_statement(f"def _({code}): pass"), cst.FunctionDef)
    params = node.params
    name = "posonly_params" if params.posonly_params else "params"
    here: Sequence[cst.Param] = getattr(params, name)
    new = parsed.params.params[0].with_changes(comma=cst.MaybeSentinel.DEFAULT)
    everything = [*here, params.star_arg, *params.kwonly_params, params.star_kwarg]
    if any(isinstance(param, cst.CSTNode) for param in everything[index:]) or name == "posonly_params":
        new = new.with_changes(comma=cst.Comma(whitespace_after=_gap(node.whitespace_before_params)))
    return node.with_changes(params=params.with_changes(**{name: [*here[:index], new, *here[index:]]}))


def unwrap(node: cst.Try) -> cst.FlattenSentinel[Any]:
    """Write the body of a `try` in its place, and that of its `else`, without its clauses."""
    statements = [*_lines_of(node.body), *(_lines_of(node.orelse.body) if node.orelse is not None else ())]
    lead = [*node.leading_lines, *statements[0].leading_lines]
    return cst.FlattenSentinel([statements[0].with_changes(leading_lines=lead), *statements[1:]])


def _lines_of(suite: cst.BaseSuite) -> list[Any]:
    """The statements of a block; those behind `try:` on its line become a new line."""
    if isinstance(suite, cst.SimpleStatementSuite):
        return [cst.SimpleStatementLine(body=suite.body, trailing_whitespace=suite.trailing_whitespace)]
    return [*suite.body]


BY_NAME: Final[dict[str, tuple[Callable[..., Any], tuple[type[cst.CSTNode], ...]]]] = {
    "replace": (replace, (cst.BaseExpression,)),
    "rewrite_call": (rewrite_call, (cst.Call,)),
    "raise_it": (raise_it, (cst.Expr, cst.Return)),
    "raise_failure": (raise_failure, (cst.Return,)),
    "add_cause": (add_cause, (cst.Raise,)),
    "name_caught": (name_caught, (cst.ExceptHandler, cst.ExceptStarHandler)),
    "add_parameter": (add_parameter, (cst.FunctionDef,)),
    "unwrap": (unwrap, (cst.Try,)),
}
"""The transformations, each with the kinds of nodes that it is for."""


def _gap(opening: cst.BaseParenthesizableWhitespace) -> cst.BaseParenthesizableWhitespace:
    """The white space between two items: a new line if there is one behind the opening bracket."""
    return opening if isinstance(opening, cst.ParenthesizedWhitespace) else _SPACE
