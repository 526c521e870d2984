"""The transformations that fixes are made of, each a function from a libcst node to its replacement."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import libcst as cst

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_NO_SPACE: Final = cst.SimpleWhitespace("")
_SPACE: Final = cst.SimpleWhitespace(" ")


class Transformation(NamedTuple):
    """A function, and the kinds of nodes that it is for."""

    function: Callable[..., Any]
    kinds: tuple[type[cst.CSTNode], ...]


def replace(node: cst.BaseExpression, code: str) -> cst.BaseExpression:
    """Replace an expression, and keep the parentheses around it."""
    new = cst.parse_expression(code)
    return new.with_changes(lpar=[*node.lpar, *new.lpar], rpar=[*new.rpar, *node.rpar])


def rewrite_call(node: cst.Call, function: str, *arguments: str | int) -> cst.Call:
    """Change the arguments of a call: a number is an argument that stays, a text is a new one.

    `function` is the new callee; empty if it stays.
    """
    new: list[cst.Arg] = []
    for argument in arguments:
        if isinstance(argument, int):
            arg = node.args[argument]
            if len(arguments) > 1 and isinstance(arg.value, cst.GeneratorExp) and not arg.value.lpar:
                arg = arg.with_deep_changes(arg.value, lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
            new.append(arg)
        else:
            call = cst.ensure_type(cst.parse_expression(f"_({argument})"), cst.Call)
            new.append(call.args[0])
    kept = {place: node.args[argument] for place, argument in enumerate(arguments) if isinstance(argument, int)}
    opening = node.whitespace_before_args
    new = _lay_out(node.args, new, kept, opening, "whitespace_after_arg")
    return node.with_changes(
        func=cst.parse_expression(function) if function else node.func,
        args=new,
        whitespace_before_args=opening if new or _comment(opening) else _NO_SPACE,
    )


def remove_key(node: cst.Dict, index: int) -> cst.Dict:
    """Take an entry out of a dict."""
    elements = [*node.elements[:index], *node.elements[index + 1 :]]
    return node.with_changes(
        elements=_lay_out(node.elements, elements, dict(enumerate(elements)), node.lbrace.whitespace_after, None)
    )


def set_strings(node: cst.Subscript, quote: str, *texts: str) -> cst.Subscript:
    """Put other strings into `Literal["a", "b"]`, in their order; if there are comments, old strings stay in place."""

    def element(text: str) -> cst.SubscriptElement:
        plain = text.isprintable() and "\\" not in text and quote not in text
        return cst.SubscriptElement(cst.Index(cst.SimpleString(f"{quote}{text}{quote}" if plain else repr(text))))

    old = [(_string(each), each) for each in node.slice]
    known = {text: each for text, each in old if text in texts}
    missing = [element(text) for text in texts if text not in known]
    if "#" in cst.Module([]).code_for_node(node):
        new = [each if text in known else missing.pop(0) for text, each in old]
        kept = dict(enumerate(node.slice))
        new += missing
    else:
        new = [known.get(text) or element(text) for text in texts]
        kept = {place: known[text] for place, text in enumerate(texts) if text in known}
    return node.with_changes(slice=_lay_out(node.slice, new, kept, node.lbracket.whitespace_after, None))


def _string(element: cst.SubscriptElement) -> str | None:
    value = element.slice.value if isinstance(element.slice, cst.Index) else None
    return str(value.evaluated_value) if isinstance(value, (cst.SimpleString, cst.ConcatenatedString)) else None


def raise_it(node: cst.Expr | cst.Return) -> cst.Raise:
    """Write `raise x` for `x` and for `return x`."""
    space = node.whitespace_after_return if isinstance(node, cst.Return) else _SPACE
    return cst.Raise(exc=node.value, whitespace_after_raise=space)


def add_cause(node: cst.Raise, name: str) -> cst.Raise:
    """Write `raise x from name` for `raise x`."""
    return node.with_changes(cause=cst.From(cst.Name(name), whitespace_before_from=_SPACE))


def name_caught(node: cst.ExceptHandler | cst.ExceptStarHandler, name: str) -> cst.BaseStatement | cst.CSTNode:
    """Write `except x as name` for `except x`, and `except BaseException as name` for a bare `except`."""
    caught = node.type or cst.Name("BaseException")
    return node.with_changes(
        type=caught,
        name=cst.AsName(cst.Name(name)),
        whitespace_after_except=node.whitespace_after_except if node.type else _SPACE,
    )


def add_parameter(node: cst.FunctionDef, code: str, index: int) -> cst.FunctionDef:
    """Add a positional parameter: as the first one, or as the second behind `self`."""
    parsed = cst.ensure_type(cst.parse_statement(f"def _({code}): pass"), cst.FunctionDef)
    new = parsed.params.params[0].with_changes(comma=cst.MaybeSentinel.DEFAULT)
    params = node.params
    name = "posonly_params" if params.posonly_params else "params"
    here: Sequence[cst.Param] = getattr(params, name)
    if index and not here:
        raise ValueError("the function has no first parameter")
    opening = node.whitespace_before_params
    everything = [*params.posonly_params, *params.params, params.star_arg, *params.kwonly_params, params.star_kwarg]
    if sum(isinstance(param, cst.CSTNode) for param in everything) == len(here) and name == "params":
        mixed = [*here[:index], new, *here[index:]]
        kept = {place: param for place, param in enumerate(mixed) if param is not new}
        laid_out = _lay_out(here, mixed, kept, opening, "whitespace_after_param")
    else:
        gap = _gap(here or [new], opening)
        if index and isinstance(before := here[index - 1].comma, cst.Comma):
            gap = _without_comment(before.whitespace_after)
        laid_out = [*here[:index], new.with_changes(comma=cst.Comma(whitespace_after=gap)), *here[index:]]
    return node.with_changes(params=params.with_changes(**{name: laid_out}))


def import_names(node: cst.ImportFrom, *clauses: str) -> cst.ImportFrom:
    """Import more names from a module: each where it belongs if the names are sorted as ruff and isort do."""
    if isinstance(node.names, cst.ImportStar):
        return node
    names = list(node.names)
    for clause in clauses:
        statement = cst.ensure_type(cst.parse_statement(f"from _ import {clause}"), cst.SimpleStatementLine)
        new = cst.ensure_type(statement.body[0], cst.ImportFrom).names
        assert not isinstance(new, cst.ImportStar)
        later = (place for place, alias in enumerate(names) if import_rank(_text(new[0])) < import_rank(_text(alias)))
        names.insert(next(later, len(names)), new[0])
    kept = {place: alias for place, alias in enumerate(names) if alias in node.names}
    opening = node.lpar.whitespace_after if node.lpar is not None else _SPACE
    return node.with_changes(names=_lay_out(node.names, names, kept, opening, None))


def _text(alias: cst.ImportAlias) -> str:
    return str(alias.evaluated_name)


def import_rank(name: str) -> tuple[int, str]:
    """The order of names in an import: constants, then classes, then functions."""
    if name.isupper() and len(name) > 1:
        return (0, name)
    return (1, name) if name[:1].isupper() else (2, name)


def remove_comment(node: cst.TrailingWhitespace | cst.EmptyLine) -> Any:
    """Remove a comment with the spaces before it, or the line that it has for itself."""
    if isinstance(node, cst.EmptyLine):
        return cst.RemoveFromParent()
    return node.with_changes(whitespace=_NO_SPACE, comment=None)


def replace_comment(node: cst.TrailingWhitespace | cst.EmptyLine, text: str) -> Any:
    """Replace a comment."""
    return node.with_changes(comment=cst.Comment(text))


BY_NAME: Final = {
    "replace": Transformation(replace, (cst.BaseExpression,)),
    "rewrite_call": Transformation(rewrite_call, (cst.Call,)),
    "remove_key": Transformation(remove_key, (cst.Dict,)),
    "set_strings": Transformation(set_strings, (cst.Subscript,)),
    "raise_it": Transformation(raise_it, (cst.Expr, cst.Return)),
    "add_cause": Transformation(add_cause, (cst.Raise,)),
    "name_caught": Transformation(name_caught, (cst.ExceptHandler, cst.ExceptStarHandler)),
    "add_parameter": Transformation(add_parameter, (cst.FunctionDef,)),
    "import_names": Transformation(import_names, (cst.ImportFrom,)),
    "remove_comment": Transformation(remove_comment, (cst.TrailingWhitespace, cst.EmptyLine)),
    "replace_comment": Transformation(replace_comment, (cst.TrailingWhitespace, cst.EmptyLine)),
}


# ---------------------------------------------------------------------------------------------------------------------
# Commas, spaces and comments between items.
# ---------------------------------------------------------------------------------------------------------------------


def _lay_out(old: Sequence[Any], new: list[Any], kept: dict[int, Any], opening: Any, after: str | None) -> list[Any]:
    """Separate items as before: new ones as their neighbours, and comments stay with the item that they follow.

    Args:
        old: The items as they were.
        new: The items as they are to be; their commas are replaced.
        kept: Those of the old items that stay, by their place in `new`.
        opening: The white space behind the opening bracket.
        after: The attribute that holds the white space behind an item without a comma, if it has one.
    """
    if not new:
        return new
    gap = _gap(old, opening)
    trailing = bool(old) and isinstance(old[-1].comma, cst.Comma)
    closing = _NO_SPACE
    if trailing:
        closing = old[-1].comma.whitespace_after
    elif old and after:
        closing = getattr(old[-1], after)
    last = kept.get(len(new) - 1)
    end = closing
    if last is None or last is not old[-1]:
        end = _without_comment(closing)
        if last is not None and _comment(last.comma.whitespace_after):
            # Its comment stays with it, before the closing bracket.
            end = last.comma.whitespace_after.with_changes(last_line=getattr(closing, "last_line", closing))
    result: list[Any] = []
    for place, item in enumerate(new):
        if place == len(new) - 1:
            trailing = trailing or (after is None and _comment(end))
            changes: dict[str, Any] = {"comma": _comma(last, end) if trailing else cst.MaybeSentinel.DEFAULT}
            if after:
                changes[after] = _NO_SPACE if trailing else end
            result.append(item.with_changes(**changes))
            continue
        original = kept.get(place)
        if original is not None and original is not old[-1]:
            result.append(item.with_changes(comma=original.comma))
            continue
        space = gap
        if original is not None and _comment(closing):
            space = closing.with_changes(last_line=getattr(gap, "last_line", gap))
        changes = {"comma": _comma(original, space)}
        if after:
            changes[after] = _NO_SPACE
        result.append(item.with_changes(**changes))
    return result


def _comma(item: Any, after: Any) -> cst.Comma:
    """The comma behind an item, with the white space behind it. The white space before it may hold a comment."""
    if item is not None and isinstance(item.comma, cst.Comma):
        return item.comma.with_changes(whitespace_after=after)
    return cst.Comma(whitespace_after=after)


def _gap(items: Sequence[Any], opening: Any) -> Any:
    """The white space between two items: as between those that are there, else a space or a new line."""
    if len(items) > 1 and isinstance(items[0].comma, cst.Comma):
        return _without_comment(items[0].comma.whitespace_after)
    return _without_comment(opening) if items and isinstance(opening, cst.ParenthesizedWhitespace) else _SPACE


def _comment(space: Any) -> bool:
    """Whether a comment is part of white space."""
    if not isinstance(space, cst.ParenthesizedWhitespace):
        return False
    return space.first_line.comment is not None or any(line.comment is not None for line in space.empty_lines)


def _without_comment(space: Any) -> Any:
    if not isinstance(space, cst.ParenthesizedWhitespace):
        return space
    first = space.first_line.with_changes(comment=None, whitespace=_NO_SPACE)
    return space.with_changes(first_line=first, empty_lines=[])
