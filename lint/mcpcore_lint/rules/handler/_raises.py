"""Clauses that nothing reaches, functions that never raise, and exceptions that are no failures of the tool."""

import ast
import re
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Final

from mcpcore_lint.engine.flow.bodies.builder import HandlerBuilder
from mcpcore_lint.engine.registrations.callers import uses_in
from mcpcore_lint.engine.semantics.endings import leaves
from mcpcore_lint.engine.semantics.symbols import last_name
from mcpcore_lint.engine.semantics.type_model import ancestry
from mcpcore_lint.engine.syntax.module import ClassInfo, Module, kept
from mcpcore_lint.engine.syntax.parse import all_parameters, body_of, own_nodes, own_statements, walk, walk_shallow
from mcpcore_lint.model import CatchSite, ErrorSite, FunctionNode, Handler, ToolDef
from mcpcore_lint.patterns import regex
from mcpcore_lint.rule import RuleContext
from mcpcore_lint.rules._thrown import guards
from mcpcore_lint.rules.handler._imports import is_for_required

NOT_FAILURES: Final = frozenset(
    f"builtins.{name}"
    for name in ("StopIteration", "StopAsyncIteration", "GeneratorExit", "KeyboardInterrupt", "AssertionError")
)
"""Builtin exceptions that control the program or mean a bug. The agent needs no advice about them."""

_UNKNOWN_TOOL: Final = regex(
    r"\b(?:unknown|no such|unsupported|invalid) tool\b|\btool\b.*\b(?:not found|unknown)\b", re.IGNORECASE
)

_LOGGING: Final = frozenset({"debug", "info", "warning", "error", "exception"})
_DICT: Final = regex(r"(?:typing\.)?[Dd]ict\b")
_TEXTS: Final = regex(r"(?:typing\.)?[Ll]ist\[str\](?: \| None)?\Z")
_RAISING: Final = (
    *(ast.Subscript, ast.BinOp, ast.Raise, ast.Assert, ast.With, ast.AsyncWith, ast.For, ast.AsyncFor),
    *(ast.Import, ast.ImportFrom),
)
"""What may raise besides calls."""
_PLAIN: Final = (
    *(ast.Return, ast.Expr, ast.If, ast.Assign, ast.AnnAssign, ast.Name, ast.Constant, ast.Dict, ast.Subscript),
    *(ast.Call, ast.Await, ast.keyword, ast.JoinedStr, ast.FormattedValue, ast.BoolOp, ast.UnaryOp, ast.Compare),
    *(ast.List, ast.Tuple, ast.Pass),
)
"""What raises nothing by itself, or is looked for as a risk."""
_TESTS: Final = frozenset({"isinstance", "issubclass"})
_OF_CONVERSIONS: Final = frozenset({"builtins.ValueError", "builtins.TypeError"})  # what int("five") raises
_COLLECTING: Final = ("__subclasses__", "__init_subclass__", "globals(")
"""Code that may get a class without its name."""
_MAX_DEPTH: Final = 3
"""How many functions that call each other are read."""


def about_an_unknown_tool(error: ErrorSite, tool: ToolDef) -> bool:
    """Whether a low-level handler, which dispatches to every tool, says that a tool does not exist."""
    if tool.flavour != "lowlevel":
        return False
    if error.type_name == "builtins.NotImplementedError" or _UNKNOWN_TOOL.search(ast.unparse(error.node)):
        return True
    # Or its line runs for none of the tools that the handler dispatches to.
    line = error.node.lineno
    routes = [route for route in tool.serves if route.inside.node is tool.handler.node]
    return bool(routes) and all(any(first <= line <= last for first, last in route.elsewhere) for route in routes)


def is_idle(catch: CatchSite | None, function: Handler, ctx: RuleContext) -> bool:
    """Whether nothing reaches a clause: the guarded statements are plain, log, or call functions that never raise.

    Or it catches only exceptions of the project that nothing makes, or that the clauses before it catch.
    """
    types = catch.types if catch is not None else ()
    # A name may have no value yet.
    guarded = catch.try_body if catch is not None and "builtins.NameError" not in types else ()
    risks = _risks(guarded, function.node)
    needless = catch is not None and (_is_never_made(catch, function, ctx) or is_for_required(catch, function.module))
    return needless or (
        # `first < second` raises a TypeError for a text and a number.
        (bool(risks) or (bool(guarded) and "builtins.TypeError" not in types and _is_plain(_run_by(guarded))))
        and all(_is_harmless(risk, function, ctx) for risk in risks)
        # A function that a clause calls may raise.
        and not any(catch is not None and guards(catch, span) for _, _, span in ctx.stopped(function))
    )


def guarded_risks(catch: CatchSite | None, function: Handler, ctx: RuleContext) -> list[ast.AST]:
    """What may raise in the `try` of a clause that is only for missing keys, or only for texts that are no numbers.

    Where other statements may raise, too, nothing is for texts that are no numbers.
    """
    guarded = catch.try_body if catch is not None else ()
    nodes = _run_by(guarded)
    if catch is not None and catch.types == ("builtins.KeyError",):
        return [node for node in nodes if _may_lack_key(node, function, ctx)]
    is_for_numbers = catch is not None and _OF_CONVERSIONS.issuperset(catch.types) and _is_plain(nodes)
    return _risks(guarded, function.node) if is_for_numbers else []


def _may_lack_key(node: ast.AST, function: Handler, ctx: RuleContext, depth: int = 0) -> bool:
    """Whether a node takes something by its key, raises, or calls a function of the project that does."""
    called = ctx.called(function, node) if isinstance(node, ast.Call) and depth <= _MAX_DEPTH else ()
    inside = [(other, module) for other in called if (module := ctx.project.module_defining(other)) is not None]
    return (
        isinstance(node, ast.Raise)
        # `recent[-1]` and `text[:80]` are of lists and texts.
        or (
            isinstance(node, ast.Subscript)
            and not isinstance(node.ctx, ast.Store)
            and not isinstance(node.slice, (ast.Slice, ast.UnaryOp))
        )
        # `jobs.pop(job)` is of a dict, and `recent.pop(0)` of a list.
        or (
            isinstance(node, ast.Call)
            and last_name(node) == "pop"
            and len(node.args) == 1
            and not ast.unparse(node.args[0]).lstrip("-").isdigit()
        )
        or any(
            _may_lack_key(part, HandlerBuilder.of(other, module, ctx.hierarchy).model, ctx, depth + 1)
            for other, module in inside
            for part in _run_by(body_of(other))
        )
    )


def _is_never_made(catch: CatchSite, function: Handler, ctx: RuleContext) -> bool:
    """Whether nothing of the project makes an exception that a clause catches and the clauses before it do not."""
    caught = [ctx.project.class_named(name or "") for name in catch.types]
    if None in caught:
        return False
    clauses = [other for other in function.catches if other.try_body == catch.try_body]
    before = [ctx.project.class_named(name or "") for other in clauses[: clauses.index(catch)] for name in other.types]
    kinds = (kind for info in caught if info is not None for kind in _kinds_of(info))
    return all(_is_only_named(kind) for kind in kinds if not {*before} & {*ancestry(kind)})


@kept
def _kinds_of(info: ClassInfo) -> list[ClassInfo]:
    """A class of the project and the classes that derive from it."""
    kinds = [info]
    for kind in kinds:
        derives = regex(rf"class\s+\w+\s*[(\[][^:]*\b{kind.node.name}\b")
        modules = info.module.project.modules_with(kind.module, partial(_matches, kind.node.name, derives)) or ()
        others = (other for module in modules for other in module.classes.values())
        kinds += [other for other in others if info in ancestry(other) and other not in kinds]
    return kinds


def only_truth(function: FunctionNode, ctx: RuleContext) -> bool | None:
    """Whether all that a function returns is true, if it returns nothing but constants; None if it may differ."""
    module = ctx.project.module_defining(function)
    if module is None or isinstance(function, ast.Lambda) or function.decorator_list:
        return None
    nodes = own_nodes(function)
    values = [part.value for part in nodes if isinstance(part, ast.Return)]
    truths = {bool(value.value) if isinstance(value, ast.Constant) else None for value in values}
    # It returns None at its end, or a generator.
    truths |= set() if leaves([*function.body], module.scope_of(function)) else {False}
    truths |= {None} if any(isinstance(part, (ast.Yield, ast.YieldFrom)) for part in nodes) else set()
    return truths.pop() if len(truths) == 1 and not _is_replaced(function, ctx) else None


def _is_replaced(function: ast.FunctionDef | ast.AsyncFunctionDef, ctx: RuleContext) -> bool:
    """Whether another function may run in place of a function: one of its name, of a subclass, or that code sets."""
    module = ctx.project.module_defining(function)
    if module is None:
        return True
    sets = regex(rf"\.{function.name}\s*=(?!=)")
    # In a project with too many files to look at, such code is taken to be absent.
    if module.project.modules_with(module, partial(_matches, function.name, sets)):
        return True
    owner = module.scope_of(function).owner
    if owner is None:
        return not _is_bound_once(module, function.name)
    return any(function.name in kind.attributes for kind in _kinds_of(module.classes[owner])[1:])


@kept
def _is_only_named(info: ClassInfo) -> bool:
    """Whether the project names a class only to catch it, to derive from it or to test for it.

    Code that goes through subclasses, or through the members of a module, may make a class without its name.
    """
    name, project, stem = info.node.name, info.module.project, info.module.name.rpartition(".")[2]
    makes = regex(rf"(?<!class )\b{name}\(|\braise (?:\w+\.)*{name}\b")
    members = [regex(rf"{word}(?:\w+\.)*{stem}\b") for word in (r"getattr\(", r"vars\(", r"getmembers\(")]

    def collects(text: str) -> bool:
        # Words are found much faster than patterns that begin with several.
        return any(word in text for word in _COLLECTING) or any(pattern.search(text) for pattern in members)

    if info.node.decorator_list or not _is_bound_once(info.module, name):
        return False
    if project.has_text(info.module, collects) or project.has_text(info.module, partial(_matches, name, makes)):
        return False
    modules = project.modules_with(info.module, lambda text: name in text)
    return all(_only_names(part, module) for module in modules or () for part in uses_in(module).get(name, ()))


def _is_bound_once(module: Module, name: str) -> bool:
    """Whether a file gives a name to nothing else, such as to an import beside a class that takes its place."""
    return len(module.scope.bindings.get(name, ())) <= 1


def _matches(name: str, pattern: re.Pattern[str], text: str) -> bool:
    """Whether a text has a name, in a place that a pattern finds. To look for the name first saves time."""
    return name in text and pattern.search(text) is not None


def _only_names(part: ast.AST, module: Module) -> bool:
    around = module.parents.get(part)
    around = module.parents.get(around) if isinstance(around, ast.Tuple) else around
    return isinstance(around, (ast.ExceptHandler, ast.ClassDef)) or (
        isinstance(around, ast.Call) and last_name(around.func) in _TESTS and part is not around.func
    )


def _is_harmless(risk: ast.AST, function: Handler, ctx: RuleContext, depth: int = 0) -> bool:
    """Whether a part of a function calls nothing but functions of the project that never raise."""
    called = ctx.called(function, risk) if isinstance(risk, ast.Call) and depth <= _MAX_DEPTH else ()
    return bool(called) and all(
        not isinstance(node, ast.Lambda) and never_raises(node, ctx, depth + 1) and not _is_replaced(node, ctx)
        for node in called
    )


def never_raises(function: ast.FunctionDef | ast.AsyncFunctionDef, ctx: RuleContext, depth: int = 0) -> bool:
    """Whether a function is plain, or ends with a `try` whose clauses answer each exception and is plain before it."""
    *first, last = function.body
    catches = (
        isinstance(last, ast.Try)
        and not last.orelse
        and any(clause.type is None or ast.unparse(clause.type) == "Exception" for clause in last.handlers)
        and not any(isinstance(part, ast.Raise) for part in walk([*last.handlers, *last.finalbody]))
    )
    statements = first if catches else [*first, last]
    if not catches and (function.decorator_list or not _is_plain(_run_by(statements))):
        return False
    risks = _risks(statements, function)
    module = ctx.project.module_defining(function)
    return not risks or (
        module is not None
        and all(
            _is_harmless(risk, HandlerBuilder.of(function, module, ctx.hierarchy).model, ctx, depth) for risk in risks
        )
    )


def _is_plain(nodes: Sequence[ast.AST]) -> bool:
    """Whether nodes are such that only calls and subscripts among them may raise."""
    called = {part.func for part in nodes if isinstance(part, ast.Call)}
    return all(
        part in called
        or (
            isinstance(part, _PLAIN)
            and getattr(part, "format_spec", None) is None
            # What a name holds may raise when it is awaited.
            and not (isinstance(part, ast.Await) and isinstance(part.value, ast.Name))
            # `first, second = parts` raises if there are not two.
            and not (isinstance(part, (ast.List, ast.Tuple)) and isinstance(part.ctx, ast.Store))
        )
        for part in nodes
    )


def _run_by(statements: Iterable[ast.AST]) -> list[ast.AST]:
    """The nodes that statements run: all but the annotations of variables, which no function evaluates."""
    nodes = walk_shallow([*statements])
    kept = {part for node in nodes if isinstance(node, ast.AnnAssign) for part in walk([node.annotation])}
    return [part for part in nodes if part not in kept] if kept else nodes


def _risks(statements: Iterable[ast.stmt], function: FunctionNode) -> list[ast.AST]:
    """What may raise in statements: calls and the like, but no line of a log, and no constant key of a dict."""
    nodes = _run_by(statements)
    # What logs returns nothing to use, unlike `client.info()`.
    alone = [getattr(part.value, "value", part.value) for part in nodes if isinstance(part, ast.Expr)]
    dicts = _holders(function, _DICT, ast.Dict)

    def is_safe(part: ast.AST) -> bool:
        match part:
            case ast.Call(func=ast.Attribute(attr=name)) if name in _LOGGING and part in alone:
                return True
            case (
                ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="get"), args=[ast.Constant(), *_])
                | ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(), ctx=ast.Store())
            ):
                return name in dicts
            case ast.Call(func=ast.Attribute(value=ast.Constant(value=str()), attr="join"), args=[ast.Name(id=name)]):
                tested = [node for node in nodes if isinstance(node, ast.If) and getattr(node.test, "id", "") == name]
                return name in _holders(function, _TEXTS) and any(part in walk([*node.body]) for node in tested)
        return False

    return [part for part in nodes if isinstance(part, (*_RAISING, ast.Call)) and not is_safe(part)]


def _holders(function: FunctionNode, declared: re.Pattern[str], *displays: type[ast.expr]) -> set[str]:
    """The names of a function that hold a value of a kind: as its parameters say, or since it displays them."""
    names = {
        parameter.arg
        for parameter in all_parameters(function.args)
        if parameter.annotation is not None and declared.match(ast.unparse(parameter.annotation))
    }
    others: set[str] = set()
    for node in own_statements(function):
        match node:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AnnAssign(target=ast.Name(id=name), value=value)
            ):
                (names if isinstance(value, displays) else others).add(name)
    return names - others
