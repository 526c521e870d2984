"""What the body of a handler does: the errors that it makes, raises, catches and returns."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, Final, Literal

from mcpcore_lint.light import replace
from mcpcore_lint.model import (
    Argument,
    CallValue,
    CatchSite,
    Cause,
    Choice,
    CodeValue,
    Const,
    ContextParameter,
    ErrorForm,
    ErrorSite,
    Fate,
    FunctionNode,
    Handler,
    Items,
    Mapping,
    Missing,
    Parameter,
    RecoveryCall,
    ReturnSite,
    Symbol,
    ThrowSite,
    Unknown,
    Value,
    options,
)
from mcpcore_lint.names import (
    BUILTIN_EXCEPTIONS,
    FACTORIES,
    FRAMEWORK_ERRORS,
    PROTOCOL_ERRORS,
)
from mcpcore_lint.project import bind_statement
from mcpcore_lint.resolve import CODES, Resolver, choice, class_info, evaluate, is_local
from mcpcore_lint.subclasses import CODED_ERROR, coded_calls, reason_of, sets_itself, told
from mcpcore_lint.syntax import FIELDS, all_parameters, body_of, walk_shallow

if TYPE_CHECKING:
    from mcpcore_lint.hierarchy import Hierarchy
    from mcpcore_lint.project import Module, Scope

PROTOCOL_CODES_NEEDED: Final = frozenset({-32042, -32021, -32003})
"""Codes of `MCPError` that the protocol itself needs: URL elicitation, a missing capability."""
_FAIL: Final[dict[str, int | None]] = {"reason": 0, "message": 1, "data": 2, "recovery": None, "retry": None}
_FACTORY: Final[dict[str, int | None]] = {"message": 0, "data": 1, "reason": None, "recovery": None, "retry": None}
_CODED: Final[dict[str, int | None]] = {
    "code": 0,
    "message": 1,
    "data": 2,
    "reason": None,
    "recovery": None,
    "retry": None,
}
_FUNCTIONS: Final = frozenset({ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda})


def argument_of(call: CallValue, name: str, position: int | None) -> Argument:
    """An argument of a call, with the expression that stands there."""
    node = call.node
    if type(node) is ast.Call:
        for keyword in node.keywords:
            if keyword.arg == name:
                return Argument(name, call.argument(name, position), keyword.value, keyword)
        if (
            position is not None
            and position < len(node.args)
            and not any(type(each) is ast.Starred for each in node.args[: position + 1])
        ):
            return Argument(name, call.argument(name, position), node.args[position])
    return Argument(name, call.argument(name, position))


class HandlerBuilder:
    """Reads the body of one handler, nested functions included."""

    def __init__(self, node: FunctionNode, module: Module, hierarchy: Hierarchy) -> None:
        self.node = node
        self.module = module
        self.hierarchy = hierarchy
        self.scope = module.scope_of(node)
        self.parents: dict[ast.AST, ast.AST] = {}
        self.function_of: dict[ast.AST, FunctionNode] = {}
        self.context: ContextParameter | None = None
        self.model: Handler
        self._errors: dict[ast.AST, ErrorSite] = {}
        self._catches: dict[ast.AST, CatchSite] = {}

    @classmethod
    def of(cls, node: FunctionNode, module: Module, hierarchy: Hierarchy) -> HandlerBuilder:
        """The reader of a function, its body read; the same one each time."""
        found = module.built.get(node)
        if found is None:
            found = cls(node, module, hierarchy)
            found.model = found.build()
            module.built[node] = found
        return found

    def forget(self) -> None:
        """Let go of the syntax."""
        self.parents.clear()
        self.function_of.clear()
        self._errors.clear()
        self._catches.clear()

    def build(self) -> Handler:
        """Read the body."""
        node = self.node
        parameters, self.context = self._parameters()
        self._index()
        for clause in self._clauses:
            self._catches[clause] = self._clause(clause)
        for block in self.withs:
            suppress = self._suppress(block)
            if suppress is not None:
                self._catches[block] = suppress
        recovery: list[RecoveryCall] = []
        for call in self.calls:
            func = call.func
            if type(func) is ast.Attribute and func.attr == "recovery_for" and self._is_context_call(call, func.attr):
                reason = evaluate(call.args[0], self._scope(call)) if call.args else Missing(call, self.module)
                recovery.append(RecoveryCall(call, self.module, reason))
                continue
            error = self._error(call)
            if error is not None:
                self._errors[call] = error
        throws = [throw for each in self._raises for throw in self._throws(each)]
        nested = self.function_of
        returns = [
            ReturnSite(each, self.module, self.scope, self._catch_of(each), node)
            for each in self.returns
            if each not in nested
        ]
        return Handler(
            node,
            self.module,
            self.scope.qualname,
            parameters,
            self.context,
            self.scope.owner,
            tuple(self._errors.values()),
            tuple(throws),
            tuple(self._catches.values()),
            tuple(returns),
            tuple(recovery),
        )

    def _index(self) -> None:
        """Note every node's parent, which nodes are in a nested function, and those that matter by their kind."""
        module = self.module
        parents = self.parents
        function_of = self.function_of
        self.calls: list[ast.Call] = []
        self.attributes: list[ast.Attribute] = []
        self._raises: list[ast.Raise] = []
        self.returns: list[ast.Return] = []
        self._clauses: list[ast.ExceptHandler] = []
        self.withs: list[ast.With | ast.AsyncWith] = []
        noted: dict[type, list[Any]] = {
            ast.Call: self.calls,
            ast.Attribute: self.attributes,
            ast.Raise: self._raises,
            ast.Return: self.returns,
            ast.ExceptHandler: self._clauses,
            ast.With: self.withs,
            ast.AsyncWith: self.withs,
        }
        body = body_of(self.node)
        for each in body:
            parents[each] = self.node
        functions: list[tuple[list[ast.AST], FunctionNode]] = [(body[::-1], self.node)]
        fields = FIELDS
        while functions:
            stack, function = functions.pop()
            inner = function is not self.node
            while stack:
                each = stack.pop()
                kind = type(each)
                if inner:
                    function_of[each] = function
                found = noted.get(kind)
                if found is not None:
                    found.append(each)
                names = fields[kind]
                if not names:
                    continue
                # As `children` does; written out, since this is where most of the time of a run is spent.
                below: list[ast.AST] = []
                for name in names:
                    value = getattr(each, name, None)
                    if value is None:
                        continue
                    if type(value) is list:
                        for child in value:
                            if child is not None:
                                parents[child] = each
                                below.append(child)
                    else:
                        parents[value] = each
                        below.append(value)
                below.reverse()
                if kind in _FUNCTIONS:
                    if kind is ast.Lambda:
                        module.note_lambda(each, module.functions[function])  # type: ignore[arg-type]
                    # What is nested belongs to the nested function; the rest of this one is taken up again after it.
                    functions.append((stack, function))
                    functions.append((below, each))  # type: ignore[arg-type]
                    break
                if kind is ast.comprehension:
                    # Its variables are those of a scope of its own; here they are the function's.
                    bind_statement(each, module.functions[function].bindings, module.functions[function])
                stack += below

    def _scope(self, node: ast.AST) -> Scope:
        return self.module.scope_of(self.function_of.get(node, self.node))

    # -- parameters ----------------------------------------------------------------------------------------------

    def _parameters(self) -> tuple[tuple[Parameter, ...], ContextParameter | None]:
        args = self.node.args
        names = all_parameters(args)
        scope = self.scope
        if scope.owner is not None and names and not _is_static(self.node):
            names = names[1:]
        positional = [*args.posonlyargs, *args.args]
        defaults: dict[str, ast.expr] = {}
        if args.defaults:
            for arg, default in zip(positional[-len(args.defaults) :], args.defaults, strict=True):
                defaults[arg.arg] = default
        for arg, kw_default in zip(args.kwonlyargs, args.kw_defaults, strict=True):
            if kw_default is not None:
                defaults[arg.arg] = kw_default
        context: ContextParameter | None = None
        found: list[Parameter] = []
        outside = scope.parent or self.module.scope
        for arg in names:
            kind: Literal["positional", "keyword", "var_positional", "var_keyword"] = "positional"
            if arg is args.vararg:
                kind = "var_positional"
            elif arg is args.kwarg:
                kind = "var_keyword"
            elif arg in args.kwonlyargs:
                kind = "keyword"
            taken = self._context(arg, outside)
            if taken is not None and context is None:
                context = taken
            given = defaults.get(arg.arg)
            description = self._description(arg, given, outside)
            injected = taken is not None or self._injected(given, arg.annotation, outside)
            found.append(Parameter(arg.arg, arg, arg.annotation, given, kind, description, injected))
        return tuple(found), context

    def _context(self, arg: ast.arg, scope: Scope) -> ContextParameter | None:
        annotation = arg.annotation
        if annotation is None:
            return None
        resolver = Resolver()
        symbol = resolver.annotation_symbol(annotation, scope)
        if symbol is None or symbol.name not in {"mcpcore.Context", "mcp.Context", "fastmcp.Context"}:
            return None
        ours = symbol.name == "mcpcore.Context"
        argument, where = self._context_argument(annotation, scope)
        if argument is None:
            return ContextParameter(
                arg.arg, arg, annotation, None, None, bare=True, any_reason=False, resolved=True, mcpcore=ours
            )
        reasons = Resolver().literal_strings(argument, where)
        named = Resolver().annotation_symbol(argument, where)
        any_reason = named is not None and named.name in {"typing.Any", "builtins.str", "typing.LiteralString"}
        never = named is not None and named.name in {"typing.Never", "typing.NoReturn"}
        if never:
            reasons = ()
        resolved = reasons is not None or any_reason
        return ContextParameter(
            arg.arg,
            arg,
            annotation,
            argument,
            reasons,
            bare=False,
            any_reason=any_reason,
            resolved=resolved,
            mcpcore=ours,
        )

    def _context_argument(self, annotation: ast.expr, scope: Scope) -> tuple[ast.expr | None, Scope]:
        from mcpcore_lint.resolve import unquote

        node: ast.expr | None = unquote(annotation)
        where = scope
        for _ in range(10):
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
                left_none = isinstance(node.left, ast.Constant)
                node = unquote(node.right if left_none else node.left)
                continue
            if isinstance(node, ast.Subscript):
                head = evaluate(node.value, where)
                if isinstance(head, Symbol) and head.name in {"typing.Annotated", "typing.Optional"}:
                    inner = node.slice
                    node = unquote(inner.elts[0] if isinstance(inner, ast.Tuple) and inner.elts else inner)
                    continue
                inner = node.slice
                return (inner.elts[0] if isinstance(inner, ast.Tuple) and inner.elts else inner), where
            if isinstance(node, ast.Name | ast.Attribute):
                alias = Resolver().alias_of(node, where)
                if alias is not None and alias[0] is not node:
                    node, where = unquote(alias[0]), alias[1]
                    continue
            break
        return None, where

    def _description(self, arg: ast.arg, default: ast.expr | None, scope: Scope) -> Value:
        from mcpcore_lint.resolve import unquote

        candidates: list[ast.expr] = []
        annotation = unquote(arg.annotation)
        if annotation is not None:
            target: ast.expr | None = annotation
            where = scope
            for _ in range(5):
                if isinstance(target, ast.Name | ast.Attribute):
                    alias = Resolver().alias_of(target, where)
                    if alias is None or alias[0] is target:
                        break
                    target, where = unquote(alias[0]), alias[1]
                else:
                    break
            if isinstance(target, ast.Subscript):
                head = evaluate(target.value, where)
                if isinstance(head, Symbol) and head.name == "typing.Annotated" and isinstance(target.slice, ast.Tuple):
                    for extra in target.slice.elts[1:]:
                        value = evaluate(extra, where)
                        if isinstance(value, Const) and isinstance(value.value, str):
                            return value
                        if isinstance(value, CallValue) and value.func.name.rpartition(".")[2] in {"Field", "Doc"}:
                            position = 0 if value.func.name.endswith("Doc") else None
                            given = value.argument("documentation" if position == 0 else "description", position)
                            if not isinstance(given, Missing):
                                return given
        if default is not None:
            candidates.append(default)
        for each in candidates:
            value = evaluate(each, scope)
            if isinstance(value, CallValue) and value.func.name.rpartition(".")[2] == "Field":
                return value.argument("description")
        return Missing(arg, self.module)

    @staticmethod
    def _injected(default: ast.expr | None, annotation: ast.expr | None, scope: Scope) -> bool:
        def injects(value: Value) -> bool:
            return isinstance(value, CallValue) and value.func.name.rpartition(".")[2] in {
                "Depends",
                "CurrentContext",
                "CurrentFastMCP",
                "Resolve",
                "Elicit",
                "Sample",
                "ListRoots",
                "Progress",
            }

        if default is not None and isinstance(default, ast.Call) and injects(evaluate(default, scope)):
            return True
        if isinstance(annotation, ast.Subscript) and isinstance(annotation.slice, ast.Tuple):
            return any(
                isinstance(each, ast.Call) and injects(evaluate(each, scope)) for each in annotation.slice.elts[1:]
            )
        return False

    # -- errors --------------------------------------------------------------------------------------------------

    def _is_context_call(self, call: ast.Call, method: str) -> bool:
        func = call.func
        if type(func) is not ast.Attribute or func.attr != method:
            return False
        return self._is_context(func.value, self._scope(call))

    def _is_context(self, node: ast.expr, scope: Scope) -> bool:
        seen: set[tuple[int, str]] = set()
        stack = [(node, scope)]
        while stack:
            current, inside = stack.pop()
            found = inside.lookup(current.id) if isinstance(current, ast.Name) else None
            if found is None:
                continue
            assert isinstance(current, ast.Name)
            where, bindings = found
            if (id(where), current.id) in seen:
                continue
            seen.add((id(where), current.id))
            for binding in bindings:
                if binding.kind == "parameter":
                    if where is self.scope and self.context is not None and current.id == self.context.name:
                        return self.context.mcpcore
                    symbol = Resolver().annotation_symbol(binding.annotation, where.parent or where)
                    if symbol is not None and symbol.name == "mcpcore.Context":
                        return True
                elif binding.value is not None:
                    stack.append((binding.value, where))
        return False

    def _error(self, call: ast.Call) -> ErrorSite | None:
        scope = self._scope(call)
        if self._is_context_call(call, "fail"):
            made = evaluate_arguments(call, scope)
            arguments = {name: argument_of(made, name, position) for name, position in _FAIL.items()}
            unknown = Unknown(call, self.module, "the code that the contract declares")
            return self._site("fail", call, "mcpcore.CodedError", "mcpcore.Context.fail", unknown, arguments)
        callee = self.callee(call.func, scope)
        if callee is None:
            return None
        for func in options(callee):
            symbol = func
            if isinstance(func, CallValue) and func.func.name == "functools.partial" and func.args:
                symbol = func.args[0]
            if isinstance(symbol, Symbol) and self._makes_error(symbol):
                for each in options(evaluate(call, scope)):
                    if isinstance(each, CallValue) and each.node is call:
                        return self._error_of(each, call)
        return None

    def callee(self, func: ast.expr, scope: Scope) -> Value | None:
        """What is called; None where it is an attribute of a local value, which is no function that can be named."""
        return None if is_local(func, scope) else evaluate(func, scope)

    def error_of(self, value: Value, at: ast.expr) -> ErrorSite | None:
        """The error that a value is, for a `raise` of it: made by a call that is known, or a class."""
        if isinstance(value, Symbol) and isinstance(value.definition, ast.ClassDef | None):
            value = CallValue(at, self.module, value)
            if value.func.name == CODED_ERROR or value.func.name.startswith("mcpcore."):
                return None
        if not isinstance(value, CallValue) or not self._makes_error(value.func):
            return None
        return self._error_of(value, at)

    def _makes_error(self, symbol: Symbol) -> bool:
        name = symbol.name
        if name.startswith("mcpcore."):
            last = name.removeprefix("mcpcore.")
            return last in FACTORIES or last == "CodedError"
        return self.form_of(symbol) is not None

    def _error_of(self, value: CallValue, call: ast.expr) -> ErrorSite | None:
        name = value.func.name
        if name.startswith("mcpcore.") and name.removeprefix("mcpcore.") in FACTORIES:
            code_name = FACTORIES[name.removeprefix("mcpcore.")]
            code = CodeValue(call, self.module, code_name, CODES.by_name.get(code_name))
            arguments = {each: argument_of(value, each, position) for each, position in _FACTORY.items()}
            return self._site("factory", call, "mcpcore.CodedError", name, code, arguments)
        if name == "mcpcore.CodedError":
            arguments = {each: argument_of(value, each, position) for each, position in _CODED.items()}
            return self._site("coded", call, name, name, value.argument("code", 0), arguments)
        form = self.form_of(value.func)
        if form is None:
            return None
        positions = dict.fromkeys(_CODED)
        arguments = {each: argument_of(value, each, position) for each, position in positions.items()}
        if not arguments["message"].given and value.args:
            position = 1 if form == "protocol" and len(value.args) > 1 else 0
            arguments["message"] = argument_of(value, "message", position)
        code_value: Value = Missing(call, self.module)
        if form == "coded":
            return self._subclass(value, call, arguments)
        if form == "protocol":
            code_value = value.argument("code", 0)
        site = self._site(form, call, name, name, code_value, arguments)
        if form == "protocol":
            number = code_value.value if isinstance(code_value, Const) else None
            exempt = (
                name != "mcp.MCPError" and self.hierarchy.is_kind_of(name, "mcp.UrlElicitationRequiredError") is True
            )
            site = replace(site, sdk_exempt=exempt or number in PROTOCOL_CODES_NEEDED)
        return site

    def _subclass(self, value: CallValue, node: ast.expr, arguments: dict[str, Argument]) -> ErrorSite:
        """An error of a subclass of `CodedError`: its constructors make its code and reason."""
        module = self.module
        name = value.func.name
        code: Value = Unknown(node, module, "a subclass sets it")
        reason: Value = code
        callee = name
        info = class_info(value.func)
        calls = coded_calls(value, info) if info is not None else None
        if info is not None and calls is not None:
            # Its arguments are the class's own: it is not to be taken for a call of CodedError.
            callee = info.qualname
            if not sets_itself(info, "code"):
                code = told(calls, "code", 0, node, module)
                if isinstance(code, Missing):
                    code = Unknown(node, module, "a subclass sets it")
            if not (sets_itself(info, "reason") or sets_itself(info, "data")):
                reasons = [reason_of(each.argument("reason"), each.argument("data", 2), node, module) for each in calls]
                reason = reason if any(isinstance(each, Unknown) for each in reasons) else choice(reasons, node, module)
        return replace(self._site("coded", node, name, callee, code, arguments), reason=reason)

    def form_of(self, symbol: Symbol) -> ErrorForm | None:
        """How a class makes errors; None where it is not an exception for all that can be seen."""
        name = symbol.name
        if name.startswith("builtins."):
            return "builtin" if name.removeprefix("builtins.") in BUILTIN_EXCEPTIONS else None
        if name in PROTOCOL_ERRORS:
            return "protocol"
        if name in FRAMEWORK_ERRORS:
            return "framework"
        if isinstance(symbol.definition, ast.ClassDef):
            above, _ = self.hierarchy.ancestors(name, symbol)
            if "mcpcore.CodedError" in above:
                return "coded"
            if above & PROTOCOL_ERRORS:
                return "protocol"
            if above & FRAMEWORK_ERRORS:
                return "framework"
            return "project" if "builtins.BaseException" in above else None
        if symbol.definition is not None:
            return None
        if self.hierarchy.is_exception(name) is True:
            return "other"
        last = name.rpartition(".")[2]
        return "other" if last[:1].isupper() and last.endswith(("Error", "Exception", "Timeout")) else None

    def _site(
        self,
        form: ErrorForm,
        node: ast.expr,
        type_name: str,
        callee: str,
        code: Value,
        arguments: dict[str, Argument],
    ) -> ErrorSite:
        reason = arguments["reason"].value if "reason" in arguments else Missing(node, self.module)
        if isinstance(reason, Missing) and form != "fail":
            data = arguments["data"].value
            if isinstance(data, Mapping):
                inner = data.get("reason")
                if inner is not None:
                    reason = inner
                elif not data.complete:
                    reason = Unknown(node, self.module, "it may be in the data")
            elif isinstance(data, Unknown | Choice):
                reason = Unknown(node, self.module, "it may be in the data")
        if isinstance(reason, Const) and reason.value is None:
            reason = Missing(node, self.module)
        blank = Missing(node, self.module)
        return ErrorSite(
            form,
            node,
            self.module,
            type_name,
            callee,
            code,
            reason,
            arguments.get("message", Argument("message", blank)),
            arguments.get("data", Argument("data", blank)),
            arguments.get("recovery", Argument("recovery", blank)),
            arguments.get("retry", Argument("retry", blank)),
            self.function_of.get(node, self.node),
            self._fate(node),
        )

    def _fate(self, node: ast.AST) -> Fate:
        current = node
        for _ in range(50):
            parent = self.parents.get(current)
            if parent is None:
                return "escapes"
            if isinstance(parent, ast.Raise):
                return "raised" if parent.exc is current else "escapes"
            if isinstance(parent, ast.Return):
                return "returned"
            if isinstance(parent, ast.Lambda) and parent.body is current:
                return "returned"
            if isinstance(parent, ast.Expr):
                return "discarded"
            if isinstance(parent, ast.Assign | ast.AnnAssign | ast.NamedExpr):
                targets = parent.targets if isinstance(parent, ast.Assign) else [parent.target]
                names = [each.id for each in targets if isinstance(each, ast.Name)]
                if len(names) != len(targets):
                    return "escapes"
                fates = {self._name_fate(each, parent) for each in names}
                if isinstance(parent, ast.NamedExpr) and fates == {"unused"}:
                    current = parent
                    continue
                for fate in ("raised", "returned", "escapes"):
                    if fate in fates:
                        return fate
                return "unused"
            if isinstance(parent, ast.Attribute):
                call = self.parents.get(parent)
                if parent.attr == "with_traceback" and isinstance(call, ast.Call) and call.func is parent:
                    current = call
                    continue
                return "escapes"
            if isinstance(parent, ast.IfExp | ast.BoolOp | ast.Await):
                if isinstance(parent, ast.IfExp) and parent.test is current:
                    return "escapes"
                current = parent
                continue
            return "escapes"
        return "escapes"

    def _name_fate(self, name: str, made: ast.AST) -> Fate:
        scope = self._scope(made)
        found = scope.lookup(name)
        if found is None or found[0].is_module:
            return "escapes"
        fate: Fate = "unused"
        for each, parent in self.parents.items():
            if isinstance(each, ast.Name) and each.id == name and isinstance(each.ctx, ast.Load):
                if isinstance(parent, ast.Raise) and parent.exc is each:
                    return "raised"
                if isinstance(parent, ast.Return):
                    fate = "returned"
                elif isinstance(parent, ast.Attribute) and parent.attr in {"add_note", "with_traceback"}:
                    continue
                elif isinstance(parent, ast.IfExp | ast.BoolOp) and self._fate(each) == "raised":
                    return "raised"
                elif fate == "unused":
                    fate = "escapes"
        return fate

    # -- raise and except ----------------------------------------------------------------------------------------

    def _throws(self, node: ast.Raise) -> list[ThrowSite]:
        function = self.function_of.get(node, self.node)
        catch = self._catch_of(node)
        if node.cause is None:
            cause: Cause = "implicit"
        elif isinstance(node.cause, ast.Constant) and node.cause.value is None:
            cause = "from_none"
        else:
            cause = "from"
        if node.exc is None:
            return [
                ThrowSite(node, self.module, None, None, cause, catch, reraise=True, escapes=True, function=function)
            ]
        found: list[ThrowSite] = []
        for leaf in self.leaves(node.exc, self._scope(node)):
            members = self._group_members(leaf)
            if members:
                for member in members:
                    throw = self._throw(node, member, cause, catch, function)
                    if throw.error is not None and throw.error.fate != "raised":
                        raised = replace(throw.error, fate="raised")
                        self._errors[member] = raised
                        throw = replace(throw, error=raised)
                    found.append(replace(throw, grouped=True))
            else:
                found.append(self._throw(node, leaf, cause, catch, function))
        return found

    def _group_members(self, leaf: ast.expr) -> list[ast.expr]:
        """The errors in `ExceptionGroup("...", [first, second])`; none where they cannot all be seen."""
        if not isinstance(leaf, ast.Call) or len(leaf.args) < 2 or not isinstance(leaf.args[1], ast.List | ast.Tuple):
            return []
        func = evaluate(leaf.func, self._scope(leaf))
        if not isinstance(func, Symbol) or func.name not in {"builtins.ExceptionGroup", "builtins.BaseExceptionGroup"}:
            return []
        scope = self._scope(leaf)
        found = [one for each in leaf.args[1].elts for one in self.leaves(each, scope)]
        return found if found and all(each in self._errors for each in found) else []

    def _throw(
        self, node: ast.Raise, leaf: ast.expr, cause: Cause, catch: CatchSite | None, function: FunctionNode
    ) -> ThrowSite:
        error = self._errors.get(leaf)
        if error is not None:
            escapes = self._escapes(node, error.type_name)
            return ThrowSite(
                node,
                self.module,
                error,
                error.type_name,
                cause,
                catch,
                reraise=False,
                escapes=escapes,
                function=function,
            )
        if isinstance(leaf, ast.Name):
            clause = catch
            while clause is not None:
                if clause.name == leaf.id:
                    return ThrowSite(
                        node, self.module, None, None, cause, catch, reraise=True, escapes=True, function=function
                    )
                clause = self._catch_of(clause.node)
        scope = self._scope(leaf) if leaf in self.parents else self._scope(node)
        if isinstance(leaf, ast.Name | ast.Attribute):
            value = evaluate(leaf, scope)
            if isinstance(value, Symbol):
                form = self.form_of(value)
                if form is not None:
                    missing = {each: Argument(each, Missing(leaf, self.module)) for each in _CODED}
                    code: Value = Missing(leaf, self.module)
                    if form == "protocol" or value.name == CODED_ERROR:
                        code = Unknown(leaf, self.module, "the class sets it")
                    if form == "coded" and value.name != CODED_ERROR:
                        error = self._subclass(CallValue(leaf, self.module, value), leaf, missing)
                    else:
                        error = self._site(form, leaf, value.name, value.name, code, missing)
                    error = replace(error, fate="raised")
                    self._errors[leaf] = error
                    escapes = self._escapes(node, error.type_name)
                    return ThrowSite(
                        node,
                        self.module,
                        error,
                        error.type_name,
                        cause,
                        catch,
                        reraise=False,
                        escapes=escapes,
                        function=function,
                    )
        call: ast.expr = leaf
        while isinstance(call, ast.Await):
            call = call.value
        return ThrowSite(
            node,
            self.module,
            None,
            None,
            cause,
            catch,
            reraise=False,
            escapes=True,
            function=function,
            call=call if isinstance(call, ast.Call) else None,
            made=leaf,
        )

    def leaves(self, node: ast.expr, scope: Scope) -> list[ast.expr]:
        """The expressions that a raised expression may come from, through conditions, names and `with_traceback`."""
        found: list[ast.expr] = []
        seen: set[ast.expr] = set()
        # Each expression once: names that are bound from one another lead round in circles.
        stack = [(node, scope)]
        while stack:
            current, where = stack.pop()
            if current in seen:
                continue
            seen.add(current)
            following = _behind(current, where)
            if following is None:
                found.append(current)
            else:
                stack.extend(reversed(following))
        # `raise None or build()`: None is what it is not.
        return [each for each in found if not (isinstance(each, ast.Constant) and each.value is None)] or found

    def _catch_of(self, node: ast.AST) -> CatchSite | None:
        """The innermost `except` clause that a node stands in, in its own function."""
        current = self.parents.get(node)
        while current is not None and current is not self.node:
            if isinstance(current, ast.ExceptHandler):
                return self._catches.get(current)
            if isinstance(current, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
                return None
            current = self.parents.get(current)
        return None

    def _escapes(self, node: ast.AST, type_name: str) -> bool:
        """Whether an exception raised at a node leaves its function, as far as its own clauses are certain."""
        current = node
        while True:
            parent = self.parents.get(current)
            if parent is None or parent is self.node:
                return True
            if isinstance(parent, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
                return True
            if isinstance(parent, ast.Try | ast.TryStar) and current in parent.body:
                for clause in parent.handlers:
                    catch = self._catches[clause]
                    verdict = self._caught(type_name, catch)
                    if verdict is None:
                        break
                    if verdict:
                        if not self._passes_on(clause):
                            return False
                        break
            if (
                isinstance(parent, ast.With | ast.AsyncWith)
                and parent in self._catches
                and current in parent.body
                and self._caught(type_name, self._catches[parent])
            ):
                return False
            current = parent

    def _caught(self, type_name: str, catch: CatchSite) -> bool | None:
        unknown = False
        for each in catch.types:
            verdict = self.hierarchy.is_kind_of(type_name, each) if each is not None else None
            if verdict:
                return True
            unknown = unknown or verdict is None
        return None if unknown else False

    def _passes_on(self, clause: ast.ExceptHandler) -> bool:
        """Whether a clause raises what it caught again somewhere."""
        for each in walk_function(clause.body):
            if isinstance(each, ast.Raise):
                if each.exc is None and self._catch_of(each) is self._catches.get(clause):
                    return True
                if isinstance(each.exc, ast.Name) and each.exc.id == clause.name:
                    return True
        return False

    def _clause(self, node: ast.ExceptHandler) -> CatchSite:
        parent = self.parents.get(node)
        body = tuple(parent.body) if isinstance(parent, ast.Try | ast.TryStar) else ()
        types = self.types_of(node.type, self._scope(node)) if node.type is not None else ("builtins.BaseException",)
        return CatchSite(
            node,
            self.module,
            types,
            node.name,
            bare=node.type is None,
            star=isinstance(parent, ast.TryStar),
            suppress=False,
            body=tuple(node.body),
            try_body=body,
            function=self.function_of.get(node, self.node),
        )

    def types_of(self, node: ast.expr, scope: Scope) -> tuple[str | None, ...]:
        """The classes that an `except` names."""
        found: list[str | None] = []
        for value in options(evaluate(node, scope)):
            items = value.items if isinstance(value, Items) else (value,)
            if isinstance(value, Items) and not value.complete:
                found.append(None)
            for each in items:
                for one in options(each):
                    if isinstance(one, Items):
                        found.extend(each_.name if isinstance(each_, Symbol) else None for each_ in one.items)
                    else:
                        found.append(one.name if isinstance(one, Symbol) else None)
        return tuple(found)

    def _suppress(self, node: ast.With | ast.AsyncWith) -> CatchSite | None:
        for item in node.items:
            if isinstance(item.context_expr, ast.Call):
                func = evaluate(item.context_expr.func, self._scope(node))
                if isinstance(func, Symbol) and func.name in {"contextlib.suppress", "anyio.suppress"}:
                    scope = self._scope(node)
                    types = [name for each in item.context_expr.args for name in self.types_of(each, scope)]
                    function = self.function_of.get(node, self.node)
                    return CatchSite(
                        node,
                        self.module,
                        tuple(types),
                        None,
                        bare=False,
                        star=False,
                        suppress=True,
                        body=(),
                        try_body=tuple(node.body),
                        function=function,
                    )
        return None


def evaluate_arguments(call: ast.Call, scope: Scope) -> CallValue:
    """The arguments of a call whose callee is known by other means."""
    args, keywords, complete = Resolver().arguments(call, scope)
    return CallValue(call, scope.module, Symbol(call.func, scope.module), tuple(args), tuple(keywords), complete)


def walk_function(body: list[ast.stmt]) -> list[ast.AST]:
    """Every node of some statements, without the functions and classes nested in them."""
    return walk_shallow([*body])


def _is_static(node: FunctionNode) -> bool:
    return not isinstance(node, ast.Lambda) and any(
        isinstance(each, ast.Name) and each.id == "staticmethod" for each in node.decorator_list
    )


def _behind(node: ast.expr, scope: Scope) -> list[tuple[ast.expr, Scope]] | None:
    """What a raised expression stands for, each part with its scope; None where it stands for itself."""
    if isinstance(node, ast.IfExp):
        return [(node.body, scope), (node.orelse, scope)]
    if isinstance(node, ast.BoolOp):
        return [(each, scope) for each in node.values]
    if isinstance(node, ast.NamedExpr):
        return [(node.value, scope)]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "with_traceback":
        return [(node.func.value, scope)]
    if isinstance(node, ast.Name):
        found = scope.lookup(node.id)
        if found is not None and not found[0].is_module:
            where, bindings = found
            if all(each.kind in {"assign", "annotated"} for each in bindings):
                values = [each.value for each in bindings if each.value is not None]
                values = [each for each in values if not (isinstance(each, ast.Constant) and each.value is None)]
                if values:
                    return [(each, where) for each in values]
    return None
