"""The rules about `errors` as a whole, and about what may stand in it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, ClassVar, Final

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.meaning.resolve import evaluate
from mcpcore_lint.model import CallValue, CodeValue, Const, Items, Mapping, Symbol, Text, options
from mcpcore_lint.rules.base import Invalid, Rule, RuleContext, Valid
from mcpcore_lint.rules.contract.entries import (
    FAILURE_MODE,
    NOT_ENTRIES,
    certainly_not,
    contracts_of,
    described,
    entries_of,
)

if TYPE_CHECKING:
    from mcpcore_lint.model import Contract, ToolDef, Value
    from mcpcore_lint.rules.base import Family

_NOT_SEQUENCES: Final = frozenset(
    {"builtins.dict", "builtins.set", "builtins.frozenset", "builtins.str", "builtins.iter"}
)
_ENTRY: Final = frozenset({FAILURE_MODE})


class ContractType(Rule):
    """`errors` that is no list."""

    id = "error-contract-type"
    severity = Severity.ERROR
    family: ClassVar[Family] = "contract"
    summary = "`errors` is present but is not a list or tuple"
    why = (
        "A contract is a sequence: its order is the order in `tools/list`. Anything else is refused at import, or "
        "loses the order and the types of the reasons."
    )
    bad = '@tool(errors={"no_match": ErrorCode.NOT_FOUND})'
    good = '@tool(errors=[FailureMode("no_match", ErrorCode.NOT_FOUND, when="...", recovery="...")])'
    how_to_fix = "Give a list or a tuple of `FailureMode`, also where there is only one: `errors=[mode]`."
    when_to_suppress = "Never: the tool cannot be imported."
    valid = (
        """
        from mcpcore import Contract, ErrorCode, FailureMode, tool

        A = FailureMode("a", ErrorCode.NOT_FOUND, when="It is gone.", recovery="Call list_items to see them all.")

        @tool(errors=[A])
        def one() -> str: ...

        @tool(errors=(A,))
        def two() -> str: ...

        @tool(errors=Contract([A]))
        def three() -> str: ...

        @tool(errors=[A] + [A])
        def four() -> str: ...

        @tool(errors=list((A,)))
        def five() -> str: ...

        @tool(errors=[A] if A else None)
        def six() -> str: ...

        @tool
        def seven() -> str: ...

        @tool(errors=[each for each in (A,)])
        def eight() -> str: ...

        @tool(errors=Contract(each for each in (A,)))
        def nine() -> str: ...

        @tool(errors=Contract({A}))
        def ten() -> str: ...

        @tool(errors=Contract(entries=(A,)))
        def eleven() -> str: ...
        """,
        # What cannot be known.
        """
        from elsewhere import ERRORS, make
        from mcpcore import tool

        OPTIONS = load()

        @tool(errors=ERRORS)
        def one() -> str: ...

        @tool(errors=make())
        def two() -> str: ...

        @tool(**OPTIONS)
        def three() -> str: ...

        @tool(errors=ERRORS | make())
        def four() -> str: ...
        """,
        # Another framework's option of the same name.
        """
        from fastmcp import FastMCP

        mcp = FastMCP("x")

        @mcp.tool(errors={"a": 1})
        def one() -> str: ...
        """,
        Valid(
            """
            from modes import ERRORS
            from mcpcore import tool

            @tool(errors=ERRORS)
            def one() -> str: ...
            """,
            files={"modes.py": "from mcpcore import Contract\nERRORS = Contract([])\n"},
        ),
    )
    invalid = (
        # None is no list either, but for a server's own decorator.
        Invalid(
            """
            from mcpcore import Server, tool

            server = Server("x")

            @tool(errors=None)  # here
            def one() -> str: ...

            @server.tool(errors=None)
            def two() -> str: ...
            """,
            "the errors of one is None",
        ),
        Invalid(
            """
            import mcpcore as m
            from mcpcore import ErrorCode, FailureMode, not_found
            from mcpcore import tool as make

            A = FailureMode("a", ErrorCode.NOT_FOUND, when="It is gone.", recovery="Call list_items to see them all.")

            @make(errors=A)  # here
            def one() -> str: ...

            @m.tool(errors={"a": A})  # here
            def two() -> str: ...

            @make(errors="a")  # here
            def three() -> str: ...

            @make(errors={A})  # here
            def four() -> str: ...

            @make(errors=(A))  # here
            def five() -> str: ...

            @make(errors=(each for each in [A]))  # here
            def six() -> str: ...

            @make(errors=FailureMode)  # here
            def seven() -> str: ...

            @make(errors=[A] if A else {"a": A})  # here
            def eight() -> str: ...

            @make(errors=frozenset([A]))  # here
            def nine() -> str: ...

            @make(errors=True)  # here
            def ten() -> str: ...

            @make(errors=not_found("gone"))  # here
            def eleven() -> str: ...

            @make(errors={each: A for each in "a"})  # here
            def twelve() -> str: ...
            """,
            "the errors of one is a FailureMode",
        ),
        Invalid(
            """
            from mcpcore import Server
            from modes import MODE

            server = Server("x")

            @server.tool(errors=MODE)  # here
            def one() -> str: ...

            def two() -> str: ...

            server.add_tool(two, errors={})  # here
            """,
            "the errors of one is a FailureMode",
            files={
                "modes.py": "import mcpcore\n"
                'MODE = mcpcore.FailureMode("a", mcpcore.ErrorCode.CONFLICT, when="x", recovery="Read it again.")\n'
            },
        ),
    )

    def check_tool(self, tool: ToolDef, ctx: RuleContext) -> None:
        """Report a contract that is something else for certain."""
        if tool.contract is None and (none := _given_none(tool)) is not None:
            ctx.report(
                none,
                f"the errors of {tool.display_name} is None, not a list or tuple of FailureMode",
                help="leave errors out, or write errors=[FailureMode(...), ...]",
                tool=tool,
            )
        for contract in contracts_of(tool, ctx):
            if contract.state == "sequence" or not _ours(tool, contract):
                continue
            what = _no_sequence(contract.value)
            if what is None or _in_contract(contract.value):
                continue
            single = isinstance(contract.value, CallValue) and contract.value.func.name == FAILURE_MODE
            step = "write errors=[...], also for one failure mode" if single else "write errors=[FailureMode(...), ...]"
            ctx.report(
                contract.node,
                f"the errors of {tool.display_name} is {what}, not a list or tuple of FailureMode",
                help=step,
                tool=tool,
            )
            return


def _ours(tool: ToolDef, contract: Contract) -> bool:
    """Whether `errors` is mcpcore's: another framework may have an option of that name."""
    return tool.flavour == "mcpcore" or any(each.is_failure_mode for each in contract.entries)


def _given_none(tool: ToolDef) -> ast.expr | None:
    """The None that `@mcpcore.tool(errors=None)` is given, which refuses it; a server's own `tool` takes it."""
    call = tool.registration
    for each in call.keywords if isinstance(call, ast.Call) and tool.flavour == "mcpcore" else ():
        if each.arg == "errors" and isinstance(each.value, ast.Constant) and each.value.value is None:
            maker = evaluate(call.func, tool.module.scope) if isinstance(call, ast.Call) else None
            return each.value if isinstance(maker, Symbol) and maker.name == "mcpcore.tool" else None
    return None


def _no_sequence(value: Value) -> str | None:
    """What a value is that is for certain neither a list nor a tuple; None where it may be one."""
    written = {ast.GeneratorExp: "a generator", ast.DictComp: "a dict", ast.SetComp: "a set"}.get(type(value.node))
    if isinstance(value, (Const, Text, Mapping, CodeValue)):
        return described(value)
    if isinstance(value, Items):
        return None if value.kind != "set" else "a frozenset" if _calls_frozenset(value) else "a set"
    if isinstance(value, CallValue):
        name = value.func.name
        if name in {"builtins.list", "builtins.tuple", "builtins.sorted", "mcpcore.Contract"}:
            return None
        known = name in NOT_ENTRIES or name in _NOT_SEQUENCES or name == FAILURE_MODE
        return described(value) if known else None
    if isinstance(value, Symbol):
        named = value.name == FAILURE_MODE or value.name in NOT_ENTRIES or value.name.startswith("builtins.")
        return described(value) if named or isinstance(value.definition, ast.ClassDef) else None
    return written


def _in_contract(value: Value) -> bool:
    """Whether a value is what a `Contract(...)` is made of, which may be anything that can be iterated over."""
    if value.module is None or value.node is None or isinstance(value, Mapping):
        return False
    parent = value.module.parents.get(value.node)
    return isinstance(parent, ast.Call) or (isinstance(parent, ast.keyword) and parent.arg != "errors")


def _calls_frozenset(value: Items) -> bool:
    return isinstance(value.node, ast.Call) and ast.unparse(value.node.func) == "frozenset"


class ContractEmpty(Rule):
    """`errors=[]` says less than leaving it out."""

    id = "error-contract-empty"
    severity = Severity.WARNING
    family: ClassVar[Family] = "contract"
    summary = "`errors=[]`: leave it out, or declare real failure modes"
    why = "An empty contract promises that the tool never fails, which few tools can keep, and declares nothing."
    bad = "@tool(errors=[])\ndef fetch() -> str: ..."
    good = "@tool\ndef fetch() -> str: ..."
    how_to_fix = "Leave `errors` out, or declare the ways in which the tool fails."
    when_to_suppress = "While a tool is being written."
    valid = (
        """
        from mcpcore import ErrorCode, FailureMode, tool

        A = FailureMode("a", ErrorCode.NOT_FOUND, when="It is gone.", recovery="Call list_items to see them all.")
        LATER = []
        LATER.append(A)
        SOME = [A]

        @tool
        def one() -> str: ...

        @tool(errors=LATER)
        def two() -> str: ...

        @tool(errors=[*SOME])
        def three() -> str: ...

        @tool(errors=[*unknown()])
        def four() -> str: ...

        @tool(errors=[] if SOME else SOME)
        def five() -> str: ...

        @tool(errors=None)
        def six() -> str: ...

        @tool(errors=list(SOME))
        def seven() -> str: ...
        """,
    )
    invalid = (
        Invalid(
            """
            from mcpcore import Contract, Server, prompt, resource, tool

            server = Server("x")
            NONE = []

            @tool(errors=[])  # here
            def one() -> str: ...

            @tool(errors=())  # here
            def two() -> str: ...

            @tool(errors=NONE)  # here
            def three() -> str: ...

            @tool(errors=[*NONE])  # here
            def four() -> str: ...

            @server.tool(title="Five", errors=NONE + [])  # here
            def five() -> str: ...

            @tool(errors=Contract([]))  # here
            def six() -> str: ...

            @tool(errors=list())  # here
            def seven() -> str: ...

            @resource("a://b", errors=[])  # here
            def eight() -> str: ...

            @prompt(errors=[])  # here
            def nine() -> str: ...
            """,
            "the contract of one is empty",
        ),
    )

    def check_tool(self, tool: ToolDef, ctx: RuleContext) -> None:
        """Report a contract that has no entry for certain, whichever branch is taken."""
        contracts = contracts_of(tool, ctx)
        if not contracts or not all(
            each.state == "sequence" and each.complete and not each.entries and _ours(tool, each) for each in contracts
        ):
            return
        ctx.report(
            contracts[0].node,
            f"the contract of {tool.display_name} is empty",
            help="leave errors out, or declare the ways in which the tool fails",
            tool=tool,
        )


class ContractEntryType(Rule):
    """An entry that is no failure mode."""

    id = "error-contract-entry-type"
    severity = Severity.ERROR
    family: ClassVar[Family] = "contract"
    summary = "an entry is not a FailureMode"
    why = "Only a `FailureMode` ties a reason to a code, a circumstance and a recovery; all else is refused at import."
    bad = '@tool(errors=["no_match", not_found("...")])'
    good = '@tool(errors=[FailureMode("no_match", ErrorCode.NOT_FOUND, when="...", recovery="...")])'
    how_to_fix = "Write a `FailureMode(...)`; put a list of entries into another with `*`: `errors=[*COMMON, mode]`."
    when_to_suppress = "Never: the tool cannot be imported."
    valid = (
        """
        from functools import partial

        from elsewhere import MODE, make
        from mcpcore import Contract, ErrorCode, FailureMode, tool

        class Mode(FailureMode): ...

        class Odd:
            def __new__(cls): return FailureMode("b", ErrorCode.CONFLICT, when="x", recovery="y")

        A = FailureMode("a", ErrorCode.NOT_FOUND, when="It is gone.", recovery="Call list_items to see them all.")
        missing = partial(FailureMode, code=ErrorCode.NOT_FOUND)

        def entry(reason): return FailureMode(reason, ErrorCode.CONFLICT, when="x", recovery="y")

        @tool(errors=[A, MODE, make(), *make(), missing("b"), entry("c"), Mode("d"), Odd(), getattr(A, "x")])
        def one() -> str: ...

        @tool(errors=[A if MODE else MODE, *Contract([A]), A.x, MODE["b"]])
        def two() -> str: ...

        @tool(errors=[FailureMode["e"]("e", ErrorCode.CONFLICT, when="x", recovery="y")])
        def three() -> str: ...
        """,
    )
    invalid = (
        Invalid(
            """
            import mcpcore
            from mcpcore import Contract, ErrorCode, FailureMode, not_found, tool

            A = FailureMode("a", ErrorCode.NOT_FOUND, when="It is gone.", recovery="Call list_items to see them all.")
            COMMON = [A]
            NAME = "no_match"

            class Gone(Exception): ...

            class Mode:
                def __init__(self, reason): ...

            def helper(): ...

            @tool(
                errors=[
                    A,
                    "no_match",  # here
                    NAME,  # here
                    ErrorCode.NOT_FOUND,  # here
                    {"reason": "a"},  # here
                    ("a", ErrorCode.NOT_FOUND),  # here
                    not_found("gone"),  # here
                    Gone,  # here
                    ValueError,  # here
                    Mode("a"),  # here
                    COMMON,  # here
                    Contract(COMMON),  # here
                    None,  # here
                    helper,  # here
                    FailureMode,  # here
                    A if NAME else "b",  # here
                    f"{NAME}x",  # here
                    mcpcore.CodedError(ErrorCode.CONFLICT),  # here
                ]
            )
            def one() -> str: ...
            """,
            "errors[1] of one is the string 'no_match', not a FailureMode",
        ),
        Invalid(
            """
            from mcpcore import tool
            from modes import COMMON

            @tool(errors=[*COMMON])  # here
            def one() -> str: ...

            @tool(errors=COMMON)  # here
            def two() -> str: ...
            """,
            "errors[0] of one is the string 'a', not a FailureMode",
            files={"modes.py": 'COMMON = ["a"]\n'},
        ),
    )

    def check_tool(self, tool: ToolDef, ctx: RuleContext) -> None:
        """Report each entry that is something else for certain."""
        for contract in contracts_of(tool, ctx):
            if contract.state != "sequence" or not _ours(tool, contract):
                continue
            for index, entry in entries_of(contract, ctx):
                value = entry.value
                if entry.is_failure_mode or not certainly_not(value, _ENTRY, ctx):
                    continue
                # An entry of a shared list is wrong for this tool: the list may be something else for others.
                at = value.node if entry.inline and value.node is not None else _written(contract, value)
                ctx.report(
                    at,
                    f"errors[{index}] of {tool.display_name} is {described(value)}, not a FailureMode",
                    help=_instead(value),
                    tool=tool,
                )


def _written(contract: Contract, value: Value) -> ast.AST:
    """The part of `errors=...` that a value comes from: the name of it in the list, else the whole."""
    if isinstance(contract.node, (ast.List, ast.Tuple)) and len(contract.node.elts) == len(contract.entries):
        for node, entry in zip(contract.node.elts, contract.entries, strict=True):
            if not isinstance(node, ast.Starred) and value in options(entry.value):
                return node
    return contract.node


def _instead(value: Value) -> str:
    if isinstance(value, (Items, CallValue)) and (isinstance(value, Items) or value.func.name == "mcpcore.Contract"):
        inner = value.items if isinstance(value, Items) else ()
        if isinstance(value, CallValue) or all(
            isinstance(each, CallValue) and each.func.name == FAILURE_MODE for each in inner
        ):
            return "unpack it with a star: errors=[*COMMON, ...]"
    if isinstance(value, Symbol) and value.name == FAILURE_MODE:
        return 'call it: FailureMode("reason", ErrorCode.NOT_FOUND, when="...", recovery="...")'
    return 'write FailureMode("reason", ErrorCode.NOT_FOUND, when="...", recovery="...")'
