"""What rules see: tools, handlers, contracts, and the places where errors are made, raised, caught and returned.

Everything points back at its `ast` node and its file. What could not be resolved is an `Unknown` value, never a guess.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Literal, TypeAlias

from mcpcore_lint.dataclasses import cached_property, light, light_value
from mcpcore_lint.syntax.parse import body_of, walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpcore_lint.diagnostics import Span
    from mcpcore_lint.records import ToolFlavour, ToolKind
    from mcpcore_lint.syntax.module import Module
    from mcpcore_lint.syntax.scopes import Scope

FunctionNode: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda

# ---------------------------------------------------------------------------------------------------------------------
# Values: what an expression is known to be, without running it.
# ---------------------------------------------------------------------------------------------------------------------


@light
class Value:
    """The base of all values: where it is written. `node` is the expression that the value comes from."""

    node: ast.AST | None
    module: Module | None

    @property
    def span(self) -> Span | None:
        """Where the value is written, which may be another file than the one that uses it."""
        if self.node is None or self.module is None:
            return None
        return self.module.source.span(self.node)


@light
class Unknown(Value):
    """Nobody can tell without running it."""

    why: str = ""


@light
class Missing(Value):
    """An argument that is not given."""


@light
class Const(Value):
    """A string, number, bool, None, bytes or Ellipsis."""

    value: str | bytes | bool | int | float | complex | None = None


@light
class Text(Value):
    """A string that is known in part: literal pieces, and None for each that is not known."""

    parts: tuple[str | None, ...] = ()

    @property
    def known_length(self) -> int:
        """The characters that it has at least."""
        return sum(len(part) for part in self.parts if part is not None)


@light
class Items(Value):
    """A list, tuple or set. Where `complete` is false, more items than those listed may be in it."""

    kind: Literal["list", "tuple", "set"] = "list"
    items: tuple[Value, ...] = ()
    complete: bool = True


@light
class Mapping(Value):
    """A dict. Where `complete` is false, more keys than those listed may be in it."""

    items: tuple[tuple[Value, Value], ...] = ()
    complete: bool = True

    def get(self, key: str) -> Value | None:
        """The value of a string key, or None."""
        for each, value in self.items:
            if isinstance(each, Const) and each.value == key:
                return value
        return None

    @property
    def keys(self) -> tuple[str, ...]:
        """The string keys that are known."""
        return tuple(each.value for each, _ in self.items if isinstance(each, Const) and isinstance(each.value, str))


@light
class CodeValue(Value):
    """An error code: a member of `ErrorCode`, or a `CustomCode` of the project.

    `exists` is false where the code names a member that `ErrorCode` does not have.
    """

    name: str = ""
    number: int | None = None
    custom: bool = False
    exists: bool = True


@light
class Symbol(Value):
    """A module, class or function, by its qualified name: `mcpcore.not_found`, `httpx.HTTPError`, `app.store.Store`.

    Names of mcpcore, the SDK, FastMCP and the standard library are canonical: `mcpcore.errors.not_found`, an alias and
    a re-export in the project are all `mcpcore.not_found`; builtins are `builtins.ValueError`.
    `definition` is the class or function of the project that it names.
    """

    name: str = ""
    definition: ast.AST | None = None


@light
class CallValue(Value):
    """The result of calling something that is known: `Retry.after(seconds=30)`, `FailureMode(...)`."""

    func: Symbol = Symbol(None, None)
    args: tuple[Value, ...] = ()
    keywords: tuple[tuple[str, Value], ...] = ()
    complete: bool = True
    """False where `*args` or `**kwargs` that are not known may bring more arguments."""

    def argument(self, name: str, position: int | None = None) -> Value:
        """An argument by keyword or position; `Missing` where it is not given, `Unknown` where it may be."""
        for keyword, value in self.keywords:
            if keyword == name:
                return value
        return self.at(position)

    def at(self, position: int | None) -> Value:
        """An argument that no keyword gives; told as `argument` tells it."""
        if position is not None and position < len(self.args):
            return self.args[position]
        if not self.complete:
            return Unknown(self.node, self.module, "it may come from * or ** arguments")
        return Missing(self.node, self.module)


@light
class Choice(Value):
    """One of several values: a conditional expression, a name bound on several branches, a `Literal` parameter."""

    options: tuple[Value, ...] = ()


def options(value: Value) -> tuple[Value, ...]:
    """The values that it may be: the options of a `Choice`, flattened, else itself alone."""
    if type(value) is not Choice:
        return (value,)
    return tuple(each for option in value.options for each in options(option))


def string(value: Value) -> str | None:
    """The string that it is for certain, or None."""
    if type(value) is Const and isinstance(value.value, str):
        return value.value
    return None


def strings(value: Value) -> tuple[str, ...] | None:
    """All strings that it may be, or None where one of them is not known to be a string."""
    found = tuple(string(each) for each in options(value))
    return None if None in found else tuple(each for each in found if each is not None)


def is_left_out(value: Value) -> bool:
    """Whether an argument is definitely missing, or None."""
    return isinstance(value, Missing) or (type(value) is Const and value.value is None)


# ---------------------------------------------------------------------------------------------------------------------
# Contracts.
# ---------------------------------------------------------------------------------------------------------------------

ArgumentState: TypeAlias = Literal["known", "unknown", "missing"]


@light
class Argument:
    """One argument of a call.

    `value` is what it is; `node` is the expression as written at the call (a name, say), `keyword` the `name=` part,
    both None where the argument is missing or comes from an unpacked `**`.
    """

    name: str
    value: Value
    node: ast.expr | None = None
    keyword: ast.keyword | None = None

    @property
    def state(self) -> ArgumentState:
        """Whether it is known, unknown, or not given."""
        if isinstance(self.value, Missing):
            return "missing"
        return "unknown" if isinstance(self.value, Unknown) else "known"

    @property
    def given(self) -> bool:
        """Whether something stands there (known or not)."""
        return not isinstance(self.value, Missing)

    @property
    def text(self) -> str | None:
        """The string that it is for certain, or None."""
        return string(self.value)


@light
class ContractEntry:
    """One item of `errors=[...]`.

    Where the item is a `FailureMode(...)` call that can be seen, `call` is that call and the arguments are filled;
    where it is something else that is known (a string, a dict), `is_failure_mode` is false; where it cannot be
    known, `resolved` is false and rules stay silent.
    """

    value: Value
    module: Module
    """The file that the entry is written in: a shared constant may be in another file than the tool."""
    resolved: bool
    is_failure_mode: bool
    call: ast.Call | None
    arguments: dict[str, Argument]
    """By name: reason, code, when, recovery, retry, fallback_tool, strategy, actions, corrective_params,
    user_message, data, example, effects. Each is there; `.state` tells."""
    inline: bool
    """Whether it is written in the tool's own `errors=[...]`, so that a fix of it belongs to this tool."""

    @property
    def node(self) -> ast.AST:
        """The expression that diagnostics point at."""
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
        """The reason where it is known for certain."""
        return self.reason.text

    @property
    def code_value(self) -> CodeValue | None:
        """The code where it is known for certain."""
        value = self.code.value
        return value if isinstance(value, CodeValue) else None


ContractState: TypeAlias = Literal["sequence", "not_a_sequence", "unknown"]


@light
class Contract:
    """The `errors` of a tool, resource or prompt.

    `state` is "not_a_sequence" where it is something else that is known (a dict, a string, one FailureMode), and
    "unknown" where it cannot be resolved. `complete` is false where entries may be missing from `entries`.
    """

    node: ast.expr
    """The expression after `errors=`, as written at the tool."""
    value: Value
    module: Module
    state: ContractState
    entries: tuple[ContractEntry, ...]
    complete: bool

    @cached_property
    def by_reason(self) -> dict[str, ContractEntry]:
        """The entries whose reason is known; of duplicates the first."""
        found: dict[str, ContractEntry] = {}
        for entry in self.entries:
            if entry.reason_text is not None:
                found.setdefault(entry.reason_text, entry)
        return found

    def with_code(self, name: str) -> tuple[ContractEntry, ...]:
        """The entries of a code, by the code's name."""
        return tuple(each for each in self.entries if each.code_value is not None and each.code_value.name == name)

    @property
    def reasons(self) -> tuple[str, ...]:
        """The reasons that are known, in the order written."""
        return tuple(self.by_reason)

    @property
    def known(self) -> bool:
        """Whether every entry, its reason and its code are known: only then may a rule say that something lacks."""
        return (
            self.state == "sequence"
            and self.complete
            and all(
                each.resolved and each.is_failure_mode and each.reason_text is not None and each.code_value is not None
                for each in self.entries
            )
        )


# ---------------------------------------------------------------------------------------------------------------------
# Errors: made, raised, caught, returned.
# ---------------------------------------------------------------------------------------------------------------------

ErrorForm: TypeAlias = Literal[
    "fail", "factory", "coded", "guard", "protocol", "framework", "builtin", "project", "other"
]
"""How an error is made.

fail: `ctx.fail(...)` or `ctx.guard(...)`; factory: `not_found(...)`; coded: `CodedError(...)` or a subclass of the
project; guard: `mcpcore.guard(...)`, of an exception;
protocol: the SDK's `MCPError` or a subclass; framework: `ToolError`, `ResourceError` of the SDK or FastMCP;
builtin: a builtin exception; project: an exception class of the project; other: a class of a third party.
"""

Fate: TypeAlias = Literal["raised", "returned", "discarded", "unused", "escapes"]
"""What becomes of an error that is made: raised; returned; an expression statement of its own; bound to a name that
nothing reads; or handed on to where the linter does not follow (an argument, an attribute, a container)."""

Cause: TypeAlias = Literal["implicit", "from", "from_none"]


@light
class ErrorSite:
    """An expression that makes an error.

    `type_name` is the class, canonical (`mcpcore.CodedError` for the factories and `ctx.fail` too). `code` and `reason`
    are values: a factory's code is known, `ctx.fail`'s is the declared entry's where there is one. Arguments that the
    form does not take are missing.
    """

    form: ErrorForm
    node: ast.expr
    module: Module
    type_name: str
    callee: str
    """Qualified name of what is called: `mcpcore.not_found`, `mcpcore.CodedError`, `mcpcore.Context.fail`.

    Of a subclass of `CodedError` whose constructors were followed it is the class's name in its own module: the call's
    arguments are not those of `CodedError`, and no fix may take them for such."""
    code: Value
    reason: Value
    message: Argument
    data: Argument
    recovery: Argument
    retry: Argument
    effects: Argument
    function: FunctionNode
    """The innermost function that it is in."""
    fate: Fate = "escapes"
    sdk_exempt: bool = False
    """An `MCPError` that the protocol itself needs: URL elicitation, a missing capability."""

    @property
    def span(self) -> Span:
        """Where it stands."""
        return self.module.source.span(self.node)


@light
class ThrowSite:
    """A `raise` in the handler (or in a function nested in it) and one error that it may raise.

    A `raise` of a conditional expression or of a name that is bound twice is a `ThrowSite` for each error.
    `error` is None where the error itself is made elsewhere: a re-raise, `raise await helper()`, a parameter.
    """

    node: ast.Raise
    module: Module
    error: ErrorSite | None
    type_name: str | None
    """The class of what is raised, where it is known."""
    cause: Cause
    catch: CatchSite | None
    """The innermost `except` clause that it stands in."""
    reraise: bool
    """Whether it raises the caught exception again: bare, or by the name of its clause."""
    escapes: bool
    """Whether it leaves its function: no `except` clause round it catches it for certain."""
    function: FunctionNode
    call: ast.Call | None = None
    """The call whose result is raised, where `error` is made elsewhere: `raise await helper()`."""
    made: ast.expr | None = None
    """What is raised, where `error` is made elsewhere."""
    grouped: bool = False
    """Whether it is raised inside an exception group: `raise ExceptionGroup("...", [not_found(...)])`."""

    @cached_property
    def span(self) -> Span:
        """Where the `raise` statement stands."""
        return self.module.source.span(self.node)


@light
class CatchSite:
    """An `except` clause, or a `with suppress(...)`.

    `types` are qualified names; None stands for one that cannot be resolved. A bare `except` has
    `("builtins.BaseException",)` and `bare`.
    """

    node: ast.ExceptHandler | ast.With | ast.AsyncWith
    module: Module
    types: tuple[str | None, ...]
    name: str | None
    bare: bool
    star: bool
    suppress: bool
    body: tuple[ast.stmt, ...]
    """The statements of the clause; none for `suppress`."""
    try_body: tuple[ast.stmt, ...]
    """The statements that are guarded."""
    function: FunctionNode

    @property
    def broad(self) -> bool:
        """Whether it catches `Exception` or more."""
        return any(each in {"builtins.Exception", "builtins.BaseException"} for each in self.types)

    @property
    def catches_base(self) -> bool:
        """Whether it catches `BaseException`, and cancellation with it."""
        return "builtins.BaseException" in self.types

    @property
    def span(self) -> Span:
        """Where the clause's first line stands, up to its colon."""
        source = self.module.source
        if isinstance(self.node, ast.ExceptHandler):
            return source.header_span(self.node, self.node.type)
        return source.header_span(self.node, self.node.items[-1].context_expr)


@light
class ReturnSite:
    """A `return` of the handler itself, and the clause that it stands in."""

    node: ast.Return
    module: Module
    scope: Scope
    catch: CatchSite | None
    function: FunctionNode

    @property
    def span(self) -> Span:
        """Where it stands."""
        return self.module.source.span(self.node)


@light
class RecoveryCall:
    """A call of `ctx.recovery_for(reason)`."""

    node: ast.Call
    module: Module
    reason: Value

    @property
    def span(self) -> Span:
        """Where it stands."""
        return self.module.source.span(self.node)


@light
class GuardedReason:
    """A reason that `ctx.guard({...})` gives to an exception."""

    node: ast.expr
    """The value in the mapping, or the call if the mapping is written elsewhere."""
    module: Module
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
    """From `Field(description=...)` in `Annotated[...]` or as the default; `Missing` where there is none.
    A docstring's `Args:` section is not counted: the SDK does not read it."""
    injected: bool
    """Whether the framework fills it in (the context, a dependency), so that the model never sees it."""


@light
class ContextParameter:
    """The parameter that takes the context.

    `reasons` are the names in `Context[Literal[...]]`; None where there is no type argument (`bare`), or it cannot be
    resolved (`resolved` is false) or accepts any (`Context[Any]`, `Context[str]`: `any_reason`).
    """

    name: str
    node: ast.arg
    annotation: ast.expr | None
    argument: ast.expr | None
    """The type argument that holds the reasons, as written."""
    reasons: tuple[str, ...] | None
    bare: bool
    any_reason: bool
    resolved: bool
    mcpcore: bool
    """Whether it is mcpcore's `Context`, not the SDK's or FastMCP's."""


def _trimmed(docstring: str) -> str:
    """A docstring as readers of it show it (PEP 257, "Handling Docstring Indentation").

    `ast.get_docstring` would load `inspect` for this, which takes longer than to check a file.
    """
    first, *others = docstring.expandtabs().split("\n")
    margin = min((len(each) - len(each.lstrip()) for each in others if each.strip()), default=0)
    lines = [first.lstrip(), *(each[margin:] for each in others)]
    while lines and not lines[-1]:
        lines.pop()
    while lines and not lines[0]:
        lines.pop(0)
    return "\n".join(lines)


@light
class Handler:
    """The function that does a tool's work, and what happens in it. Nested functions are included."""

    node: FunctionNode
    module: Module
    qualname: str
    parameters: tuple[Parameter, ...]
    context: ContextParameter | None
    owner: ast.ClassDef | None
    """The class that it is a method of."""
    errors: tuple[ErrorSite, ...] = ()
    throws: tuple[ThrowSite, ...] = ()
    catches: tuple[CatchSite, ...] = ()
    returns: tuple[ReturnSite, ...] = ()
    recovery_calls: tuple[RecoveryCall, ...] = ()
    guarded_reasons: tuple[GuardedReason, ...] = ()

    @property
    def name(self) -> str:
        """The function's name; `<lambda>` for a lambda."""
        return "<lambda>" if isinstance(self.node, ast.Lambda) else self.node.name

    @property
    def fail_calls(self) -> tuple[ErrorSite, ...]:
        """The calls of `ctx.fail`."""
        return tuple(each for each in self.errors if each.form == "fail")

    @property
    def named_reasons(self) -> tuple[Value, ...]:
        """The reasons that the handler gives to `ctx.recovery_for` and `ctx.guard`."""
        return (*(each.reason for each in self.recovery_calls), *(each.reason for each in self.guarded_reasons))

    @cached_property
    def docstring(self) -> str | None:
        """The docstring without the indentation that its place gives it, or None."""
        written = None if isinstance(self.node, ast.Lambda) else ast.get_docstring(self.node, clean=False)
        return None if written is None else _trimmed(written)

    @property
    def is_async(self) -> bool:
        """Whether it is an `async def`."""
        return isinstance(self.node, ast.AsyncFunctionDef)

    @property
    def span(self) -> Span:
        """Where its name stands."""
        return self.module.source.span(self.node)

    def contains(self, path: str, span: Span) -> bool:
        """Whether a place stands within the function."""
        return path == self.module.path and self.node.lineno <= span.line <= (self.node.end_lineno or 0)

    def walk(self) -> Iterator[ast.AST]:
        """Every node of the body, nested functions included, in source order; operators and contexts are left out."""
        yield from walk(body_of(self.node))


@light
class Served:
    """A tool that a low-level handler serves."""

    name: Value
    handler: Handler | None
    """The function that does the tool's work; None where the function that tells the names apart does it itself."""
    call: ast.Call | None
    """Where that function is called."""
    inside: Handler
    """The function that tells this name from others."""
    way: tuple[tuple[Handler, ast.Call], ...]
    """The functions that lead there, the registered one first, each with the call that hands the name on."""
    elsewhere: tuple[tuple[int, int], ...]
    """The lines of the function that tells the names apart that are for other names alone."""


@light
class ToolDef:
    """A tool (or resource, or prompt) that a file defines, however it is written.

    `flavour` is whose it is: `@tool` or `@server.tool` of mcpcore, the SDK's `@server.tool()` and `add_tool`, FastMCP's
    `@mcp.tool`, or the `call_tool` handler of the low-level server, which serves every tool at once (`name` unknown);
    each function that it hands a tool's calls to is one more of those, by the tool's name.
    """

    kind: ToolKind
    flavour: ToolFlavour
    name: Value
    handler: Handler
    module: Module
    registration: ast.expr
    """The decorator or the call that makes it a tool."""
    contract: Contract | None
    description: Value
    server: str | None
    """The server object that it is registered on (`app.server`), or None where it is not known: two tools with one
    `server` are on one server."""
    annotations: Value
    """What `annotations=` is given: `ToolAnnotations(...)`, a dict, `Missing`."""
    uri: Value | None = None
    """Of a resource."""
    serves: tuple[Served, ...] = ()
    """Of a low-level handler: the tools that it serves."""

    @property
    def display_name(self) -> str:
        """The name in messages: the tool's own where it is known, else the handler's."""
        return string(self.name) or self.handler.name

    @property
    def span(self) -> Span:
        """Where the handler's name stands."""
        return self.handler.span

    def decorator_keyword(self, name: str) -> ast.keyword | None:
        """A keyword of the registration, as written."""
        if isinstance(self.registration, ast.Call):
            for keyword in self.registration.keywords:
                if keyword.arg == name:
                    return keyword
        return None


# ---------------------------------------------------------------------------------------------------------------------
# Through calls.
# ---------------------------------------------------------------------------------------------------------------------


@light_value
class Site:
    """A place in some file, by its path."""

    path: str
    span: Span


@light_value
class ReachedThrow:
    """An error that leaves the handler after it was raised in a function that the handler calls.

    `codes` and `reasons` are all that it may have; None where that is not known (and `reasons` is `()` where the error
    has no reason for certain).
    """

    type_name: str
    form: ErrorForm
    codes: tuple[str, ...] | None
    reasons: tuple[str, ...] | None
    path: tuple[str, ...]
    """The functions on the way, the handler first: ("fetch_articles", "ArticleStore.get", "_request")."""
    call: Span
    """The call in the handler that leads there."""
    site: Site
    """The `raise` (or the third-party call) at the end."""
    source: Literal["project", "knowledge"]
    """"knowledge": a third-party function that is known to raise it; `path` ends with its name."""
    is_named_only: bool = False
    """Whether a guard names it, and nothing inside is seen to raise an exception that becomes it."""
    data_keys: tuple[str, ...] | None = None
    """Of what a guard makes: all keys of its data; None where they are not known."""


@light_value
class UnresolvedCall:
    """A call, in the handler or beyond, that could raise anything for all that the linter can see."""

    name: str
    path: tuple[str, ...]
    call: Span
    """The call in the handler that leads there."""
    site: Site
    takes_context: bool
    """Whether the context is handed to it, so that it could call `ctx.fail`."""
    project: bool
    """Whether it goes into the project's own code, as far as can be told."""
    why: str


@light_value
class ReachedWrite:
    """Something that writes to standard output, in the handler or in a function that it calls."""

    label: str
    """The call for people: `print()`, `subprocess.run()`."""
    kind: Literal["print", "child", "input"]
    """"child": a child process inherits standard output; "input": `input()`, which reads standard input as well."""
    function: str
    """The function that contains it."""
    path: tuple[str, ...]
    """The functions on the way, the handler first."""
    call: Span
    """The call in the handler that leads there, or the writing call if the handler contains it."""
    site: Site


@light_value
class Reach:
    """What can come out of the functions that a handler calls."""

    throws: tuple[ReachedThrow, ...] = ()
    """Errors raised in other functions, each with the call in the handler that leads there."""
    unresolved: tuple[UnresolvedCall, ...] = ()
    own: tuple[ReachedThrow, ...] = ()
    """Errors raised in the handler itself (or in a function nested in it that is called) that do leave it; `call` is
    the `raise` statement."""
    writes: tuple[ReachedWrite, ...] = ()
    """What writes to standard output, in the handler and in the functions that it calls."""
