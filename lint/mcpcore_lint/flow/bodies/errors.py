"""Reads the errors that a function creates: the factory or class, the code, the reason and the other arguments."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final, TypeGuard

from mcpcore_lint.dataclasses import replace
from mcpcore_lint.flow.bodies.fates import Fates
from mcpcore_lint.model import (
    Argument,
    CallValue,
    CodeValue,
    Const,
    ErrorForm,
    ErrorSite,
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
from mcpcore_lint.semantics.choices import choice
from mcpcore_lint.semantics.codes import CODES
from mcpcore_lint.semantics.evaluate import Resolver, evaluate
from mcpcore_lint.semantics.local_values import is_local
from mcpcore_lint.semantics.subclasses import CODED_ERROR, coded_call, reason_of, sets_itself
from mcpcore_lint.semantics.symbols import class_info

if TYPE_CHECKING:
    from mcpcore_lint.flow.bodies.context import ContextCalls
    from mcpcore_lint.flow.bodies.nodes import BodyNodes
    from mcpcore_lint.semantics.hierarchy import Hierarchy
    from mcpcore_lint.syntax.module import Module
    from mcpcore_lint.syntax.scopes import Scope


PROTOCOL_CODES_NEEDED: Final = frozenset({-32042, -32021, -32003})
"""Codes of `MCPError` that the protocol requires: URL elicitation, a missing capability."""
_KEYWORDS: Final[dict[str, int | None]] = {"recovery": None, "retry": None, "effects": None}
_FAIL: Final[dict[str, int | None]] = {"reason": 0, "message": 1, "data": 2, **_KEYWORDS}
_FACTORY: Final[dict[str, int | None]] = {"message": 0, "data": 1, "reason": None, **_KEYWORDS}
CODED_ARGUMENTS: Final[dict[str, int | None]] = {
    "code": 0,
    "message": 1,
    "data": 2,
    "reason": None,
    **_KEYWORDS,
}
"""The arguments of `CodedError`, each with its position."""


def arguments_of(call: CallValue, positions: dict[str, int | None]) -> dict[str, Argument]:
    """Return the arguments of a call by name, each with its value and its expression.

    Args:
        call: The call.
        positions: The parameter names; keyword-only ones have no position.
    """
    node = call.node
    absent = call.at(None)
    arguments = {name: Argument(name, absent) for name in positions}
    if call.args or not call.complete:
        in_order: list[ast.expr] = node.args if type(node) is ast.Call else []
        for at, expression in enumerate(in_order):
            if type(expression) is ast.Starred:
                in_order = in_order[:at]
                break
        for name, position in positions.items():
            if position is not None:
                if position < len(call.args):
                    arguments[name].value = call.args[position]
                if position < len(in_order):
                    arguments[name].node = in_order[position]
    # If a keyword occurs twice, the first one counts.
    for name, value in reversed(call.keywords):
        if name in arguments:
            arguments[name].value = value
    for keyword in reversed(node.keywords) if type(node) is ast.Call else ():
        if keyword.arg in arguments:
            argument = arguments[keyword.arg]
            argument.node, argument.keyword = keyword.value, keyword
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
        self._fates = Fates(body)
        self._callees: dict[ast.expr, Value] = {}

    def read(self, call: ast.Call) -> ErrorSite | None:
        """Return the error that a call creates; None if it creates none."""
        func = call.func
        if type(func) is ast.Name and func.id in self.body.builtins and call not in self.body.function_of:
            return None
        scope = self.body.scope_at(call)
        if self.contexts.is_context_call(call, "fail"):
            return self.made_by_context(call)
        for value in options(self.callee(func, scope)):
            symbol = value
            if isinstance(value, CallValue) and value.func.name == "functools.partial" and value.args:
                symbol = value.args[0]
            if isinstance(symbol, Symbol) and self._makes_error(symbol):
                for option in options(evaluate(call, scope)):
                    if isinstance(option, CallValue) and option.node is call:
                        return self._error_of(option, call)
        return None

    def made_by_context(self, call: ast.Call) -> ErrorSite:
        """Return the error of a `ctx.fail` call."""
        arguments = arguments_of(evaluate_arguments(call, self.body.scope_at(call)), _FAIL)
        arguments["reason"].value = reason_given(arguments["reason"].value, call, self.module)
        unknown = Unknown(call, self.module, "the code that the contract declares")
        return self.site("fail", call, "mcpcore.CodedError", "mcpcore.Context.fail", unknown, arguments)

    def callee(self, func: ast.expr, scope: Scope) -> Value:
        """Return the value of a callee."""
        known = self._callees.get(func)
        if known is None:
            local = is_local(func, scope, built=True)
            known = Unknown(func, scope.module, "a local value") if local else evaluate(func, scope)
            self._callees[func] = known
        return known

    def error_of(self, value: Value, at: ast.expr) -> ErrorSite | None:
        """Return the error that raising a value raises: the value is a call or a class."""
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
            return last in FACTORIES or last == "CodedError" or name in CONSTRUCTORS
        return self.form_of(_class_behind(symbol)) is not None

    def _error_of(self, value: CallValue, call: ast.expr) -> ErrorSite | None:
        name = value.func.name
        if name.startswith("mcpcore.") and name.removeprefix("mcpcore.") in FACTORIES:
            code_name = FACTORIES[name.removeprefix("mcpcore.")]
            code = CodeValue(call, self.module, code_name, CODES.by_name.get(code_name))
            arguments = arguments_of(value, _FACTORY)
            return self.site("factory", call, "mcpcore.CodedError", name, code, arguments)
        if name == "mcpcore.CodedError":
            arguments = arguments_of(value, CODED_ARGUMENTS)
            return self.site("coded", call, name, name, value.argument("code", 0), arguments)
        if name in CONSTRUCTORS:
            return self._constructed(value, call)
        made_by = _class_behind(value.func)
        name = made_by.name
        form = self.form_of(made_by)
        if form is None:
            return None
        arguments = arguments_of(value, dict.fromkeys(CODED_ARGUMENTS))
        if not arguments["message"].given and value.args:
            position = 1 if form == "protocol" and len(value.args) > 1 else 0
            arguments |= arguments_of(value, {"message": position})
        code_value: Value = Missing(call, self.module)
        if form == "coded":
            return self.subclass(value, call, arguments)
        if form == "protocol":
            code_value = value.argument("code", 0)
        site = self.site(form, call, name, name, code_value, arguments)
        if form == "protocol":
            number = code_value.value if isinstance(code_value, Const) else None
            exempt = (
                name != "mcp.MCPError" and self.hierarchy.is_kind_of(name, "mcp.UrlElicitationRequiredError") is True
            )
            site = replace(site, sdk_exempt=exempt or number in PROTOCOL_CODES_NEEDED)
        return site

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
                code = CodeValue(call, self.module, "INITIALIZATION_FAILED", CODES.by_name["INITIALIZATION_FAILED"])
        elif name.endswith(".invariant_violation"):
            reason = Unknown(call, self.module, "the runtime's own")
            code = CodeValue(call, self.module, "INTERNAL_ERROR", CODES.by_name["INTERNAL_ERROR"])
        elif isinstance(code, Missing) or (isinstance(code, Const) and code.value is None):
            code = Unknown(call, self.module, "the exception decides")
        site = self.site("coded", call, CODED_ERROR, name, code, arguments)
        return site if reason is None else replace(site, reason=reason)

    def subclass(self, value: CallValue, node: ast.expr, arguments: dict[str, Argument]) -> ErrorSite:
        """Return the error of a subclass of `CodedError`, whose constructors set the code and the reason."""
        module = self.module
        name = value.func.name
        code: Value = Unknown(node, module, "a subclass sets it")
        reason: Value = code
        callee = name
        info = class_info(value.func)
        call = coded_call(value, info) if info is not None else None
        if info is not None and call is not None:
            # The arguments are those of the subclass, so the callee must not be CodedError.
            callee = info.qualname
            if not sets_itself(info, "code") and not isinstance(call.argument("code", 0), Missing):
                code = call.argument("code", 0)
            if not (sets_itself(info, "reason") or sets_itself(info, "data")):
                reason = reason_of(call.argument("reason"), call.argument("data", 2), node, module)
        return replace(self.site("coded", node, name, callee, code, arguments), reason=reason)

    def form_of(self, symbol: Symbol) -> ErrorForm | None:
        """Return the form of errors of a class; None if it is not known to be an exception."""
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
            reason = reason_of(reason, arguments["data"].value, node, self.module)
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
            self._fates.of(node),
        )

    def forget(self) -> None:
        """Drop the references to the syntax tree."""
        self.sites.clear()
        self._callees.clear()


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
