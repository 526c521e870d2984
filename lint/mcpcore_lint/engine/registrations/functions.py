"""The functions behind an expression that is registered."""

import ast
from collections.abc import Callable
from typing import Final, NamedTuple

from mcpcore_lint.engine.registrations.elements import Elements
from mcpcore_lint.engine.registrations.environment import (
    DEEP,
    Frame,
    Placed,
    assignments_of,
    call_frame,
    class_of,
    constructed,
    functions_called,
    method_called,
    method_made,
    substitute,
    written_scope,
)
from mcpcore_lint.engine.semantics.evaluate import evaluate
from mcpcore_lint.engine.semantics.type_model import method_of, outside_bases
from mcpcore_lint.engine.syntax.module import Module, kept
from mcpcore_lint.engine.syntax.parse import Function, alternatives, own_nodes, returned
from mcpcore_lint.engine.syntax.scopes import Scope
from mcpcore_lint.model import Const, FunctionNode, Symbol, Unknown, Value, options

STEPS: Final = 600
"""How many expressions are read for one registration, since names that are bound often lead along too many paths."""
ALL_STEPS: Final = 30_000
"""How many are read for all items of the lists behind one registration, each of which has `STEPS`."""


class Target(NamedTuple):
    """A function that is registered."""

    node: FunctionNode
    module: Module
    name: Value
    """The name of the tool, unless the registration gives one."""
    signed: bool = False
    """Whether a wrapper or `partial(...)` may have replaced its signature."""
    wrappers: tuple[tuple[Function, Module], ...] = ()
    """The functions that are registered in its place, and call it."""
    blind: bool = False
    """Whether it calls a function that cannot be found."""


class Functions:
    """Finds them; `registers` says which calls register something, and `reads` which are read for what they pass on."""

    def __init__(self, registers: Callable[[ast.Call, Scope], bool], reads: Callable[[ast.Call, Scope], bool]) -> None:
        self.registers = registers
        self.reads = reads
        self.begin()
        self.unseen: list[ast.expr] = []
        """Look-ups by a tool's name, in tables whose entries cannot be seen."""
        self.backward = False
        """Whether a parameter is what the calls of its function pass, since no reading of these calls says it."""
        self.hidden: list[Placed] = []
        """What cannot be found although something else is: what a wrapper calls, or the other branch of a choice."""
        self.elements = Elements(self)

    def begin(self) -> None:
        """Begin to read another registration."""
        self.steps = self.all_steps = 0
        # Whether items of a list, or rounds of a loop, were left out since there are too many.
        self.is_cut = False

    def too_many_steps(self) -> bool:
        """Count one more expression, and say whether that is too many."""
        self.steps += 1
        return self.is_exhausted() or self.steps > STEPS

    def is_exhausted(self) -> bool:
        """Count one more step of the whole registration, and say whether that is too many."""
        self.all_steps += 1
        return self.all_steps > ALL_STEPS

    # -- functions ---------------------------------------------------------------------------------------------------

    def behind(self, node: ast.expr, scope: Scope, depth: int = 0) -> list[Target]:
        """The functions that an expression may be: a name, a lambda, `partial(f)`, a method, a callable object."""
        if depth > DEEP or self.too_many_steps():
            return []
        if isinstance(node, ast.Lambda):
            scope.module.note_lambda(node, written_scope(scope))
            return [Target(node, scope.module, Const(node, scope.module, "<lambda>"))]
        if isinstance(node, (ast.IfExp, ast.BoolOp)):
            either: list[Target] = []
            for branch in alternatives(node):
                targets = self.behind(branch, scope, depth + 1)
                self.hidden += [] if targets or isinstance(branch, ast.Constant) else [(branch, scope)]
                either += targets
            return either
        if isinstance(node, (ast.NamedExpr, ast.Await)):
            return self.behind(node.value, scope, depth + 1)
        if isinstance(node, ast.Call):
            return self._called(node, scope, depth)
        if not isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)):
            return []
        seen = substitute(node, scope)
        if seen[0] is not node:
            return self.behind(*seen, depth + 1)
        if isinstance(node, ast.Subscript) and self.elements.members.holder(node.value) is not None:
            return self._members(node.value, node.slice, scope, depth)
        value = evaluate(node, scope)
        symbols = [option.definition for option in options(value) if isinstance(option, Symbol)]
        known = [symbol for symbol in symbols if isinstance(symbol, (ast.FunctionDef, ast.AsyncFunctionDef))]
        if known:
            return [target for definition in known for target in self._function(definition, scope, depth)]
        sources = assignments_of(node, scope) or self.elements.members.home(node, scope)
        sources = sources or self.elements.given(node, scope)
        targets = [target for placed in sources for target in self.behind(*placed, depth + 1)]
        if not targets and isinstance(node, ast.Attribute) and isinstance(value, Unknown):
            method = method_called(node, scope) or method_made(node, scope)
            made, where = constructed(node.value, scope)
            if method is None and isinstance(made, ast.Call) and isinstance(evaluate(made.func, where), Symbol):
                # `FunctionTool(fn).run_async`, of a class that cannot be read
                return self._called(made, where, depth) if class_of(made, where) is None else []
            return [_plain(*method)] if method is not None else []
        return targets

    def _function(self, node: Function, scope: Scope, depth: int) -> list[Target]:
        owner = scope.module.project.module_defining(node)
        if owner is None:
            return []
        wrapped = wrapped_parameter(node, owner)
        if wrapped is not None:
            outside = owner.functions[node].parent
            assert outside is not None
            inside = Frame(outside, scope.filled) if isinstance(scope, Frame) else outside
            signed = owner.source.has("__signature__")
            targets = self.behind(wrapped, inside, depth + 1)
            return [
                target._replace(signed=signed or target.signed, wrappers=(*target.wrappers, (node, owner)))
                for target in targets
            ]
        unknown = Unknown(node, owner, "it is renamed after its definition")
        name = unknown if _is_renamed(node.name, owner) else Const(node, owner, node.name)
        candidates = passed_on(owner, node)
        if not candidates:
            return [Target(node, owner, name)]
        inside = Frame(scope, {}, owner.scope_of(node).bindings)
        behind = (self.behind(candidate, inside, depth + 1) for candidate in candidates)
        targets = next(filter(None, behind), [])
        self.hidden += [] if targets else [(candidates[-1], inside)]
        wrapper = (node, owner)
        targets = [target._replace(name=name, wrappers=(*target.wrappers, wrapper), signed=True) for target in targets]
        return targets or [Target(node, owner, name, blind=True)]

    def _called(self, node: ast.Call, scope: Scope, depth: int) -> list[Target]:
        if self.registers(node, scope):
            return []
        if called := [
            (callee.function, call_frame(callee, node, scope)) for callee in functions_called(node.func, scope)
        ]:
            # A function nested in the callee, or one of the arguments.
            values = [(value, frame) for function, frame in called for value in returned(function)]
            return [target for placed in values for target in self.behind(*placed, depth + 1)]
        if isinstance(node.func, ast.Attribute) and node.func.attr == "get" and node.args:
            entry = ast.copy_location(ast.Subscript(node.func.value, node.args[0], ast.Load()), node)
            seen = substitute(entry, scope)
            if seen[0] is not entry:
                return self.behind(*seen, depth + 1)
        func = evaluate(node.func, scope)
        name = func.name if isinstance(func, Symbol) else ""
        if name == "functools.partial":
            unknown = Unknown(node, scope.module, "the result of partial() has no name")
            targets = self.behind(node.args[0], scope, depth + 1) if node.args else []
            return [target._replace(name=unknown, signed=True) for target in targets]
        if name == "builtins.getattr" and len(node.args) > 1:
            return self._members(node.args[0], node.args[1], scope, depth)
        definition = func.definition if isinstance(func, Symbol) else None
        if isinstance(definition, ast.ClassDef):
            info = scope.module.project.class_info(definition)
            # FastMCP calls `run` of a subclass of its `Tool`.
            made = info is not None and any(base.rpartition(".")[2] == "Tool" for base in outside_bases(info))
            call = method_of(info, "run" if made else "__call__") if info is not None else None
            if info is None or call is None:
                return []
            parts = passed_on(call[1].module, call[0], of_self=True)
            inner = next((method_of(info, part.attr) for part in parts if isinstance(part, ast.Attribute)), None)
            method, owner = inner or call
            wrappers = ((call[0], call[1].module),) if inner is not None else ()
            named = Const(definition, info.module, definition.name)
            return [_plain(method, owner.module)._replace(name=named, wrappers=wrappers)]
        return self._wrapped(node, scope, depth) if name or isinstance(node.func, ast.Call) else []

    def _members(self, holder: ast.expr, name: ast.expr, scope: Scope, depth: int) -> list[Target]:
        """`getattr(module, name)`, `vars(module)[name]`, `globals()[name]`."""
        members = self.elements.members.named_members(holder, name, scope)
        return [target for placed in members for target in self.behind(*placed, depth + 1)]

    def _wrapped(self, node: ast.Call, scope: Scope, depth: int) -> list[Target]:
        """`decorate(f)`, by a decorator that cannot be read."""
        if len(node.args) != 1 or not isinstance(node.args[0], (ast.Name, ast.Attribute, ast.Lambda, ast.Call)):
            return []
        return self.behind(node.args[0], scope, depth + 1)


@kept
def passed_on(module: Module, node: Function, *, of_self: bool = False) -> list[ast.expr]:
    """What a function with `**kwargs` may pass all of them on to: `tool.run(**kwargs)`, with `tool` from around it.

    With `of_self`, it may be a method of the same object.
    """
    candidates: list[ast.expr] = []
    scope = module.functions.get(node)
    calls = [part for part in own_nodes(node) if isinstance(part, ast.Call)] if node.args.kwarg is not None else []
    for call in calls if scope is not None and not node.decorator_list else ():
        # Also `to_thread(run, **kwargs)`.
        passes = any(keyword.arg is None for keyword in call.keywords)
        # `signature.bind(**kwargs)` only checks them.
        passes = passes and getattr(call.func, "attr", "") not in {"bind", "bind_partial"}
        for func in (call.func, *call.args[:1]) if passes else ():
            root: ast.expr | None = func
            for _ in range(DEEP):
                place = scope.lookup(root.id) if isinstance(root, ast.Name) and scope is not None else None
                if isinstance(root, (ast.Attribute, ast.Call)):
                    root = root.value if isinstance(root, ast.Attribute) else root.func
                elif place is None or place[0].is_module:
                    break
                elif place[0] is not scope or (of_self and isinstance(root, ast.Name) and root.id == "self"):
                    candidates += [func] if place[1][0].kind != "function" else []
                    break
                else:
                    root = place[1][0].value
    return candidates


def _is_renamed(name: str, module: Module) -> bool:
    """Whether a file renames a function after its definition: `call.__name__ = spec.name`."""
    if not module.source.has(".__name__ = "):
        return False
    start = module.source.text.find(f"{name}.__name__ = ")
    return start == 0 or (start > 0 and module.source.text[start - 1] in " \t\n;")


def wrapped_parameter(node: Function, module: Module) -> ast.Name | None:
    """The parameter of the enclosing function that a function wraps: `@wraps(fn) def inner(...)`."""
    scope = module.functions.get(node)
    if scope is None or scope.parent is None or scope.parent.is_module:
        return None
    for decorator in node.decorator_list:
        if isinstance(decorator, ast.Call) and decorator.args and isinstance(decorator.args[0], ast.Name):
            func = evaluate(decorator.func, scope.parent)
            place = scope.parent.lookup(decorator.args[0].id)
            # Several libraries have a `wraps` like that of functools.
            if isinstance(func, Symbol) and func.name.endswith(".wraps") and place is not None:
                return decorator.args[0] if place[1][0].kind == "parameter" else None
    return None


def _plain(node: Function, module: Module) -> Target:
    return Target(node, module, Const(node, module, node.name))
