"""What the rules about bodies share: nodes and their parents, whose an exception is, how a tool may fail."""

from __future__ import annotations

import ast
import sys
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, TypeVar

from mcpcore_lint.frameworks import framework_of, uses_mcpcore
from mcpcore_lint.model import CallValue, CodeValue, Const, Symbol, Value, options, string
from mcpcore_lint.names import FRAMEWORK_ERRORS, FRAMEWORKS, PROTOCOL_ERRORS
from mcpcore_lint.semantics.evaluate import CODES, evaluate
from mcpcore_lint.syntax.parse import walk

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mcpcore_lint.model import CatchSite, Contract, ContractEntry, ErrorSite, FunctionNode, Handler, ToolDef
    from mcpcore_lint.rules.base import RuleContext
    from mcpcore_lint.syntax.scopes import Scope

N = TypeVar("N", bound=ast.AST)

Origin: TypeAlias = Literal["broad", "builtin", "framework", "own", "upstream", "unknown"]
"""Whose an exception is. broad: `Exception` and more; builtin: of the language; framework: of mcpcore, the SDK or
FastMCP; own: the project's; upstream: the standard library's or a third party's; unknown: nobody can tell."""

FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


class Body:
    """The nodes of a handler's body, nested functions included, each with its parent and its function."""

    def __init__(self, handler: Handler) -> None:
        self.module = handler.module
        self.root = handler.node
        index = self.module.built[self.root]
        self.nodes = index.nodes
        self.parents = index.parents
        self.nested = index.function_of
        self.catches: dict[ast.AST, CatchSite] = {each.node: each for each in handler.catches}
        self._by_kind: dict[type, list[Any]] = {}

    def function_of(self, node: ast.AST) -> FunctionNode:
        """The function that a node is run in: the handler, or one nested in it."""
        return self.nested.get(node, self.root)

    def all(self, kind: type[N]) -> Iterator[N]:
        """The nodes of a kind, in source order."""
        found: list[N] | None = self._by_kind.get(kind)
        if found is None:
            found = self._by_kind[kind] = [each for each in self.nodes if type(each) is kind]
        return iter(found)

    def above(self, node: ast.AST) -> Iterator[ast.AST]:
        """The nodes round a node in its own function, innermost first."""
        current = self.parents.get(node)
        while current is not None and current is not self.root and not isinstance(current, FUNCTIONS):
            yield current
            current = self.parents.get(current)

    def clause_of(self, node: ast.AST) -> CatchSite | None:
        """The innermost `except` clause round a node in its own function."""
        return next((self.catches[each] for each in self.above(node) if isinstance(each, ast.ExceptHandler)), None)

    def statement_of(self, node: ast.AST) -> ast.stmt | None:
        """The innermost statement that a node is part of."""
        current: ast.AST | None = node
        while current is not None and not isinstance(current, ast.stmt):
            current = self.parents.get(current)
        return current

    def block_of(self, statement: ast.AST) -> list[ast.stmt]:
        """The statements that a statement stands among."""
        parent = self.parents.get(statement)
        for _, value in ast.iter_fields(parent) if parent is not None else ():
            if isinstance(value, list) and statement in value:
                return value
        return []

    def after(self, statement: ast.AST) -> list[ast.stmt]:
        """The statements that follow a statement in its block."""
        block = self.block_of(statement)
        return block[block.index(statement) + 1 :] if isinstance(statement, ast.stmt) and statement in block else []

    def scope(self, node: ast.AST) -> Scope:
        """The names that a node sees."""
        return self.module.scope_of(self.function_of(node))

    def value(self, node: ast.expr) -> Value:
        """What an expression of the body is."""
        return evaluate(node, self.scope(node))

    def names(self) -> set[str]:
        """Every name that the body or the parameters use."""
        found = {each.id for each in self.all(ast.Name)} | {each.arg for each in self.all(ast.arg)}
        found |= {each.name for each in self.all(ast.ExceptHandler) if each.name}
        return found | set(self.module.scope_of(self.root).bindings)


def body_of(handler: Handler) -> Body:
    """The body of a handler; read once for all rules."""
    key = ("body", handler)
    found: Body | None = handler.module.memo.get(key)
    if found is None:
        found = handler.module.memo[key] = Body(handler)
    return found


def inside(node: ast.AST, roots: Sequence[ast.AST]) -> bool:
    """Whether a node stands within others, by place."""
    line, column = getattr(node, "lineno", 0), getattr(node, "col_offset", 0)
    for root in roots:
        start = (getattr(root, "lineno", 0), getattr(root, "col_offset", 0))
        end = (getattr(root, "end_lineno", 0) or 0, getattr(root, "end_col_offset", 0) or 0)
        if start <= (line, column) < end:
            return True
    return False


def mentions(node: ast.AST, name: str) -> bool:
    """Whether an expression or a statement reads a name."""
    return any(isinstance(each, ast.Name) and each.id == name for each in walk([node]))


# -- whose an exception is ------------------------------------------------------------------------------------------


def origin(name: str | None, ctx: RuleContext, module_name: str) -> Origin:
    """Whose an exception class is, by its qualified name, as a module sees it."""
    if name is None:
        return "unknown"
    if name in {
        "builtins.Exception",
        "builtins.BaseException",
        "builtins.ExceptionGroup",
        "builtins.BaseExceptionGroup",
    }:
        return "broad"
    if name.startswith("builtins."):
        return "builtin"
    top = name.partition(".")[0]
    if top in FRAMEWORKS or name in FRAMEWORK_ERRORS | PROTOCOL_ERRORS:
        return "framework"
    if top in sys.stdlib_module_names:
        return "upstream"
    if top == module_name.partition(".")[0] or ctx.project.class_named(name) is not None:
        return "own"
    return "upstream" if "." in name else "unknown"


# -- what to do instead ---------------------------------------------------------------------------------------------


def where_to(tool: ToolDef, *, what: str = "") -> str:
    """How a tool should fail, as the end of a sentence; mcpcore is named only where the project has it."""
    if tool.contract is not None:
        return "raise ctx.fail(...) with a declared reason"
    coded = f"a coded error such as {what or 'not_found'}(...)"
    if tool.flavour == "mcpcore":
        return f"raise {coded}"
    advice = framework_of(tool).handling(tool.kind).instead
    if not uses_mcpcore(tool):
        return advice
    return f"{advice}, or raise {coded}"


def short(name: str) -> str:
    """The last part of a qualified name."""
    return name.rpartition(".")[2]


# -- codes and reasons ----------------------------------------------------------------------------------------------


def codes_of(value: Value) -> tuple[str, ...] | None:
    """The names of the codes that a value may be; None where one of them is not known."""
    found: list[str] = []
    for each in options(value):
        if isinstance(each, CodeValue):
            found.append(each.name)
        elif isinstance(each, Const) and isinstance(each.value, int) and not isinstance(each.value, bool):
            name = CODES.name_of(each.value)
            if name is None:
                return None
            found.append(name)
        else:
            return None
    return tuple(dict.fromkeys(found))


def codes_known(contract: Contract) -> bool:
    """Whether every entry and its code are known."""
    return contract.state == "sequence" and contract.complete and all(
        each.resolved and each.is_failure_mode and codes_of(each.code.value) is not None for each in contract.entries
    )  # fmt: skip


def reasons_known(contract: Contract) -> bool:
    """Whether every entry and its reason are known."""
    return contract.state == "sequence" and contract.complete and all(
        each.resolved and each.is_failure_mode and each.reason_text is not None for each in contract.entries
    )  # fmt: skip


def to_be_filled_in(entry: ContractEntry) -> bool:
    """Whether an entry is a proposal that nobody has settled yet: its recovery is asked for by a rule of its own."""
    return (entry.recovery.text or "").lstrip().startswith("TODO")


def callee(node: ast.Call, body: Body) -> str:
    """The qualified name of what is called; empty where it is not known."""
    value = body.value(node.func)
    return value.name if isinstance(value, Symbol) else ""


def unpacked(value: Value) -> Value:
    """What is inside `json.dumps(...)` and its kin."""
    for _ in range(3):
        if (
            isinstance(value, CallValue)
            and value.args
            and value.func.name in {"json.dumps", "orjson.dumps", "ujson.dumps"}
        ):
            value = value.args[0]
    return value


def text_start(value: Value) -> str | None:
    """The characters that a string certainly begins with."""
    from mcpcore_lint.model import Text

    whole = string(value)
    if whole is not None:
        return whole
    if isinstance(value, Text) and value.parts and value.parts[0] is not None:
        return value.parts[0]
    return None


def raised_sites(handler: Handler) -> Iterator[ErrorSite]:
    """The errors of a handler that may leave the function in which they are made, each once."""
    seen: set[ast.AST] = set()
    for throw in handler.throws:
        if throw.error is not None and throw.escapes and throw.error.node not in seen:
            seen.add(throw.error.node)
            yield throw.error
    for error in handler.errors:
        if error.node not in seen and error.fate in {"returned", "escapes"}:
            seen.add(error.node)
            yield error
