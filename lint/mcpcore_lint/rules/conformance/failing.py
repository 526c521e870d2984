"""How failures are made: their reasons, their data, their messages, and whether they are raised."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from mcpcore_lint.diagnostics import Edit, Severity
from mcpcore_lint.model import Const, Mapping, Missing, Symbol, Unknown, options, string
from mcpcore_lint.reading.syntax import walk
from mcpcore_lint.rules._bodies import Body, body_of, codes_of, reasons_known, short, to_be_filled_in
from mcpcore_lint.rules._data_model import RESERVED, data_model
from mcpcore_lint.rules._thrown import CODED
from mcpcore_lint.rules.base import Invalid, Rule, RuleContext
from mcpcore_lint.rules.contract.entries import near
from mcpcore_lint.running import fixes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mcpcore_lint.diagnostics import Fix
    from mcpcore_lint.model import Contract, ContractEntry, ErrorSite, Handler, ToolDef, Value
    from mcpcore_lint.reading.module import Module


class ContractFailUndeclared(Rule):
    """`ctx.fail` with a reason that is not declared."""

    id = "error-contract-fail-undeclared"
    severity = Severity.ERROR
    family = "conformance"
    fixable = True
    summary = "`ctx.fail` or `ctx.recovery_for` with a reason that is not declared"
    why = "`ctx.fail` refuses the reason when it is called, so that the agent gets an internal error in its place."
    bad = 'raise ctx.fail("no_mach")'
    good = 'raise ctx.fail("no_match")'
    how_to_fix = "Correct the reason, or declare it. The fix takes the declared reason that is clearly meant."
    when_to_suppress = "Never: the call fails."
    valid = (
        """
        from typing import Literal
        from mcpcore import Context, ErrorCode, FailureMode, tool

        GONE = "gone"

        @tool(errors=[FailureMode("gone", ErrorCode.NOT_FOUND, when="x", recovery="y")])
        def one(ctx: Context, reason: str, known: Literal["gone"]) -> str:
            if reason:
                raise ctx.fail(GONE)
            if known:
                raise ctx.fail(known, data=ctx.recovery_for("gone"))
            raise ctx.fail(reason)

        @tool(errors=load())
        def two(ctx: Context) -> str:
            raise ctx.fail("anything")

        @tool
        def three(ctx: Context) -> str:
            raise ctx.fail("no contract")

        @tool(errors=[FailureMode("gone", ErrorCode.NOT_FOUND, when="x", recovery="y")])
        def four(ctx: Context, other: object) -> str:
            raise other.fail("not the context")
        """,
    )
    invalid = (
        # With some arguments filled in, and under entries that a function and a comprehension make.
        Invalid(
            """
            from functools import partial
            from typing import Any
            from mcpcore import Context, ErrorCode, FailureMode, tool

            def entry(reason, code=ErrorCode.NOT_FOUND):
                return FailureMode(reason, code, when="x", recovery="y")

            CODES = {"taken": ErrorCode.CONFLICT, "slow": ErrorCode.TIMEOUT}

            @tool(errors=[entry("gone"), *[entry(reason, code) for reason, code in CODES.items()]])
            def fetch(ctx: Context[Any], a: str) -> str:
                gone = partial(ctx.fail, "goone")
                if a == "1":
                    raise gone(data={"a": a})  # here
                if a == "2":
                    raise ctx.fail("taken")
                raise ctx.fail("other")  # here
            """,
            "'goone' is not declared",
        ),
        Invalid(
            """
            import enum
            from mcpcore import Context, ErrorCode, FailureMode, tool

            LOST = "lost"

            class Reason(enum.Enum):
                LEFT = "left"

            ERRORS = [
                FailureMode("no_match", ErrorCode.NOT_FOUND, when="x", recovery="y"),
                *[FailureMode("queue_full", ErrorCode.RATE_LIMITED, when="x", recovery="y")],
            ]

            class Tools:
                @tool(errors=ERRORS)
                async def fetch(self, c: Context, a: str) -> str:
                    if a == "1":
                        raise c.fail('no_mach', "x")  # here
                    if a == "2":
                        raise c.fail(reason="qeue_full")  # here
                    if a == "3":
                        raise c.fail(LOST)  # here
                    if a == "4":
                        raise c.fail(Reason.LEFT.value)  # here
                    if a == "5":
                        raise c.fail("no_match" if a else "nowhere")  # here
                    alias = c
                    def inner():
                        return alias.recovery_for("no_matchs")  # here
                    raise c.fail("no_match", data=inner())
            """,
            "'no_mach' is not declared",
            """
            import enum
            from mcpcore import Context, ErrorCode, FailureMode, tool

            LOST = "lost"

            class Reason(enum.Enum):
                LEFT = "left"

            ERRORS = [
                FailureMode("no_match", ErrorCode.NOT_FOUND, when="x", recovery="y"),
                *[FailureMode("queue_full", ErrorCode.RATE_LIMITED, when="x", recovery="y")],
            ]

            class Tools:
                @tool(errors=ERRORS)
                async def fetch(self, c: Context, a: str) -> str:
                    if a == "1":
                        raise c.fail('no_match', "x")
                    if a == "2":
                        raise c.fail(reason="queue_full")
                    if a == "3":
                        raise c.fail(LOST)
                    if a == "4":
                        raise c.fail(Reason.LEFT.value)
                    if a == "5":
                        raise c.fail("no_match" if a else "nowhere")
                    alias = c
                    def inner():
                        return alias.recovery_for("no_match")
                    raise c.fail("no_match", data=inner())
            """,
        ),
        Invalid(
            """
            from mcpcore import Context, tool

            @tool(errors=[])
            def fetch(ctx: Context) -> str:
                raise ctx.fail("gone")  # here
            """,
            "'gone' is not declared",
        ),
        # A class that takes in what is outside by its name, and decorators of the project with any number of entries.
        Invalid(
            """
            from typing import Any
            from mcpcore import Context, ErrorCode, FailureMode, tool

            GONE = FailureMode("gone", ErrorCode.NOT_FOUND, when="x", recovery="y")
            LOST = FailureMode("lost", ErrorCode.NOT_FOUND, when="x", recovery="y")

            class Modes:
                GONE = GONE

            def house(*errors, **options):
                return tool(errors=[LOST, *errors], **options)

            def plain(name, *errors):
                return tool(errors=errors, name=name)

            @tool(errors=[Modes.GONE])
            def one(ctx: Context[Any], a: str) -> str:
                if a:
                    raise ctx.fail("other")  # here
                raise ctx.fail("gone")

            @house(GONE, title="Two")
            def two(ctx: Context[Any], a: str) -> str:
                if a == "1":
                    raise ctx.fail("lost")
                if a == "2":
                    raise ctx.fail("other")  # here
                raise ctx.fail("gone")

            @plain("three", GONE)
            def three(ctx: Context[Any], a: str) -> str:
                if a:
                    raise ctx.fail("other")  # here
                raise ctx.fail("gone")

            @house(*load())
            def four(ctx: Context[Any], a: str) -> str:
                raise ctx.fail("other")
            """,
            "'other' is not declared",
        ),
    )

    def check_tool(self, tool: ToolDef, ctx: RuleContext) -> None:
        """Report each reason that is handed to the context and that the contract lacks."""
        contract = tool.contract
        if contract is None or not reasons_known(contract):
            return
        handler = tool.handler
        calls = [(each.node, each.reason) for each in handler.fail_calls]
        calls += [(each.node, each.reason) for each in handler.recovery_calls]
        for node, reason in calls:
            for each in options(reason):
                text = string(each)
                if text is None or text in contract.by_reason:
                    continue
                at = _reason_argument(node)
                method = "recovery_for" if isinstance(node, ast.Call) and _is_recovery(node) else "fail"
                close = near(text, contract.reasons)
                declared = ", ".join(repr(one) for one in contract.reasons) or "nothing"
                ctx.report(
                    at,
                    f"the reason {text!r} is not declared: {tool.display_name} calls ctx.{method} with it",
                    help=f"did you mean {close!r}?" if close else f"declare it in errors; declared is {declared}",
                    tool=tool,
                    module=handler.module,
                    fix=self._fix(at, text, contract, handler.module, ctx),
                )

    @staticmethod
    def _fix(at: ast.AST, text: str, contract: Contract, module: Module, ctx: RuleContext) -> Fix | None:
        meant = _clearly_near(text, contract.reasons)
        if meant is None or not isinstance(at, ast.Constant) or at.value != text:
            return None
        written = module.source.segment(at)
        if written not in {f'"{text}"', f"'{text}'"}:
            return None
        return ctx.fix(f"Change to {meant!r}", [fixes.replace_node(module, at, f"{written[0]}{meant}{written[0]}")])


def _is_recovery(node: ast.Call) -> bool:
    return isinstance(node.func, ast.Attribute) and node.func.attr == "recovery_for"


def _reason_argument(node: ast.AST) -> ast.AST:
    if isinstance(node, ast.Call):
        for keyword in node.keywords:
            if keyword.arg == "reason":
                return keyword.value
        if node.args and not isinstance(node.args[0], ast.Starred):
            return node.args[0]
    return node


def _clearly_near(text: str, reasons: tuple[str, ...]) -> str | None:
    """The declared reason that is meant: near, and nearer than any other."""
    import difflib

    scored = sorted(((difflib.SequenceMatcher(None, text, each).ratio(), each) for each in reasons), reverse=True)
    if not scored or scored[0][0] < 0.8:
        return None
    return scored[0][1] if len(scored) == 1 or scored[0][0] - scored[1][0] >= 0.1 else None


class ContractFailNotRaised(Rule):
    """An error that is made and not raised."""

    id = "error-contract-fail-not-raised"
    severity = Severity.ERROR
    family = "conformance"
    fixable = True
    summary = "an error is made by `ctx.fail` or a factory and never raised"
    why = (
        "`ctx.fail` only makes the error. Without `raise` the tool goes on, or returns the exception as its result, "
        "and the agent reads a success."
    )
    bad = 'if not found:\n    ctx.fail("no_match")'
    good = 'if not found:\n    raise ctx.fail("no_match")'
    how_to_fix = (
        "Write `raise` before the call. The fix does so for a statement of its own and for `return ctx.fail(...)`."
    )
    when_to_suppress = "Never: an error that nobody raises does nothing."
    valid = (
        """
        from mcpcore import Context, ErrorCode, FailureMode, not_found, tool

        @tool(errors=[FailureMode("gone", ErrorCode.NOT_FOUND, when="x", recovery="y")])
        def fetch(ctx: Context, a: str, future) -> str:
            def made():
                return ctx.fail("gone")
            lazily = lambda: ctx.fail("gone")
            if a == "1":
                raise made()
            if a == "2":
                raise lazily()
            if a == "3":
                future.set_exception(ctx.fail("gone"))
            errors = [ctx.fail("gone")]
            error = not_found("x")
            error.add_note("kept")
            if a == "4":
                raise ExceptionGroup("all", errors)
            raise error

        def service():
            return not_found("x")
        """,
    )
    invalid = (
        Invalid(
            """
            import mcpcore
            from mcpcore import CodedError, Context, ErrorCode, FailureMode, not_found, tool

            @tool(errors=[FailureMode("gone", ErrorCode.NOT_FOUND, when="x", recovery="y")])
            async def fetch(ctx: Context, a: str) -> str:
                if a == "1":
                    ctx.fail("gone")  # here
                if a == "2":
                    return ctx.fail("gone", "x")  # here
                if a == "3": mcpcore.not_found(  # here
                    "x",
                )
                if a == "4":
                    CodedError(ErrorCode.NOT_FOUND)  # here
                if a == "5":
                    error = not_found("x")  # here
                if a == "6":
                    problem = ctx.fail("gone")  # here
                    return problem
                if a == "7":
                    return "x" if a else not_found("x")  # here
                def inner():
                    ctx.fail("gone")  # here
                return inner()
            """,
            "ctx.fail",
            """
            import mcpcore
            from mcpcore import CodedError, Context, ErrorCode, FailureMode, not_found, tool

            @tool(errors=[FailureMode("gone", ErrorCode.NOT_FOUND, when="x", recovery="y")])
            async def fetch(ctx: Context, a: str) -> str:
                if a == "1":
                    raise ctx.fail("gone")
                if a == "2":
                    raise ctx.fail("gone", "x")
                if a == "3": raise mcpcore.not_found(
                    "x",
                )
                if a == "4":
                    raise CodedError(ErrorCode.NOT_FOUND)
                if a == "5":
                    error = not_found("x")
                if a == "6":
                    problem = ctx.fail("gone")
                    raise problem
                if a == "7":
                    return "x" if a else not_found("x")
                def inner():
                    raise ctx.fail("gone")
                return inner()
            """,
        ),
        Invalid(
            """
            from mcpcore import not_found, tool

            @tool
            def fetch(a: str) -> str:
                not_found("x")  # here
                return a
            """,
            "not_found(...) is made and never raised",
            """
            from mcpcore import not_found, tool

            @tool
            def fetch(a: str) -> str:
                raise not_found("x")
                return a
            """,
        ),
    )

    def check_handler(self, handler: Handler, tool: ToolDef, ctx: RuleContext) -> None:
        """Report each error whose way ends without a `raise`."""
        body = body_of(handler)
        for error in handler.errors:
            if error.form not in CODED:
                continue
            returned = error.fate == "returned" and error.function is handler.node
            if error.fate not in {"discarded", "unused"} and not returned:
                continue
            name = "ctx.fail" if error.form == "fail" else short(error.callee)
            what = "returned as if it were a result" if returned else "made and never raised"
            ctx.report(
                error.node,
                f"the error of {name}(...) is {what}",
                help="write `raise` before it" if not returned else "write `raise` in place of `return`",
                tool=tool,
                module=handler.module,
                fix=self._fix(error, body, ctx),
            )

    @staticmethod
    def _fix(error: ErrorSite, body: Body, ctx: RuleContext) -> Fix | None:
        module = error.module
        parent = body.parents.get(error.node)
        if isinstance(parent, ast.Expr):
            return ctx.fix("Raise it", [fixes.insert_before(module, parent, "raise ")])
        if error.fate != "returned":
            return None
        target: ast.AST | None = parent
        if isinstance(parent, ast.Assign) and len(parent.targets) == 1 and isinstance(parent.targets[0], ast.Name):
            name = parent.targets[0].id
            uses = [each for each in body.all(ast.Return) if isinstance(each.value, ast.Name) and each.value.id == name]
            bindings = body.scope(parent).bindings.get(name, [])
            target = uses[0] if len(uses) == 1 and len(bindings) == 1 else None
        if not isinstance(target, ast.Return):
            return None
        start, _ = module.source.node_range(target)
        return ctx.fix("Raise it", [Edit(start, start + len("return"), "raise")])


class ContractDataMismatch(Rule):
    """Data that does not fit the entry's model."""

    id = "error-contract-data-mismatch"
    severity = Severity.ERROR
    family = "conformance"
    summary = "the data given to `ctx.fail` lacks or adds keys against the entry's declared data model"
    why = (
        "The contract publishes the schema of the data, and clients read it by that schema: a missing key breaks them."
    )
    bad = 'FailureMode("no_match", ..., data=NoMatch)  # pmid: str\nraise ctx.fail("no_match", data={"id": pmid})'
    good = 'raise ctx.fail("no_match", data={"pmid": pmid})'
    how_to_fix = "Give the keys of the model, or change the model."
    when_to_suppress = "Never for a missing key. Where extra keys are meant, let the model allow them."
    valid = (
        """
        from dataclasses import dataclass, field
        from typing import ClassVar, NotRequired, TypedDict
        from pydantic import BaseModel, ConfigDict, Field
        from mcpcore import Context, ErrorCode, FailureMode, tool

        class Base(BaseModel):
            pmid: str

        class Gone(Base):
            kind: ClassVar[str] = "x"
            note: str | None = None
            tags: list[str] = Field(default_factory=list)

        class Open(BaseModel):
            model_config = ConfigDict(extra="allow")
            pmid: str

        class Aliased(BaseModel):
            pmid: str = Field(alias="PMID")

        class Row(TypedDict):
            a: int
            b: NotRequired[int]

        @dataclass
        class Data:
            a: int
            b: list[int] = field(default_factory=list)

        def entry(reason, model):
            return None

        @tool(
            errors=[
                FailureMode("gone", ErrorCode.NOT_FOUND, when="x", recovery="y", data=Gone),
                FailureMode("open", ErrorCode.NOT_FOUND, when="x", recovery="y", data=Open),
                FailureMode("aliased", ErrorCode.NOT_FOUND, when="x", recovery="y", data=Aliased),
                FailureMode("row", ErrorCode.NOT_FOUND, when="x", recovery="y", data=Row),
                FailureMode("data", ErrorCode.NOT_FOUND, when="x", recovery="y", data=Data),
                FailureMode("other", ErrorCode.NOT_FOUND, when="x", recovery="y", data=Elsewhere),
                FailureMode("free", ErrorCode.NOT_FOUND, when="x", recovery="y"),
            ]
        )
        def fetch(ctx: Context, a: str, more: dict) -> str:
            if a == "1":
                raise ctx.fail("gone", data={"pmid": a, "note": "x", "recovery": {}})
            if a == "2":
                raise ctx.fail("open", data={"pmid": a, "anything": 1})
            if a == "3":
                raise ctx.fail("aliased", data={"PMID": a})
            if a == "4":
                raise ctx.fail("row", data={"a": 1, **ctx.recovery_for("row")})
            if a == "5":
                raise ctx.fail("data", data=more)
            if a == "6":
                raise ctx.fail("gone", data={**more})
            if a == "7":
                raise ctx.fail("gone", data=Gone(pmid=a).model_dump())
            if a == "8":
                raise ctx.fail("other", data={"x": 1})
            raise ctx.fail("free", data={"x": 1})
        """,
    )
    invalid = (
        Invalid(
            """
            from dataclasses import dataclass
            from typing import TypedDict
            import pydantic
            from mcpcore import Context, ErrorCode, FailureMode, tool
            from models import Base

            class Gone(Base):
                pmid: str
                note: str | None = pydantic.Field(None)

            class Row(TypedDict, total=False):
                a: int

            @dataclass
            class Data:
                a: int

            @tool(
                errors=[
                    FailureMode("gone", ErrorCode.NOT_FOUND, when="x", recovery="y", data=Gone),
                    FailureMode("row", ErrorCode.NOT_FOUND, when="x", recovery="y", data=Row),
                    FailureMode("data", ErrorCode.NOT_FOUND, when="x", recovery="y", data=Data),
                ]
            )
            def fetch(ctx: Context, a: str, more: dict) -> str:
                if a == "1":
                    raise ctx.fail("gone", data={"pmid": a})  # here
                if a == "2":
                    raise ctx.fail("gone")  # here
                if a == "3":
                    raise ctx.fail("row", "x", {"b": 1})  # here
                if a == "4":
                    raise ctx.fail("data", "x", dict(a=1, b=2))  # here
                if a == "5":
                    raise ctx.fail("data", "x", {**more, "b": 1})  # here
                details = {"a": 1, "c": 2}
                raise ctx.fail("data", data=details)  # here
            """,
            "lacks 'query'",
            files={"models.py": "from pydantic import BaseModel\n\nclass Base(BaseModel):\n    query: str\n"},
        ),
    )

    def check_tool(self, tool: ToolDef, ctx: RuleContext) -> None:
        """Compare the keys of each failure's data with the model of its entry."""
        contract = tool.contract
        if contract is None:
            return
        for error in tool.handler.fail_calls:
            reason = string(error.reason)
            entry = contract.by_reason.get(reason) if reason is not None else None
            if entry is not None:
                self._compare(error, entry, tool, ctx)

    @staticmethod
    def _compare(error: ErrorSite, entry: ContractEntry, tool: ToolDef, ctx: RuleContext) -> None:
        model = data_model(entry.arguments["data"].value)
        keys = _keys(error.data.value) if model is not None else None
        if model is None or keys is None:
            return
        given, complete = keys
        lacking = [each for each in model.required if each not in given] if complete else []
        known = {*model.required, *model.optional, *RESERVED}
        extra = [] if model.open else [each for each in given if each not in known]
        if not lacking and not extra:
            return
        told = []
        if lacking:
            told.append(f"lacks {_quoted(lacking)}")
        if extra:
            told.append(f"has {_quoted(extra)}, which {model.name} does not")
        fields = ", ".join((*model.required, *(f"{each}?" for each in model.optional))) or "no keys"
        ctx.report(
            error.data.node or error.node,
            f"the data of ctx.fail({entry.reason_text!r}) {' and '.join(told)}",
            help=f"give what {model.name} takes: {fields}",
            tool=tool,
            module=tool.handler.module,
            related=[ctx.related(entry.node, "the reason is declared here", entry.module)],
        )


def _quoted(names: list[str]) -> str:
    return " and ".join(repr(each) for each in names)


def _keys(value: Value) -> tuple[list[str], bool] | None:
    """The keys of some data, and whether those are all; None where that cannot be known."""
    if isinstance(value, Missing) or (isinstance(value, Const) and value.value is None):
        return [], True
    if not isinstance(value, Mapping):
        return None
    if not all(isinstance(key, Const) and isinstance(key.value, str) for key, _ in value.items):
        return None
    complete = value.complete
    if not complete and isinstance(value.node, ast.Dict):
        # `**ctx.recovery_for(...)` brings in a reserved key and nothing else.
        unpacked = [each for key, each in zip(value.node.keys, value.node.values, strict=True) if key is None]
        complete = bool(unpacked) and all(isinstance(each, ast.Call) and _is_recovery(each) for each in unpacked)
    return list(value.keys), complete


class ContractMessageData(Rule):
    """A fact that only prose carries."""

    id = "error-contract-message-data"
    severity = Severity.INFO
    family = "conformance"
    summary = "a variable is told in the message but missing from `data`, so only prose carries it"
    why = "A program cannot read a number out of a sentence, and the sentence changes. In `data` the fact has a name."
    bad = 'raise ctx.fail("no_match", f"no article {pmid}")'
    good = 'raise ctx.fail("no_match", f"no article {pmid}", data={"pmid": pmid})'
    how_to_fix = "Put the value into `data` under its own name."
    when_to_suppress = "Where the value only helps the sentence to read well."
    valid = (
        """
        from mcpcore import Context, ErrorCode, FailureMode, not_found, tool

        LIMIT = 10

        @tool(errors=[FailureMode("gone", ErrorCode.NOT_FOUND, when="x", recovery="y")])
        def fetch(ctx: Context, pmid: str, pmids: list[str], item, more: dict) -> str:
            if pmid == "1":
                raise ctx.fail("gone", f"no {pmid}", data={"pmid": pmid})
            if pmid == "2":
                raise ctx.fail("gone", f"none of {len(pmids)}", data={"pmids": pmids})
            if pmid == "3":
                raise ctx.fail("gone", f"no {item.id}", data={"id": item.id})
            if pmid == "4":
                raise ctx.fail("gone", f"no {pmid}", data=more)
            if pmid == "5":
                raise ctx.fail("gone", f"no {pmid}", data={**more})
            if pmid == "6":
                raise ctx.fail("gone", f"at most {LIMIT}")
            if pmid == "7":
                raise ctx.fail("gone", "a constant")
            data = {"pmid": pmid}
            raise not_found(f"no {pmid}", data)

        @tool
        def other(pmid: str) -> str:
            raise not_found(f"no {pmid}")
        """,
    )
    invalid = (
        Invalid(
            """
            from mcpcore import Context, ErrorCode, FailureMode, not_found, tool

            class Tools:
                @tool(errors=[FailureMode("gone", ErrorCode.NOT_FOUND, when="x", recovery="y")])
                def fetch(self, ctx: Context, pmid: str, day: int, item) -> str:
                    if pmid == "1":
                        raise ctx.fail("gone", f"no {pmid} on {day}", data={"pmid": pmid})  # here
                    if pmid == "2":
                        raise ctx.fail("gone", f"no {pmid}")  # here
                    if pmid == "3":
                        raise not_found("no {}".format(pmid.upper()), {"other": 1})  # here
                    if pmid == "4":
                        raise ctx.fail("gone", "no %s" % item.id)  # here
                    if pmid == "5":
                        raise ctx.fail("gone", "no " + str(pmid))  # here
                    message = f"the limit is {self.limit}"
                    raise ctx.fail("gone", message)  # here
            """,
            "`day`",
        ),
    )

    def check_tool(self, tool: ToolDef, ctx: RuleContext) -> None:
        """Report each failure whose message tells what its data lacks, once the contract has been written out."""
        if tool.contract is None:
            return
        body = body_of(tool.handler)
        for error in tool.handler.errors:
            if error.form not in CODED or error.message.node is None or error.fate in {"discarded", "unused"}:
                continue
            told = list(_variables(error.message.node, body))
            # Most data has what is told under its own name, and no more of it has to be looked at.
            if not _lacking(told, self._keys(error), body):
                continue
            carried = self._carried(error)
            if carried is None or any(to_be_filled_in(each) for each in tool.contract.entries):
                continue
            lacking = _lacking(told, carried, body)
            if lacking:
                variables = " and ".join(f"`{each}`" for each in lacking)
                ctx.report(
                    error.message.node,
                    f"{variables} is told in the message and missing from data, so only prose carries it",
                    help="put it into data under its own name",
                    tool=tool,
                    module=tool.handler.module,
                )

    @staticmethod
    def _keys(error: ErrorSite) -> set[str]:
        """The keys that the data has for certain."""
        value = error.data.value
        return set(value.keys) - _NOT_TOLD if isinstance(value, Mapping) else set()

    @staticmethod
    def _carried(error: ErrorSite) -> set[str] | None:
        """The names, attributes and keys that the data brings; None where it cannot be seen."""
        value = error.data.value
        if isinstance(value, Missing) or (isinstance(value, Const) and value.value is None):
            return set()
        if not isinstance(value, Mapping) or value.node is None:
            return None
        if not value.complete and _keys(value) in (None, (list(value.keys), False)):
            return None
        found = set(value.keys)
        for each in walk([value.node]):
            if isinstance(each, ast.Name):
                found.add(each.id)
            elif isinstance(each, ast.Attribute):
                found |= {each.attr, ast.unparse(each)}
            elif isinstance(each, ast.Constant) and isinstance(each.value, str):
                found.add(each.value)
        return found - _NOT_TOLD


_NOT_TOLD: Final = frozenset({"self", "cls"})


def _lacking(told: Iterable[ast.expr], carried: set[str], body: Body) -> list[str]:
    """Those of some expressions of which nothing is carried, as they are written."""
    found: list[str] = []
    for each in told:
        if isinstance(each, ast.Name) and each.id in carried:
            continue
        names = _roots(each, body)
        if not names or names & carried:
            continue
        shown = ast.unparse(each)
        if shown not in carried and short(shown) not in carried and shown not in found:
            found.append(shown)
    return found


def _variables(node: ast.expr, body: Body, depth: int = 0) -> Iterator[ast.expr]:
    """The expressions that a message tells."""
    match node:
        case ast.JoinedStr():
            for each in node.values:
                if isinstance(each, ast.FormattedValue):
                    yield each.value
        case ast.BinOp(op=ast.Mod(), right=ast.Tuple(elts=elts)):
            yield from elts
        case ast.BinOp(op=ast.Mod()):
            yield node.right
        case ast.BinOp(op=ast.Add()):
            for side in (node.left, node.right):
                yield from _variables(side, body, depth + 1)
        case ast.Call(func=ast.Attribute(attr="format")):
            yield from node.args
            yield from (each.value for each in node.keywords)
        case ast.Call(func=ast.Name(id="str" | "repr" | "format"), args=[first, *_]):
            yield first
        case ast.Name() if depth and node in body.parents:
            if isinstance(body.value(node), Unknown):
                yield node
        case ast.Name() if node in body.parents:
            found = body.scope(node).lookup(node.id)
            if found is not None and not found[0].is_module and len(found[1]) == 1:
                value = found[1][0].value
                if value is not None and isinstance(value, ast.JoinedStr):
                    yield from _variables(value, body, depth + 1)


def _roots(node: ast.expr, body: Body) -> set[str]:
    """The variables behind an expression; none where it is a constant, a caught exception or a function."""
    found: set[str] = set()
    for each in walk([node]):
        if isinstance(each, ast.Attribute) and isinstance(each.value, ast.Name) and each.value.id in {"self", "cls"}:
            found.add(each.attr)
        if not isinstance(each, ast.Name) or each.id in {"self", "cls"}:
            continue
        value = body.value(each)
        if isinstance(value, (Const, Symbol)) or codes_of(value):
            continue
        if any(isinstance(up, ast.ExceptHandler) and up.name == each.id for up in body.above(each)):
            return set()
        if isinstance(body.parents.get(each), ast.comprehension):
            continue
        found.add(each.id)
    return found
