"""One tool that is converted: its failures, its contract, and what changes in its function."""

import ast
import builtins
import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from mcpcore_lint.codemods import edits as codemods
from mcpcore_lint.diagnostics import Change, Edit, grouped
from mcpcore_lint.engine.semantics.data_model import error_field
from mcpcore_lint.engine.semantics.hierarchy import Hierarchy
from mcpcore_lint.engine.semantics.symbols import last_name
from mcpcore_lint.engine.syntax.parse import all_parameters, walk
from mcpcore_lint.frameworks import is_of_version_2
from mcpcore_lint.migrate.body import Body
from mcpcore_lint.migrate.callers import Asserted, Callers, Helpers
from mcpcore_lint.migrate.catching import CatchAll, blocking, catch_all, check, registers, removal
from mcpcore_lint.migrate.contracts import Writer
from mcpcore_lint.migrate.failures import failures_of
from mcpcore_lint.migrate.messages import (
    LABEL,
    LOCK,
    VAGUE,
    code_of,
    constant_text,
    is_json,
    is_text,
    is_token,
    parts_of,
    pieces,
    shows,
    slug,
    unlabelled,
)
from mcpcore_lint.migrate.model import Entry, Left, Place
from mcpcore_lint.migrate.reached import OF_JSON, raised_elsewhere
from mcpcore_lint.migrate.renames import EITHER, serves_either
from mcpcore_lint.migrate.sentences import blank, is_true_alone, of_class, sentences, without_advice
from mcpcore_lint.model import ToolDef, string
from mcpcore_lint.reach import Reach

UNWRAPS: Final = (
    "a test calls or inspects the function below its decorators",
    "let it call the tool, and run the command again",
)
_TOGETHER: Final = (
    "other failures are returned, and stay",
    "declare a failure mode for each of them, and raise ctx.fail",
)
_CAUSES: Final = ("exc", "error", "cause", "caught")
_RENDERED: Final = frozenset({"PrefabApp"})
"""What FastMCP renders from plain tools only."""
_MISTAKEN: Final = VAGUE | {"SERIALIZATION_ERROR"}
"""Codes that say less than that the caller gave a wrong argument."""
_ARGUMENT: Final = re.compile(
    r"\b(?:invalid|unsupported|unknown|not one of|must|not a valid|malformed|empty|required|missing"
    r"|out of (?:bounds|range))\b",
    re.IGNORECASE,
)
"""What a message says of a value that cannot be used."""

_HAPPENED: Final = re.compile(
    r"\W*(?:\w+ ){0,3}?(?:errors?|failed|failure|unable to|could not|couldn't)\b", re.IGNORECASE
)
"""A text about what happened, and not about an argument."""
_VARIABLE: Final = re.compile(r"\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b")
_ASKS_TO_SET: Final = re.compile(r"\b(?:set|environment|env|configured?|required?|missing|provide)\b", re.IGNORECASE)
_READING: Final = re.compile(r"(?:getenv|environ\.get|\.strip|\.lower|\b(?:bool|int|str))\(")
"""Calls that get a setting."""


class _Wanted(NamedTuple):
    """A failure that may be converted."""

    place: Place
    shields: list[ast.Try]
    is_broad: bool = False
    """Whether a clause that catches everything says it."""


class Conversion:
    """One tool: its failures and its contract."""

    def __init__(self, tools: Sequence[ToolDef], hierarchy: Hierarchy) -> None:
        first = tools[0]
        assert isinstance(first.handler.node, (ast.FunctionDef, ast.AsyncFunctionDef))
        self.tools = tools
        self.handler = first.handler
        self.name = string(first.name) or first.handler.name
        self.body = Body(first.handler.node, first.handler.module, self.name, hierarchy)
        self.registrations = [
            decorator
            for decorator in first.handler.node.decorator_list
            if any(decorator is tool.registration for tool in tools) or registers(decorator)
        ]
        self.contract = next((tool.contract for tool in tools if tool.contract is not None), None)
        self.places: list[Place] = []
        self.stays = False
        """Whether it goes on to return some of its failures."""
        self.catch_alls: list[CatchAll] = []
        self.shields: list[ast.Try] = []
        self.left: list[Left] = []
        self.entries: list[Entry] = []
        """The entries that are new to the contract."""
        self.reasons: dict[Place, str] = {}
        self.codes: dict[Place, str] = {}
        """The codes of the failures that get no failure mode, since no sentence would say more than the message."""
        self.blocked: tuple[str, str] | None = None
        self._wanted: list[_Wanted] = []
        self._declared = {
            name: entry.code_value.name if entry.code_value is not None else None
            for name, entry in (self.contract.by_reason if self.contract is not None else {}).items()
        }
        self._codes: dict[str, str | None] = {}
        """The codes of the reasons that are taken; None if a declared one is not known."""

    @property
    def on_server(self) -> bool:
        """Whether `errors=` goes into the decorator that registers the tool."""
        return (
            len(self.registrations) == len(self.tools) == 1
            and self.tools[0].flavour == "mcpcore"
            and self.tools[0].registration is self.registrations[0]
        )

    @property
    def is_dispatcher(self) -> bool:
        """Whether it is the function of a low-level server that answers for all tools."""
        return any(tool.flavour == "lowlevel" for tool in self.tools)

    def _dispatcher(self) -> Left:
        """The line about a dispatcher, with the tools that it serves."""
        served = [name for tool in self.tools for entry in tool.serves if (name := string(entry.name)) is not None]
        name = self.body.node.name
        first = "".join(
            f" such as {word}(...)" for word in re.findall(r"\w+", "_".join(served[:1]).replace("-", "_"))[:1]
        )
        pattern = f"{name}() of a low-level server answers for all tools"
        step = f"move each branch into a function{first}"
        entries = [entry for tool in self.tools for entry in tool.serves]
        workers = {entry.handler.node: entry.handler for entry in entries if entry.handler is not None}
        # A table has the functions if the same call runs several of them.
        if len({entry.call for entry in entries}) == 1 < len(workers):
            worker = next(iter(workers.values()))
            place = f"{worker.qualname}() in {worker.module.path}:{worker.node.lineno}"
            step = f"call each function of its table, such as {place}, from one{first}"
        decide = (
            f"make mcp = Server(...) of mcpcore, and {step} below @mcp.tool(errors=[...]), which gives its failures "
            "codes and advice"
        )
        if self.body.node.decorator_list:
            decide += "; SDK 2.0 has neither @server.list_tools() nor @server.call_tool()"
        elif not (self.body.module.source.has("jsonschema") or self.tools[0].decorator_keyword("on_call_tool")):
            decide += "; SDK 2.0 no longer checks arguments against the input schemas of a low-level server"
        return Left(self.body.module.path, self.body.node.lineno, tuple(served) or (self.name,), pattern, decide)

    @property
    def _is_text(self) -> bool:
        """Whether the tool is registered to send its result as text alone."""
        keyword = self.tools[0].decorator_keyword("structured_output") if self.on_server else None
        return keyword is not None and isinstance(keyword.value, ast.Constant) and keyword.value.value is False

    def read(self, rules: frozenset[str], callers: Callers, helpers: Helpers) -> None:
        """Find the failures, and decide about each of them."""
        body = self.body
        if self.is_dispatcher:
            self.left = [self._dispatcher()] if any(tool.is_dispatcher for tool in self.tools) else []
            return
        places, self.left, made = failures_of(body)
        passed = helpers.left(body, {(remaining.path, remaining.line) for remaining in self.left})
        self.left += passed
        answers = {place.node for place in places} | made
        self.blocked = blocked = self.blocked_by()
        where, expected, unwraps, self._matched = callers.asserted.get(body.node, Asserted())
        if unwraps and blocked is None:
            blocked = UNWRAPS
        read = "a test reads the failure that it returns", f"change {where}, and run the command again"
        wanted: list[_Wanted] = []
        stays = any(isinstance(node, ast.Return) for node in made) or any(not line.perhaps for line in passed)
        for place in places:
            if place.rule not in rules:
                continue
            outcome, known = check(place, answers, body), len(self.left)
            if isinstance(outcome, Left):
                self.left.append(outcome)
            elif outcome is None:
                continue
            elif blocked:
                self.left.append(body.left(place.node, *blocked))
            elif place.raised == "" and where:
                self.left.append(body.left(place.node, *read))
            elif why := callers.objection(self.handler, place):
                self.left.append(body.left(place.node, *why))
            elif codemods.has_comment(body.module.source.segment(place.node)):
                self.left.append(body.left(place.node, "a comment within the failure", "move it above the statement"))
            elif (broad := catch_all(place, body)) is not None:
                if place.raised.rpartition(".")[2] in expected:
                    decide = "let the test expect the exception itself, and run the command again"
                    self.left.append(body.left(place.node, "a test expects what this clause raises", decide))
                elif not self._tells(broad, callers):
                    self.catch_alls.append(broad)
                else:
                    wanted.append(_Wanted(place, outcome, is_broad=True))
            else:
                wanted.append(_Wanted(place, outcome))
            stays = stays or (place.raised == "" and len(self.left) > known)
        self._keep_nested()
        self._wanted = wanted
        self.decide(stays=stays)

    def decide(self, *, stays: bool, own: bool = True) -> None:
        """Name the failures that can be converted. Where some are returned and stay, also in other tools, all do."""
        wanted, going = self._wanted, {broad.clause for broad in self.catch_alls}
        # A clause that answers for everything with a result would answer for one failure, and not for the next.
        answered = [
            item
            for item in wanted
            for clause in (clause for shield in item.shields for clause in shield.handlers)
            if self.body.is_broad(clause) and clause not in going and not isinstance(clause.body[-1], ast.Raise)
        ]
        stays = stays or any(item.place.raised == "" for item in answered)
        # Again after each round: a failure that stays frees its reason, and may make others stay.
        while True:
            self.entries, self.reasons, self.codes, self._codes = [], {}, {}, {**self._declared}
            named = [
                self._is_coded(item.place, "INTERNAL_ERROR") if item.is_broad else self._name(item.place)
                for item in wanted
            ]
            stays = stays or any(item.place.raised == "" for item, good in zip(wanted, named, strict=True) if not good)
            kept = [
                item
                for item, good in zip(wanted, named, strict=True)
                if good and item not in answered and not (stays and (item.place.raised == "" or (own and item.shields)))
            ]
            if kept == wanted:
                break
            for item, good in zip(wanted, named, strict=True):
                if item not in kept:
                    self.left.append(self.body.left(item.place.node, *(_TOGETHER if good else self._kept(item.place))))
            wanted = kept
        self._wanted = wanted
        self.places = [item.place for item in wanted]
        self.shields = [shield for item in wanted for shield in item.shields]
        self.stays = stays
        for broad in [*self.catch_alls]:
            if stays and broad.place.raised == "":
                self.catch_alls.remove(broad)
                self.left.append(self.body.left(broad.clause, *_TOGETHER))

    def _tells(self, broad: CatchAll, callers: Callers) -> bool:
        """Whether clients would read less than what a clause shows, or the text of an exception that it hides."""
        holes: list[ast.AST] = [
            part for part in parts_of(broad.place.message, self.body.scope) if isinstance(part, ast.expr)
        ]
        shown = {part.id for part in walk(holes) if isinstance(part, ast.Name)} - vars(builtins).keys()
        if all(callers.sends_texts[tool.flavour == "fastmcp"] for tool in self.tools):
            name = broad.clause.name or ""
            if broad.place.message is not None and {name, f"str({name})"}.isdisjoint(map(ast.unparse, holes)):
                return True  # it may have addresses with secrets in it
            shown.discard(name)
        return bool(shown - {parameter.arg for parameter in all_parameters(self.body.node.args)})

    def lines_of(self, reach: Reach) -> list[Left]:
        """The lines about the exceptions of other functions that leave the tool, and why it can have no contract."""
        # Version 1 sends the texts of the exceptions that leave a low-level handler, and version 2 does not.
        hidden = any(tool.is_dispatcher and is_of_version_2(tool) for tool in self.tools)
        is_read = not self.is_dispatcher or hidden
        raised = raised_elsewhere(reach, self.body.module.project) if is_read else []
        blocked = self.blocked_by() if raised and not hidden else None
        own = [self.body.left(self.body.node, *blocked)] if blocked is not None else []
        return [*own, *(item.left(self.name, hidden=hidden) for item in raised)]

    def _kept(self, place: Place) -> tuple[str, str]:
        """The line about a failure that is unchanged."""
        if not place.raised:
            decide = "declare a failure mode for each cause, such as the status of a response, and raise ctx.fail"
            return "a failure is returned whose text tells no code", decide
        pattern = f"{place.raised.rpartition('.')[2]} keeps its class and its text"
        if is_json(place.message, self.body.scope):
            return f"{pattern}, JSON {OF_JSON[0]}", OF_JSON[1]
        return pattern, "declare a failure mode, and raise ctx.fail, if clients need a code or advice"

    def _keep_nested(self) -> None:
        """Leave clauses that catch everything inside a `try` whose other clauses would then answer."""
        going = {broad.clause for broad in self.catch_alls}
        for broad in [*self.catch_alls]:
            around = [part for part in self.body.tries(broad.place.node) if not going.issuperset(part.handlers)]
            if any(part.handlers for part in around):
                self.catch_alls.remove(broad)
                pattern = "a clause catches everything, inside of another try"
                self.left.append(
                    self.body.left(broad.clause, pattern, "keep one of the two clauses, and run the command again")
                )

    def blocked_by(self) -> tuple[str, str] | None:
        """Why the tool cannot be converted: a pattern and what to decide; None if it can."""
        body, arguments = self.body, self.body.node.args
        if serves_either(body.module):
            return EITHER, "version 1 has no contracts, so convert it once version 1 need not work any more"
        if (decorator := blocking(body, set(self.registrations))) is not None:
            return decorator
        if any(isinstance(node, (ast.Yield, ast.YieldFrom)) for node in body.nodes):
            return "the tool yields", "return one answer, and report progress through the context"
        if arguments.vararg or arguments.kwarg:
            return "the tool takes any arguments", "name each of them, since a contract describes them to the client"
        if "fastmcp" in {tool.flavour for tool in self.tools} and body.names & _RENDERED:
            return "the tool returns a result that only FastMCP renders", "keep it a plain tool, and raise ToolError"
        if (match := error_field(body.node, body.module)) is not None and not self._is_text:
            decide = "give it another name, since clients look for a failure there, and run the command again"
            return f"the field {match[1].name} of the result {match[0]}", decide
        if self.contract is not None and (self.contract.state != "sequence" or not self.contract.complete):
            return "the contract cannot be read", "write errors=[...] as a list at the tool"
        context = self.handler.context
        if (
            context is not None
            and context.mcpcore
            and (all_parameters(arguments)[self.index : self.index + 1] != [context.node])
        ):
            return "the context is not the first parameter", "move it there"
        return None

    @property
    def index(self) -> int:
        """The place of the context: behind `self`."""
        static = any(
            isinstance(decorator, ast.Name) and decorator.id == "staticmethod"
            for decorator in self.body.node.decorator_list
        )
        return int(self.handler.owner is not None and not static)

    def _name(self, place: Place) -> bool:
        """Give a failure its reason and its entry, or its code alone; False if it is unchanged.

        An exception without a good sentence is unchanged. A failure that is returned like a result gets a code.
        """
        message, scope = place.message, self.body.scope
        parts = pieces(message, scope)
        kind = self._class(place)
        clause = self.body.clause_of(place.node)
        # Its author foresaw another cause than what a clause for everything catches. A word alone is no message.
        if (clause is not None and self.body.is_broad(clause)) or is_token(parts):
            return False
        # The text of a KeyError is the key.
        shown = "key" if clause is not None and self.body.caught(clause) == ("builtins.KeyError",) else "error"
        caught = {clause.name: shown} if clause is not None and clause.name is not None else {}
        sentence = sentences(message, scope, caught)
        text = constant_text(parts).replace("\N{HORIZONTAL ELLIPSIS}", " ")
        label = LABEL.match(text)
        text = text[label.end() if label is not None else 0 :]
        if sentence is None:
            info = self.body.module.project.class_named(kind)
            known = of_class(kind, info.node if info is not None else None)
            # What the author of a raise hands to a class of Python need not be about its usual meaning.
            if known is None or (info is None and kind in {place.raised, "builtins.ValueError"} and place.message):
                return self._is_coded(place, self._code(place, kind, text))
            names, entry = [known[0]], Entry(known[0], self._code(place, kind, ""), known[1])
            is_good = True
        else:
            advice = sentence.recovery.rstrip(".")
            short = [part.lower().removesuffix(".").removesuffix(advice.lower()) if part else part for part in parts]
            names = [slug([place.hint.replace("_", " ")], 6)] if place.hint else []
            names += [slug(short if advice else parts, most) for most in (8, 12)]
            code = self._code(place, kind, text)
            parameters = {parameter.arg for parameter in all_parameters(self.body.node.args)}
            named = not parameters.isdisjoint(re.findall(r"\w+", sentence.when))
            if code in _MISTAKEN and _ARGUMENT.search(sentence.when) and (named or shows(message, scope, parameters)):
                code = "VALIDATION_ERROR"
            cut = without_advice(self.body.module.source.segment(message), sentence.recovery) if message else None
            # Clients read a recovery behind the message, which must not say the same then. A test may read it there.
            read = any(words and words in sentence.recovery for words in self._matched)
            entry = Entry("", code, sentence.when, sentence.recovery if cut and not read else "")
            is_good = is_true_alone(sentence.when, parameters, entry.recovery) and not self._is_validated(place)
        is_good = is_good and entry.code not in VAGUE
        reason = self._free(list(filter(None, names)), entry) if is_good else None
        if reason is not None:
            self.reasons[place] = reason
        return reason is not None or self._is_coded(place, entry.code)

    def _code(self, place: Place, kind: str, text: str) -> str:
        """The code of a failure; what the arguments alone decide, or a text that cannot be parsed, is the caller's."""
        known = {parameter.arg for parameter in all_parameters(self.body.node.args)}
        code = code_of(kind, text, names_value=shows(place.message, self.body.scope, known))
        clause = self.body.clause_of(place.node)
        if code in VAGUE and clause is None and not _HAPPENED.match(text):
            own = frozenset(parameter.name for parameter in self.handler.parameters if not parameter.injected)
            failures = {item.place.node for item in self._wanted}
            if self.body.is_refused(place.node, own, failures):
                return "VALIDATION_ERROR"
            return self._of_settings(text, place) or code
        tried = self.body.module.parents.get(clause) if clause is not None else None
        parts = walk([*tried.body]) if code == "SERIALIZATION_ERROR" and isinstance(tried, ast.Try) else ()
        calls = [part for part in parts if isinstance(part, ast.Call) and last_name(part) == "loads" and part.args]
        parsed = [ast.unparse(call.args[0]).removesuffix(".strip()") for call in calls]
        return "VALIDATION_ERROR" if parsed and known.issuperset(parsed) else code

    def _of_settings(self, text: str, place: Place) -> str:
        """The code of a text that asks for a variable of the environment that the project reads; empty for another.

        The condition must be about that, too, and not about a response or another value that the tool got.
        """
        test = next((block.test for block, _ in self.body.above(place.node) if isinstance(block, ast.If)), None)
        read = walk([test] if test is not None else [])
        got = [
            "(" if binding.value is None else _READING.sub("", ast.unparse(binding.value))
            for part in read
            if isinstance(part, ast.Name)
            for binding in self.body.scope.bindings.get(part.id, ())
            if binding.kind != "parameter"
        ]
        if not read or any("(" in value for value in got):
            return ""
        names = _VARIABLE.findall(text) if _ASKS_TO_SET.search(text) else []
        reads = re.compile(rf"(?:getenv|environ(?:\.get)?)[\[(]\s*[\"'](?:{'|'.join(names)})[\"']").search
        named = names and self.body.module.project.modules_with(
            self.body.module, lambda source: any(map(source.__contains__, names)) and bool(reads(source))
        )
        return "CONFIGURATION_ERROR" if named else ""

    def _is_coded(self, place: Place, code: str) -> bool:
        """Give a failure that the tool returned its code alone, unless only values of the code tell the cause."""
        known = {parameter.arg for parameter in all_parameters(self.body.node.args)} | vars(builtins).keys()
        holes = [part for part in parts_of(place.message, self.body.scope) if not isinstance(part, str)]
        names = walk([hole for hole in holes if hole is not None])
        passes = LOCK.search(constant_text(pieces(place.message, self.body.scope))) is not None
        unknown = passes or None in holes or any(isinstance(part, ast.Name) and part.id not in known for part in names)
        # Nobody foresaw what a clause catches. The cause of another failure is known, so INTERNAL_ERROR is wrong.
        unknown = unknown or self.body.clause_of(place.node) is None
        if place.raised == "" and place.message is not None and not (code in VAGUE and unknown):
            self.codes[place] = code
        return place in self.codes

    def _is_validated(self, place: Place) -> bool:
        """Whether a failure is about the type of a value, which the server checks before the tool runs."""
        around = next((part for part, _ in self.body.above(place.node) if isinstance(part, ast.If)), None)
        tests = walk([around.test]) if around is not None else []
        arguments = all_parameters(self.body.node.args)
        literal = {part.arg for part in arguments if part.annotation and "Literal[" in ast.unparse(part.annotation)}
        return any(
            (isinstance(part, ast.Call) and getattr(part.func, "id", "") == "isinstance")
            or (isinstance(part, ast.Name) and part.id in literal)
            for part in tests
        )

    def _free(self, names: Sequence[str], entry: Entry) -> str | None:
        """The first of some reasons that is not taken by another cause; the entry is declared under it."""
        for name in names:
            same = next((known for known in self.entries if known.reason == name), None)
            # An entry has one recovery, so the advice of another message would be lost.
            if same is not None and (same.code, blank(same.when), same.recovery) == (
                entry.code,
                blank(entry.when),
                entry.recovery or same.recovery,
            ):
                return name
            if name not in self._codes:
                self._codes[name] = entry.code
                self.entries.append(entry._replace(reason=name))
                return name
            if same is None and self._codes[name] in {entry.code, None}:
                return name  # the contract that is there declares it
        return None

    def _class(self, place: Place) -> str:
        """The class that says most about a failure: what it raises, or else what its clause catches."""
        clause = self.body.clause_of(place.node)
        caught = [name for name in (self.body.caught(clause) if clause is not None else ()) if name is not None]
        specific = [name for name in caught if name not in {"builtins.Exception", "builtins.BaseException"}]
        plain = place.raised in {"", "builtins.Exception", "builtins.RuntimeError", "builtins.ValueError"}
        framework = place.raised.startswith(("mcp.", "fastmcp."))
        if (plain or framework) and len(specific) == 1:
            return specific[0]
        # A class of Python that hands on the text of any other exception says nothing about the cause.
        message = walk([place.message]) if plain and clause is not None and place.message is not None else []
        wraps = any(isinstance(part, ast.Name) and clause is not None and part.id == clause.name for part in message)
        return "" if framework or wraps else place.raised

    def removals(self) -> tuple[list[Change | Edit | None], list[Left]]:
        """The changes that remove the clauses that catch everything, with a line for each.

        A `try` around another one waits for the next pass.
        """
        changes: list[Change | Edit | None] = []
        gone: list[Left] = []
        body, segment = self.body, self.body.module.source.segment
        groups = grouped(self.catch_alls, lambda broad: broad.statement)
        for statement, clauses in groups.items():
            if any(part in groups for part, _ in body.above(statement)):
                continue
            made = removal(clauses, body.module)
            if made is None:
                pattern, decide = "a clause catches everything", "remove it, since the boundary answers"
                self.left += [body.left(broad.clause, pattern, decide) for broad in clauses]
                continue
            changes += made
            for broad in clauses:
                message = broad.place.message
                # The text of an exception is all that clients read now.
                beside = " and ".join(argument.partition("=")[2] for argument in broad.place.arguments)
                said = segment(message) if message is not None else "nothing"
                text = " ".join(f"{said} beside {beside}".removesuffix(" beside ").split())
                how = "goes" if broad.goes else "raises again"
                kinds = " ".join(segment(broad.clause.type).split()) if broad.clause.type is not None else ""
                gone.append(body.left(broad.clause, f"except {kinds}".strip() + f" {how}", f"it said {text}"))
        return changes, gone

    # -- writing -------------------------------------------------------------------------------------------------------

    def changes(self, writer: Writer, shared: dict[Entry, str]) -> list[Change | Edit | None]:
        """The changes in the file of the function; None for one that cannot be made.

        Args:
            writer: The writer of the file.
            shared: The names of the entries that are constants.
        """
        module, body = self.body.module, self.body
        changes: list[Change | Edit | None] = []
        if self.entries:
            constants = {entry: shared[entry] for entry in self.entries if entry in shared}
            changes.append(
                writer.declare(
                    body, self.registrations, self.entries, constants, self.contract, on_server=self.on_server
                )
            )
        own = self.handler.context if self.handler.context is not None and self.handler.context.mcpcore else None
        name = ""
        reasons = [*dict.fromkeys(self.reasons[place] for place in self.places if place in self.reasons)]
        if reasons:
            name, added = writer.context(body, own, reasons, self.index)
            changes += added
        named: dict[ast.ExceptHandler, str] = {}
        for place in self.places:
            clause = body.clause_of(place.node)
            cause = ""
            if clause is not None:
                cause = clause.name or named.get(clause, "")
                if not cause and (not isinstance(place.node, ast.Raise) or place.node.cause is None):
                    cause = next((candidate for candidate in _CAUSES if candidate not in body.names), "")
                    if not cause:
                        return [None]
                    named[clause] = cause
                    # A bare `except` gets the class Exception, so that a cancelled call ends.
                    changes.append(codemods.change(module, "name_caught", clause, cause, "Exception"))
            code = self.codes.get(place, "").lower()
            factory = code and writer.names.spell("mcpcore", "internal_error" if code == "unknown_error" else code)
            changes += self._raise(place, factory or f"{name}.fail", cause)
        return changes

    def _message(self, place: Place) -> tuple[str, bool]:
        """The code of the message of a failure, and whether it lost its label or its advice."""
        module, scope = self.body.module, self.body.scope
        whole = text = "" if place.message is None else module.source.segment(place.message)
        advice = next((entry.recovery for entry in self.entries if entry.reason == self.reasons.get(place)), "")
        text = (without_advice(text, advice) if advice else None) or text
        match place.message, pieces(place.message, scope):
            case ast.JoinedStr(values=[_, ast.FormattedValue(value, -1, None)]), [str(label), None] if (
                LABEL.fullmatch(label)
                and ast.unparse(value) in whole  # the tree has other texts for those of later syntax
            ):
                text = ast.unparse(value) if is_text(value, scope) else f"str({ast.unparse(value)})"
            case ast.expr(), known:
                text = unlabelled(text, known)
        labelled = text != whole
        if place.message is not None and not is_text(place.message, scope):
            text = f"str({text})"
        elif "\n" in text and isinstance(place.message, ast.BinOp):
            text = f"({text})" if not text.startswith("(") else text
        return text, labelled

    def _raise(self, place: Place, callee: str, cause: str) -> list[Change | Edit | None]:
        module, scope, node = self.body.module, self.body.scope, place.node
        head = [f'"{self.reasons[place]}"'] if place in self.reasons else []
        text, labelled = self._message(place)
        coded = rf'data=\{{"\w+": "{self.codes.get(place, "")}"\}}'  # the envelope has the code already
        data = [part for part in place.arguments if re.fullmatch(coded, part) is None]
        arguments = [*head, *([text] if text else []), *data]
        if isinstance(node, ast.Return):
            return [codemods.change(module, "raise_failure", node, cause, callee, *arguments)]
        assert node.exc is not None
        changes: list[Change | Edit | None] = []
        if place.call is not None:
            message: list[ast.expr | ast.keyword | str] = (
                []
                if place.message is None
                else [place.message if is_text(place.message, scope) and not labelled else text]
            )
            changes.append(codemods.rewrite_call(module, place.call, [*head, *message], function=callee))
        else:
            changes.append(codemods.replace_node(module, node.exc, f"{callee}({', '.join(arguments)})"))
        if cause and node.cause is None:
            changes.append(codemods.change(module, "add_cause", node, cause))
        return changes
