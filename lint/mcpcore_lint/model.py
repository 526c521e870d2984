"""The model that rules check: tools, handlers, contracts, and where errors are created, raised, caught and returned.

Every object knows its `ast` node and its file. An expression that cannot be resolved is `Unknown`, never a guess.
Rules import values and reached errors from this module as well.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from mcpcore_lint.dataclasses import cached_property, light
from mcpcore_lint.reach import Reach, ReachedThrow, ReachedWrite, Site, UnresolvedCall
from mcpcore_lint.values import (
    CallValue,
    Choice,
    CodeValue,
    Const,
    Items,
    Mapping,
    Missing,
    Symbol,
    Text,
    Unknown,
    Value,
    is_left_out,
    options,
    string,
    strings,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpcore_lint.diagnostics import Span
    from mcpcore_lint.engine.syntax.module import Module
    from mcpcore_lint.engine.syntax.scopes import Scope
    from mcpcore_lint.records import ToolFlavour, ToolKind

FunctionNode: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda

# ---------------------------------------------------------------------------------------------------------------------
# Contracts.
# ---------------------------------------------------------------------------------------------------------------------


@light
class Argument:
    """One argument of a call.

    `node` is the expression as written at the call, such as a name, and `keyword` its `name=` part. Both are None if
    the argument is missing or comes from an unpacked `**`.
    """

    name: str
    value: Value
    node: ast.expr | None = None
    keyword: ast.keyword | None = None

    @property
    def state(self) -> Literal["known", "unknown", "missing"]:
        """Whether the value is known, unknown or missing."""
        if isinstance(self.value, Missing):
            return "missing"
        return "unknown" if isinstance(self.value, Unknown) else "known"

    @property
    def given(self) -> bool:
        """Whether the call has the argument, even if its value is unknown."""
        return not isinstance(self.value, Missing)

    @property
    def text(self) -> str | None:
        """The text of a known string, or None."""
        return string(self.value)


@light
class ContractEntry:
    """One item of `errors=[...]`.

    If the item is a visible `FailureMode(...)` call, `call` is that call and `arguments` are its arguments. If it is
    another known value, such as a string or a dict, `is_failure_mode` is false. If it is unknown, `resolved` is false
    and rules stay silent.
    """

    value: Value
    module: Module
    """The file that contains the entry. A shared constant may be in another file than the tool."""
    resolved: bool
    is_failure_mode: bool
    call: ast.Call | None
    arguments: dict[str, Argument]
    """By name: reason, code, when, recovery, retry, fallback_tool, fallback_arguments, strategy, actions,
    corrective_params, user_message, data, example, effects. All names are present; `.state` says whether the call has
    the argument."""
    inline: bool
    """Whether the entry is in the tool's own `errors=[...]`, so that a fix changes only this tool."""

    @property
    def node(self) -> ast.AST:
        """The expression that findings point at."""
        node = self.call or self.value.node
        assert node is not None
        return node

    @property
    def reason(self) -> Argument:
        """The `reason` argument."""
        return self.arguments["reason"]

    @property
    def code(self) -> Argument:
        """The `code` argument."""
        return self.arguments["code"]

    @property
    def when(self) -> Argument:
        """The `when` argument."""
        return self.arguments["when"]

    @property
    def recovery(self) -> Argument:
        """The `recovery` argument."""
        return self.arguments["recovery"]

    @cached_property
    def reason_text(self) -> str | None:
        """The reason, if it is a known string."""
        return self.reason.text

    @property
    def code_value(self) -> CodeValue | None:
        """The code, if it is known."""
        value = self.code.value
        return value if isinstance(value, CodeValue) else None


@light
class Contract:
    """The `errors` of a tool, resource or prompt.

    `state` is "not_a_sequence" for any other known value (a dict, a string, one FailureMode), and "unknown" if the
    value cannot be resolved. `complete` is false if the contract may have more entries than `entries`.
    """

    node: ast.expr
    """The expression after `errors=`, as written at the tool."""
    value: Value
    module: Module
    state: Literal["sequence", "not_a_sequence", "unknown"]
    entries: tuple[ContractEntry, ...]
    complete: bool

    @cached_property
    def by_reason(self) -> dict[str, ContractEntry]:
        """The entries with a known reason; the first of duplicates."""
        entries: dict[str, ContractEntry] = {}
        for entry in self.entries:
            if entry.reason_text is not None:
                entries.setdefault(entry.reason_text, entry)
        return entries

    @property
    def reasons(self) -> tuple[str, ...]:
        """The known reasons, in source order."""
        return tuple(self.by_reason)

    @property
    def known(self) -> bool:
        """Whether every entry and its reason are known. Only then may a rule report a missing entry."""
        return (
            self.state == "sequence" and self.complete and all(entry.reason_text is not None for entry in self.entries)
        )


# ---------------------------------------------------------------------------------------------------------------------
# Errors: created, raised, caught, returned.
# ---------------------------------------------------------------------------------------------------------------------

ErrorForm: TypeAlias = Literal[
    "fail", "factory", "coded", "guard", "protocol", "framework", "builtin", "project", "other"
]
"""How an error is created.

fail: `ctx.fail(...)` or `ctx.guard(...)`; factory: `not_found(...)`; coded: `CodedError(...)` or a subclass in the
project; guard: `mcpcore.guard(...)` around an exception; protocol: the SDK's `MCPError` or a subclass; framework:
`ToolError` or `ResourceError` of the SDK or FastMCP; builtin: a builtin exception; project: an exception class of the
project; other: a class of a third party.
"""

Fate: TypeAlias = Literal["raised", "returned", "discarded", "unused", "escapes"]
"""Where an error goes after it is created.

discarded: the error is an expression statement; unused: it is bound to a name that is never read; escapes: it becomes
an argument, an attribute or an item of a container, which the linter does not follow.
"""

Cause: TypeAlias = Literal["implicit", "from", "from_none"]


@light
class ErrorSite:
    """An expression that creates an error.

    `type_name` is the canonical name of the class: `mcpcore.CodedError` for the factories and `ctx.fail` too. A factory
    determines `code`; for `ctx.fail` it is the code of the declared entry, if any. Arguments that the form does not
    accept are missing.
    """

    form: ErrorForm
    node: ast.expr
    module: Module
    type_name: str
    callee: str
    """The qualified name of the callee: `mcpcore.not_found`, `mcpcore.CodedError`, `mcpcore.Context.fail`."""
    code: Value
    reason: Value
    message: Argument
    data: Argument
    recovery: Argument
    retry: Argument
    effects: Argument
    function: FunctionNode
    """The innermost function around it."""
    fate: Fate = "escapes"
    sdk_exempt: bool = False
    """Whether it is an `MCPError` that the protocol itself needs: URL elicitation, a missing capability."""

    @property
    def span(self) -> Span:
        """The place of the expression."""
        return self.module.source.span(self.node)


@light
class ThrowSite:
    """A `raise` in the handler, or in a function nested in it, with one error that it may raise.

    A `raise` of a conditional expression, or of a name that is bound twice, has one `ThrowSite` for each error.
    `error` is None if the error is created elsewhere: a re-raise, `raise await helper()`, a parameter.
    """

    node: ast.Raise
    module: Module
    error: ErrorSite | None
    type_name: str | None
    """The class of the raised exception, if it is known."""
    cause: Cause
    catch: CatchSite | None
    """The innermost `except` clause around it."""
    reraise: bool
    """Whether it raises the caught exception again: a bare `raise`, or one of the name that the clause binds."""
    escapes: bool
    """Whether the error may leave its function: no `except` clause around it definitely catches it."""
    function: FunctionNode
    call: ast.Call | None = None
    """The call whose result is raised, if `error` is created elsewhere: `raise await helper()`."""
    made: ast.expr | None = None
    """The raised expression, if `error` is created elsewhere."""
    grouped: bool = False
    """Whether the error is inside an exception group: `raise ExceptionGroup("...", [not_found(...)])`."""

    @cached_property
    def span(self) -> Span:
        """The place of the `raise` statement."""
        return self.module.source.span(self.node)


@light
class CatchSite:
    """An `except` clause or a `with suppress(...)`.

    `types` are qualified names, with None for a class that cannot be resolved. A bare `except` sets `bare` and has the
    types `("builtins.BaseException",)`.
    """

    node: ast.ExceptHandler | ast.With | ast.AsyncWith
    module: Module
    types: tuple[str | None, ...]
    name: str | None
    bare: bool
    star: bool
    suppress: bool
    body: tuple[ast.stmt, ...]
    """The statements of the clause; empty for `suppress`."""
    try_body: tuple[ast.stmt, ...]
    """The guarded statements."""
    function: FunctionNode

    @property
    def broad(self) -> bool:
        """Whether it catches `Exception` or `BaseException`."""
        return any(name in {"builtins.Exception", "builtins.BaseException"} for name in self.types)

    @property
    def span(self) -> Span:
        """The first line of the clause, up to its colon."""
        source = self.module.source
        if isinstance(self.node, ast.ExceptHandler):
            return source.header_span(self.node, self.node.type)
        return source.header_span(self.node, self.node.items[-1].context_expr)


@light
class ReturnSite:
    """A `return` of the handler itself, with the clause around it."""

    node: ast.Return
    module: Module
    scope: Scope
    catch: CatchSite | None
    function: FunctionNode

    @property
    def span(self) -> Span:
        """The place of the expression."""
        return self.module.source.span(self.node)


@light
class NamedReason:
    """A reason that the handler passes to `ctx.recovery_for`, or that `ctx.guard({...})` assigns to an exception."""

    method: Literal["recovery_for", "guard"]
    node: ast.expr
    """The call, or the value in the mapping of `ctx.guard`."""
    reason: Value


# ---------------------------------------------------------------------------------------------------------------------
# Handlers and tools.
# ---------------------------------------------------------------------------------------------------------------------


@light
class Parameter:
    """A parameter of a handler, without `self`."""

    name: str
    node: ast.arg
    annotation: ast.expr | None
    default: ast.expr | None
    kind: Literal["positional", "keyword", "var_positional", "var_keyword"]
    description: Value
    """From `Field(description=...)`, in `Annotated[...]` or as the default; `Missing` without a description.
    The `Args:` section of a docstring does not count, since the SDK does not read it."""
    injected: bool
    """Whether the framework supplies it (the context, a dependency), so that the model never sees it."""


@light
class ContextParameter:
    """The parameter for the context.

    `reasons` are the names in `Context[Literal[...]]`. They are None if the type argument is missing (`bare`), cannot
    be resolved (`resolved` is false), or accepts every reason (`Context[Any]`, `Context[str]`).
    """

    name: str
    node: ast.arg
    annotation: ast.expr | None
    argument: ast.expr | None
    """The type argument with the reasons, as written."""
    reasons: tuple[str, ...] | None
    bare: bool
    resolved: bool
    mcpcore: bool
    """Whether it is mcpcore's `Context` rather than that of the SDK or FastMCP."""


def _trimmed(docstring: str) -> str:
    """A docstring without its indentation, as in PEP 257, "Handling Docstring Indentation".

    `ast.get_docstring` would import `inspect` for this, which takes longer than checking a file.
    """
    first, *others = docstring.expandtabs().split("\n")
    margin = min((len(line) - len(line.lstrip()) for line in others if line.strip()), default=0)
    return "\n".join([first.lstrip(), *(line[margin:] for line in others)]).strip("\n")


@light
class Handler:
    """The function that does a tool's work, with the errors, clauses and returns in it and in its nested functions."""

    node: FunctionNode
    module: Module
    qualname: str
    parameters: tuple[Parameter, ...]
    context: ContextParameter | None
    owner: ast.ClassDef | None
    """The class, if the handler is a method."""
    errors: tuple[ErrorSite, ...] = ()
    throws: tuple[ThrowSite, ...] = ()
    catches: tuple[CatchSite, ...] = ()
    returns: tuple[ReturnSite, ...] = ()
    named_reasons: tuple[NamedReason, ...] = ()

    @property
    def name(self) -> str:
        """The function's name; `<lambda>` for a lambda."""
        return "<lambda>" if isinstance(self.node, ast.Lambda) else self.node.name

    @property
    def fail_calls(self) -> tuple[ErrorSite, ...]:
        """The calls of `ctx.fail`."""
        return tuple(error for error in self.errors if error.form == "fail")

    @cached_property
    def docstring(self) -> str | None:
        """The docstring without its indentation, or None."""
        docstring = None if isinstance(self.node, ast.Lambda) else ast.get_docstring(self.node, clean=False)
        return None if docstring is None else _trimmed(docstring)

    @property
    def is_async(self) -> bool:
        """Whether it is an `async def`."""
        return isinstance(self.node, ast.AsyncFunctionDef)

    @property
    def span(self) -> Span:
        """The place of the handler's name."""
        return self.module.source.span(self.node)

    def contains(self, site: Site) -> bool:
        """Whether a place is inside the function or its decorators."""
        first = min(node.lineno for node in (self.node, *getattr(self.node, "decorator_list", ())))
        return site.path == self.module.path and first <= site.span.line <= (self.node.end_lineno or 0)

    def walk(self) -> Iterator[ast.AST]:
        """Every node of the body and of nested functions, in source order, except operators and expression contexts."""
        yield from self.module.nodes_of(self.node)


@light
class Served:
    """A tool that a low-level `call_tool` handler serves."""

    name: Value
    handler: Handler | None
    """The function that does the tool's work; None if the dispatching function does it itself."""
    call: ast.Call | None
    """The call of that function."""
    inside: Handler
    """The dispatching function, which compares the name with this tool's."""
    way: tuple[tuple[Handler, ast.Call], ...]
    """The chain of functions from the registered one to `inside`, each with the call that passes the name on."""
    elsewhere: tuple[tuple[int, int], ...]
    """The lines of the dispatching function that run only for other tools."""


SERVES_EVERY: Final = "the low-level handler serves every tool"
"""Why the name of a low-level handler is not known."""


@light
class ToolDef:
    """A tool, resource or prompt that a file registers.

    `flavour` is the kind of registration: `@tool` or `@server.tool` of mcpcore, `@server.tool()` or `add_tool` of the
    SDK, `@mcp.tool` of FastMCP, or the `call_tool` handler of the low-level server, which serves every tool and has no
    known `name`. Each function to which it dispatches the calls of a tool has a `ToolDef` with that tool's name.
    """

    kind: ToolKind
    flavour: ToolFlavour
    name: Value
    handler: Handler
    module: Module
    registration: ast.expr
    """The decorator or the call that registers it."""
    contract: Contract | None
    description: Value
    server: str | None
    """The server that it is registered on (`app.server`), or None if it is unknown. Tools with the same `server` are
    registered on the same server."""
    annotations: Value
    """The value of `annotations=`: `ToolAnnotations(...)`, a dict, `Missing`."""
    uri: Value | None = None
    """The URI of a resource."""
    serves: tuple[Served, ...] = ()
    """The tools that a low-level handler serves."""
    wrappers: tuple[Handler, ...] = ()
    """The functions that are registered in place of the handler, and call it."""

    @property
    def is_dispatcher(self) -> bool:
        """Whether it is the handler of a low-level server, and no function to which that passes the calls of a tool."""
        return self.flavour == "lowlevel" and isinstance(self.name, Unknown) and self.name.why == SERVES_EVERY

    @property
    def display_name(self) -> str:
        """The name in messages: the tool's name if it is known, otherwise the handler's."""
        return string(self.name) or self.handler.name

    @property
    def span(self) -> Span:
        """The place of the handler's name."""
        return self.handler.span

    def decorator_keyword(self, name: str) -> ast.keyword | None:
        """A keyword argument of the registration."""
        keywords = self.registration.keywords if isinstance(self.registration, ast.Call) else ()
        return next((keyword for keyword in keywords if keyword.arg == name), None)


__all__ = [
    "Argument",
    "CallValue",
    "CatchSite",
    "Cause",
    "Choice",
    "CodeValue",
    "Const",
    "ContextParameter",
    "Contract",
    "ContractEntry",
    "ErrorForm",
    "ErrorSite",
    "Fate",
    "FunctionNode",
    "Handler",
    "Items",
    "Mapping",
    "Missing",
    "NamedReason",
    "Parameter",
    "Reach",
    "ReachedThrow",
    "ReachedWrite",
    "ReturnSite",
    "Served",
    "Site",
    "Symbol",
    "Text",
    "ThrowSite",
    "ToolDef",
    "Unknown",
    "UnresolvedCall",
    "Value",
    "is_left_out",
    "options",
    "string",
    "strings",
]  # fmt: skip
