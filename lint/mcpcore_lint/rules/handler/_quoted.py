"""The words of what failed, as an answer: the text of a response, the output of a process, an exception."""

import ast
from collections.abc import Iterator
from typing import Final

from mcpcore_lint.engine.syntax.parse import mentions, walk
from mcpcore_lint.rules._bodies import Body
from mcpcore_lint.rules.handler._failures import MESSAGE_KEYS, normalized

_WORDS: Final = frozenset(
    {"text", "content", "reason", "reason_phrase", "status_code", "status", "stderr", "returncode"}
)
"""What a response or a process says about its failure."""
_OUTPUT: Final = "stdout"
_DETAILS: Final = MESSAGE_KEYS | {"error", "status", "status_code", "code", "type", "success", "ok"}
"""Keys beside which a text still describes nothing but a failure."""
_SUCCESS: Final = range(200, 300)
_NOT_FOUND: Final = 404


def quoted_by(answer: ast.expr, body: Body) -> str | None:
    """The name of the failed response, process or exception whose words an answer is; None if it is no such answer.

    An answer that also holds the output of a process is the report that its tool is called for.
    """
    texts: list[ast.expr] = [answer]
    if isinstance(answer, ast.Dict):
        fields = [
            (normalized(key.value) if isinstance(key, ast.Constant) and isinstance(key.value, str) else "", value)
            for key, value in zip(answer.keys, answer.values, strict=True)
        ]
        if not all(key in _DETAILS for key, _ in fields):
            return None
        texts = [value for key, value in fields if key in MESSAGE_KEYS]
    for name in dict.fromkeys(_failed_at(answer, body)):
        for text in texts:
            words = {
                part.attr for part in walk([text]) if isinstance(part, ast.Attribute) and mentions(part.value, name)
            }
            if words & _WORDS and _OUTPUT not in words and _is_text(text):
                return name
    return None


def _is_text(node: ast.expr) -> bool:
    """Whether an expression is a text: a part of an object, or such parts in a sentence."""
    match node:
        case ast.Call(func=ast.Attribute(value=inner, attr="strip" | "decode")):
            return _is_text(inner)
        case (
            ast.Attribute(attr="text" | "stderr")
            | ast.Call(func=ast.Name(id="str"))
            | ast.JoinedStr()
            | ast.BinOp(op=ast.Add())
        ):
            return True
    return False


def _failed_at(node: ast.expr, body: Body) -> Iterator[str]:
    """The names of what has failed where an expression is evaluated."""
    yield from (name for test, holds in body.tests(node) for name, when in _verdicts(test) if when is holds)
    catch = body.clause_of(node)
    around = [part.test for part in body.above(node) if isinstance(part, (ast.If, ast.IfExp))]
    if catch is not None and catch.name is not None and not any(mentions(test, catch.name) for test in around):
        yield catch.name


def _verdicts(test: ast.expr) -> Iterator[tuple[str, bool]]:
    """What a condition says about responses and processes: a name, and for which outcome of the condition it failed."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield from ((name, not when) for name, when in _verdicts(operand))
        case ast.Attribute(value=ast.Name(id=name), attr="returncode" | "is_error"):
            yield name, True
        case ast.Attribute(value=ast.Name(id=name), attr="ok" | "is_success"):
            yield name, False
        case ast.Compare(
            left=ast.Attribute(value=ast.Name(id=name), attr="status_code" | "status" | "returncode" as attr),
            ops=[operator],
            comparators=[ast.Constant(value=int(number))],
        ):
            good = number == 0 if attr == "returncode" else number in _SUCCESS
            match operator:
                case ast.NotEq() if good:
                    yield name, True
                case ast.Eq():
                    if good or (attr != "returncode" and number > _NOT_FOUND):
                        yield name, not good
                case ast.Gt() | ast.GtE() if number >= _SUCCESS.stop - 1 or (attr == "returncode" and not number):
                    yield name, True
                case ast.Lt() | ast.LtE() if _SUCCESS.stop - 1 <= number <= _NOT_FOUND:
                    yield name, False
