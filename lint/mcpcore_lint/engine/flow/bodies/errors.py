"""Reads the errors that a function creates: the factory or class, the arguments, and where each error goes."""

import ast
from functools import partial
from itertools import takewhile
from typing import Final, TypeGuard

from mcpcore_lint.dataclasses import cached_method, replace
from mcpcore_lint.engine.flow.bodies.nodes import BodyNodes
from mcpcore_lint.engine.flow.bodies.parameters import ContextCalls
from mcpcore_lint.engine.semantics.codes import CODES
from mcpcore_lint.engine.semantics.evaluate import Resolver, arguments_in, evaluate, evaluated_with
from mcpcore_lint.engine.semantics.hierarchy import Hierarchy
from mcpcore_lint.engine.semantics.symbols import class_info, is_local
from mcpcore_lint.engine.semantics.type_model import ancestry, outside_bases
from mcpcore_lint.engine.syntax.module import Module
from mcpcore_lint.engine.syntax.parse import own_nodes
from mcpcore_lint.engine.syntax.scopes import Scope
from mcpcore_lint.model import (
    Argument,
    CallValue,
    CodeValue,
    Const,
    ErrorForm,
    ErrorSite,
    Fate,
    Items,
    Mapping,
    Missing,
    Symbol,
    Unknown,
    Value,
    is_left_out,
    options,
)
from mcpcore_lint.names import (
    BUILTIN_EXCEPTIONS,
    CONSTRUCTORS,
    FACTORIES,
    FRAMEWORK_ERRORS,
    PROTOCOL_ERRORS,
)
from mcpcore_lint.values import choice

CODED_ERROR: Final = "mcpcore.CodedError"
PROTOCOL_CODES_NEEDED: Final = frozenset({-32042, -32021, -32003})
"""Codes of `MCPError` that the protocol requires: URL elicitation, a missing capability."""
_KEYWORDS: Final[dict[str, int | None]] = {"recovery": None, "retry": None, "effects": None}
_FAIL: Final[dict[str, int | None]] = {"reason": 0, "message": 1, "data": 2, **_KEYWORDS}
_FACTORY: Final[dict[str, int | None]] = {"message": 0, "data": 1, "reason": None, **_KEYWORDS}
_SET: Final = frozenset({"code", "reason", "data"})
"""Attributes of a `CodedError` that its class may set after the constructor."""
MAX_STEPS: Final = 50
"""An error is followed through at most this many expressions."""
CODED_ARGUMENTS: Final[dict[str, int | None]] = {"code": 0, "message": 1, "data": 2, "reason": None, **_KEYWORDS}
"""The arguments of `CodedError`, each with its position."""


def arguments_of(call: CallValue, positions: dict[str, int | None]) -> dict[str, Argument]:
    """Return the arguments of a call by name, each with its value and its expression.

    Args:
        call: The call.
        positions: The parameter names; keyword-only ones have no position.
    """
    # What a function of the project makes has the arguments of a call in that function.
    is_made = call.func.name == "mcpcore.FailureMode" and isinstance(call.func.definition, ast.FunctionDef)
    node = call.node if isinstance(call.node, ast.Call) and not is_made else None
    in_order: list[ast.expr] = [] if node is None else node.args
    if ast.Starred in map(type, in_order):
        in_order = [*takewhile(lambda item: type(item) is not ast.Starred, in_order)]
    # If a keyword occurs twice, the first one counts.
    keywords = {keyword.arg: keyword for keyword in reversed(node.keywords)} if node is not None else {}
    values = dict(reversed(call.keywords))
    absent = call.at(None)
    arguments: dict[str, Argument] = {}
    for name, position in positions.items():
        expression, value, keyword = None, values.get(name), keywords.get(name)
        if position is not None:
            expression = in_order[position] if position < len(in_order) else None
            value = value or (call.args[position] if position < len(call.args) else None)
        expression = keyword.value if keyword is not None else expression
        arguments[name] = Argument(name, value or absent, expression, keyword)
    return arguments


def reason_given(value: Value, call: ast.Call, module: Module) -> Value:
    """Return the reason that is passed to the context, either directly or in a `FailureMode`."""
    values = options(value)
    if not any(_is_mode(option) for option in values):
        return value
    reasons = [option.argument("reason", 0) if _is_mode(option) else option for option in values]
    return choice(reasons, call, module)


def _is_mode(value: Value) -> TypeGuard[CallValue]:
    return isinstance(value, CallValue) and value.func.name == "mcpcore.FailureMode"


class ErrorReader:
    """Reads the errors that one function creates."""

    def __init__(self, body: BodyNodes, hierarchy: Hierarchy, contexts: ContextCalls) -> None:
        self.body = body
        self.module = body.module
        self.hierarchy = hierarchy
        self.contexts = contexts
        self.sites: dict[ast.AST, ErrorSite] = {}
        """The errors that were read, by the expression that creates them."""

    def read(self, call: ast.Call) -> ErrorSite | None:
        """Return the error that a call creates; None if it creates none."""
        scope = self.body.scope_at(call)
        if self.contexts.is_context_call(call, "fail"):
            return self.made_by_context(call)
        for value in options(self.callee(call.func, scope)):
            symbol = value
            # `partial(not_found, ...)` makes the error that its function makes.
            if isinstance(value, CallValue) and value.func.name == "functools.partial" and value.args:
                symbol = value.args[0]
            if isinstance(symbol, Symbol) and self._makes_error(symbol):
                for option in options(evaluate(call, scope)):
                    # What a helper of the project makes is read at the helper, where the code and the reason stand.
                    if isinstance(option, CallValue) and option.node is call:
                        return self._error_of(option, call)
        return None

    def made_by_context(self, call: ast.Call) -> ErrorSite:
        """Return the error of a `ctx.fail` call."""
        arguments = arguments_of(evaluate_arguments(call, self.body.scope_at(call)), _FAIL)
        arguments["reason"].value = reason_given(arguments["reason"].value, call, self.module)
        unknown = Unknown(call, self.module, "the code that the contract declares")
        return self.site("fail", call, "mcpcore.CodedError", "mcpcore.Context.fail", unknown, arguments)

    @cached_method
    def callee(self, func: ast.expr, scope: Scope) -> Value:
        """Return the value of a callee."""
        local = is_local(func, scope)
        return Unknown(func, scope.module, "a local value") if local else evaluate(func, scope)

    def error_of(self, value: Value, at: ast.expr) -> ErrorSite | None:
        """Return the error that raising a value raises: the value is a call or a class."""
        if isinstance(value, Symbol) and isinstance(value.definition, ast.ClassDef | None):
            value = CallValue(at, self.module, value)
            # Raised as classes, without the arguments that they require, these are TypeErrors.
            if value.func.name == CODED_ERROR or value.func.name.startswith("mcpcore."):
                return None
        if not isinstance(value, CallValue) or not self._makes_error(value.func):
            return None
        return self._error_of(value, at)

    def _makes_error(self, symbol: Symbol) -> bool:
        name = symbol.name
        if name.startswith("mcpcore."):
            return name.removeprefix("mcpcore.") in FACTORIES or name == CODED_ERROR or name in CONSTRUCTORS
        return self.form_of(_class_behind(symbol)) is not None

    def _error_of(self, value: CallValue, call: ast.expr) -> ErrorSite | None:
        name = value.func.name
        if name.startswith("mcpcore.") and name.removeprefix("mcpcore.") in FACTORIES:
            code = self._member(FACTORIES[name.removeprefix("mcpcore.")], call)
            return self.site("factory", call, CODED_ERROR, name, code, arguments_of(value, _FACTORY))
        if name == CODED_ERROR:
            arguments = arguments_of(value, CODED_ARGUMENTS)
            return self.site("coded", call, name, name, value.argument("code", 0), arguments)
        if name in CONSTRUCTORS:
            return self._constructed(value, call)
        made_by = _class_behind(value.func)
        name, form = made_by.name, self.form_of(made_by)
        if form is None:
            return None
        # Other classes order their arguments in their own way, so only keywords are known by name.
        arguments = arguments_of(value, dict.fromkeys(CODED_ARGUMENTS))
        if not arguments["message"].given and value.args:
            # A message comes first by habit, and after the code in `MCPError(code, message)`.
            position = 1 if form == "protocol" and len(value.args) > 1 else 0
            arguments |= arguments_of(value, {"message": position})
        if form == "coded":
            return self.subclass(made_by, call, arguments, value)
        if form != "protocol":
            return self.site(form, call, name, name, Missing(call, self.module), arguments)
        code_value = value.argument("code", 0)
        number = code_value.value if isinstance(code_value, Const) else None
        exempt = self.hierarchy.is_kind_of(name, "mcp.UrlElicitationRequiredError") is True
        site = self.site(form, call, name, name, code_value, arguments)
        return replace(site, sdk_exempt=exempt or number in PROTOCOL_CODES_NEEDED)

    def _member(self, name: str, node: ast.expr) -> CodeValue:
        return CodeValue(node, self.module, name, CODES.by_name.get(name))

    def _constructed(self, value: CallValue, call: ast.expr) -> ErrorSite:
        """Return the error of a class method of `CodedError`, such as `startup_failure`."""
        name = value.func.name
        places = CONSTRUCTORS[name]
        positions = {argument: places.index(argument) if argument in places else None for argument in CODED_ARGUMENTS}
        arguments = arguments_of(value, positions)
        code: Value = arguments["code"].value
        reason: Value | None = None
        if name.endswith(".startup_failure"):
            reason = Const(call, self.module, "startup_failure")
            if isinstance(code, Missing):
                code = self._member("INITIALIZATION_FAILED", call)
        elif name.endswith(".invariant_violation"):
            reason = Unknown(call, self.module, "the runtime's own")
            code = self._member("INTERNAL_ERROR", call)
        elif is_left_out(code):
            code = Unknown(call, self.module, "the exception decides")
        site = self.site("coded", call, CODED_ERROR, name, code, arguments)
        return site if reason is None else replace(site, reason=reason)

    def subclass(
        self, symbol: Symbol, node: ast.expr, arguments: dict[str, Argument], call: CallValue | None = None
    ) -> ErrorSite:
        """Return the error of a subclass of `CodedError`, which may set the code and the reason itself."""
        unknown = Unknown(node, self.module, "a subclass sets it")
        code: Value = unknown
        reason: Value = unknown
        made = _constructing(symbol, call or CallValue(node, self.module, symbol))
        if made is not None and made.complete:
            places = (
                (name, position) for name, position in CODED_ARGUMENTS.items() if name in {"code", "reason", "data"}
            )
            code, data, reason = (made.argument(name, position) for name, position in places)
            reason = _reason_of(reason, data, node, self.module)
        return replace(self.site("coded", node, symbol.name, symbol.name, code, arguments), reason=reason)

    def form_of(self, symbol: Symbol) -> ErrorForm | None:
        """Return the form of errors of a class; None if it is not known to be an exception."""
        name = symbol.name
        if name.startswith("builtins."):
            return "builtin" if name.removeprefix("builtins.") in BUILTIN_EXCEPTIONS else None
        is_class = isinstance(symbol.definition, ast.ClassDef)
        above = self.hierarchy.ancestors(name, symbol)[0] if is_class else frozenset[str]()
        if CODED_ERROR in above:
            return "coded"
        if name in PROTOCOL_ERRORS or above & PROTOCOL_ERRORS:
            return "protocol"
        if name in FRAMEWORK_ERRORS or above & FRAMEWORK_ERRORS:
            return "framework"
        if symbol.definition is not None:
            return "project" if "builtins.BaseException" in above else None
        if self.hierarchy.is_exception(name) is True:
            return "other"
        # A class of a package that is not read: only its name says that it is an exception.
        last = name.rpartition(".")[2]
        return "other" if last[:1].isupper() and last.endswith(("Error", "Exception", "Timeout")) else None

    def site(
        self,
        form: ErrorForm,
        node: ast.expr,
        type_name: str,
        callee: str,
        code: Value,
        arguments: dict[str, Argument],
    ) -> ErrorSite:
        """Return an error with its fate; its reason may be in its data."""
        reason = arguments["reason"].value
        if form != "fail":
            reason = _reason_of(reason, arguments["data"].value, node, self.module)
        elif is_left_out(reason):
            reason = Missing(node, self.module)
        return ErrorSite(
            form,
            node,
            self.module,
            type_name,
            callee,
            code,
            reason,
            arguments["message"],
            arguments["data"],
            arguments["recovery"],
            arguments["retry"],
            arguments["effects"],
            self.body.function_of.get(node, self.body.node),
            fate_of(node, self.body),
        )


def _reason_of(reason: Value, data: Value, node: ast.AST, module: Module) -> Value:
    """Return the reason of a `CodedError`: its `reason` argument, or `data["reason"]`."""
    if is_left_out(reason) and not is_left_out(data) and not isinstance(data, Items):
        inner = data.get("reason") if isinstance(data, Mapping) else None
        known = isinstance(data, Mapping) and data.complete
        reason = inner or (Missing(node, module) if known else Unknown(node, module, "it may be in the data"))
    return Missing(node, module) if is_left_out(reason) else reason


def _constructing(symbol: Symbol, call: CallValue) -> CallValue | None:
    """Return the call of `CodedError.__init__` to which a call of a subclass leads; None if that is not certain."""
    info = class_info(symbol)
    # Another base may have a constructor, which is not read.
    if info is None or outside_bases(info) != [CODED_ERROR]:
        return None
    for owner in ancestry(info):
        method = owner.methods.get("__init__")
        if method is None:
            continue
        nodes = own_nodes(method)
        supers = [part for part in nodes if isinstance(part, ast.Call) and ast.unparse(part.func) == "super().__init__"]
        sets = any(
            isinstance(part, ast.Attribute) and type(part.ctx) is ast.Store and part.attr in _SET for part in nodes
        )
        # After two calls, or an attribute that is set later, it is not certain which value the error ends up with.
        if len(supers) != 1 or sets or not call.complete:
            return None
        scope = owner.module.scope_of(method)
        frame = arguments_in(method, call, owner.module, symbol)
        read = partial(Resolver.arguments, node=supers[0], scope=scope)
        args, keywords, complete = evaluated_with(frame, scope, read)
        call = replace(call, args=tuple(args), keywords=tuple(keywords), complete=complete)
    return call


def _class_behind(symbol: Symbol) -> Symbol:
    """Return the class behind `MCPError.from_error_data`; any other symbol unchanged."""
    owner, _, last = symbol.name.rpartition(".")
    return (
        Symbol(symbol.node, symbol.module, owner) if last == "from_error_data" and owner in PROTOCOL_ERRORS else symbol
    )


def evaluate_arguments(call: ast.Call, scope: Scope) -> CallValue:
    """Return the arguments of a call without evaluating its callee."""
    args, keywords, complete = Resolver().arguments(call, scope)
    return CallValue(call, scope.module, Symbol(call.func, scope.module), tuple(args), tuple(keywords), complete)


def fate_of(node: ast.AST, body: BodyNodes) -> Fate:
    """Return the fate of the error that an expression creates."""
    current = node
    for _ in range(MAX_STEPS):
        parent = body.parents.get(current)
        match parent:
            case ast.Raise(exc=raised):
                # In `raise other from error` it is only the cause, which somebody may read.
                return "raised" if raised is current else "escapes"
            case ast.Return():
                return "returned"
            case ast.Lambda(body=returned) if returned is current:
                return "returned"
            case ast.Expr():
                return "discarded"
            case ast.Assign() | ast.AnnAssign() | ast.NamedExpr():
                targets = parent.targets if isinstance(parent, ast.Assign) else [parent.target]
                fates: set[Fate] = {
                    _name_fate(target.id, parent, body) if isinstance(target, ast.Name) else "escapes"
                    for target in targets
                }
                if not isinstance(parent, ast.NamedExpr) or fates != {"unused"}:
                    order: tuple[Fate, ...] = ("raised", "returned", "escapes", "unused")
                    return next(fate for fate in order if fate in fates)
                current = parent
            case ast.Attribute(attr="with_traceback"):
                call = body.parents.get(parent)
                if not isinstance(call, ast.Call) or call.func is not parent:
                    return "escapes"
                current = call
            case ast.IfExp(test=test) if test is current:
                return "escapes"
            case ast.IfExp() | ast.BoolOp() | ast.Await():
                current = parent
            case _:
                return "escapes"
    return "escapes"


def _name_fate(name: str, assignment: ast.AST, body: BodyNodes) -> Fate:
    """Return the fate of an error that is assigned to a variable."""
    match = body.scope_at(assignment).lookup(name)
    # Any function may raise what a name of the module holds.
    if match is None or match[0].is_module:
        return "escapes"
    fate: Fate = "unused"
    for use in body.loads.get(name, ()):
        parent = body.parents[use]
        if isinstance(parent, ast.Raise) and parent.exc is use:
            return "raised"
        if isinstance(parent, ast.Return):
            fate = "returned"
        elif isinstance(parent, ast.Attribute) and parent.attr in {"add_note", "with_traceback"}:
            continue
        elif isinstance(parent, (ast.IfExp, ast.BoolOp)) and fate_of(use, body) == "raised":
            return "raised"
        elif fate == "unused":
            fate = "escapes"
    return fate
