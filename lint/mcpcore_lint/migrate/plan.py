"""Plans what changes in one file with tools: the failures, the contracts, the constants and the imports."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Final, NamedTuple

from mcpcore_lint.codemods import edits as codemods
from mcpcore_lint.codemods.rewrite import Rewriter
from mcpcore_lint.diagnostics import Change, Edit, Fix
from mcpcore_lint.engine.semantics.data_model import error_field
from mcpcore_lint.engine.semantics.evaluate import evaluate
from mcpcore_lint.engine.syntax.parse import all_parameters, walk
from mcpcore_lint.migrate.body import Body
from mcpcore_lint.migrate.catching import Shield, check, wrapping
from mcpcore_lint.migrate.contracts import Names, Writer
from mcpcore_lint.migrate.failures import failures_of
from mcpcore_lint.migrate.mapping import only_try, types_of
from mcpcore_lint.migrate.messages import code_of, constant_text, is_text, pieces, slug, unlabelled, when
from mcpcore_lint.migrate.model import Entry, Left, Place
from mcpcore_lint.model import Symbol, ToolDef, string

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from mcpcore_lint.engine.semantics.hierarchy import Hierarchy
    from mcpcore_lint.engine.syntax.module import Module
    from mcpcore_lint.migrate.callers import Callers, Helpers

_MAX_REASON: Final = 60
_CAUSES: Final = ("exc", "error", "cause", "caught")
_RENDERED: Final = frozenset({"PrefabApp"})
"""What FastMCP renders from plain tools only."""
_USES: Final = {
    ("mcpcore", "FailureMode"),
    ("mcpcore", "ErrorCode"),
    ("mcpcore", "TODO"),
}


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
            if any(decorator is tool.registration for tool in tools)
        ]
        self.contract = next((tool.contract for tool in tools if tool.contract is not None), None)
        self.places: list[Place] = []
        self.shields: list[Shield] = []
        self.left: list[Left] = []
        self.entries: list[Entry] = []
        """The entries that are new to the contract."""
        self.reasons: dict[Place, str] = {}
        self.blocked: tuple[str, str] | None = None
        declared = self.contract.by_reason if self.contract is not None else {}
        self._codes = {
            name: entry.code_value.name if entry.code_value is not None else None for name, entry in declared.items()
        }
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
    def _is_text(self) -> bool:
        """Whether the tool is registered to send its result as text alone."""
        keyword = self.tools[0].decorator_keyword("structured_output") if self.on_server else None
        return keyword is not None and isinstance(keyword.value, ast.Constant) and keyword.value.value is False

    def read(self, rules: frozenset[str], callers: Callers, helpers: Helpers, hierarchy: Hierarchy) -> None:
        """Find the failures, and decide about each of them."""
        body = self.body
        places, self.left, made = failures_of(body)
        self.left += helpers.left(body, {(remaining.path, remaining.line) for remaining in self.left})
        self._nested(hierarchy)
        answers = {place.node for place in places} | made
        wrapped = wrapping(body, set(self.registrations), hierarchy)
        self.blocked = blocked = self._blocked(wrapped.blocks)
        elsewhere = [shield for shield in wrapped.shields if shield.module.absolute not in callers.files]
        if blocked is None and elsewhere:
            where = elsewhere[0].module.path
            blocked = f"a decorator in {where} catches everything", "name that file too, and run the command again"
        for place in places:
            if place.rule not in rules:
                continue
            outcome = check(place, answers, body)
            if isinstance(outcome, Left):
                self.left.append(outcome)
            elif outcome is None:
                continue
            elif blocked:
                self.left.append(body.left(place.node, *blocked))
            elif why := callers.objection(self.handler, place):
                self.left.append(body.left(place.node, *why))
            elif place.raised and wrapped.handles(place.raised):
                what = place.raised.rpartition(".")[2]
                self.left.append(body.left(place.node, f"raise of {what}", "a decorator catches this class"))
            elif codemods.has_comment(body.module.source.segment(place.node)):
                self.left.append(body.left(place.node, "a comment within the failure", "move it above the statement"))
            else:
                self.places.append(place)
                self.shields += outcome
        if self.places:
            self.shields += wrapped.shields
        for owner, wrapper in wrapped.answers:
            pattern = "the decorator answers for every exception"
            decide = "declare what it catches, or let it pass"
            line = getattr(wrapper, "lineno", 1)
            self.left.append(Left(owner.path, line, (self.name,), pattern, decide, perhaps=True))
        for place in self.places:
            self._name(place)

    def _nested(self, hierarchy: Hierarchy) -> None:
        for node in self.body.nested:
            assert isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
            inner = Body(node, self.body.module, self.name, hierarchy)
            for place in failures_of(inner)[0]:
                if place.raised:
                    self.left.append(
                        self.body.left(
                            place.node, "a failure inside a nested function", "raise ctx.fail where it is called"
                        )
                    )

    def _blocked(self, decorator: str) -> tuple[str, str] | None:
        """Why the tool cannot be converted: a pattern and what to decide; None if it can."""
        body, arguments = self.body, self.body.node.args
        if decorator:
            decide = "let its wrapper take *args, **kwargs and pass them on unread, and run the command again"
            return f"the decorator {decorator}", decide
        if body.is_generator:
            return "the tool yields", "return one answer, and report progress through the context"
        if arguments.vararg or arguments.kwarg:
            return "the tool takes any arguments", "name each of them, since a contract describes them to the client"
        flavours = {tool.flavour for tool in self.tools}
        if "lowlevel" in flavours:
            return "a handler of the low-level server", "register one function for each tool on an mcpcore Server"
        if "fastmcp" in flavours and body.names & _RENDERED:
            return "the tool returns a result that only FastMCP renders", "keep it a plain tool, and raise ToolError"
        if (match := error_field(body.node, body.module)) is not None and not self._is_text:
            model, field = match
            decide = "give it another name, since clients look for a failure there, and run the command again"
            return f"the field {field.name} of the result {model}", decide
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
        node = self.body.node
        static = any(
            isinstance(decorator, ast.Name) and decorator.id == "staticmethod" for decorator in node.decorator_list
        )
        return int(self.handler.owner is not None and not static)

    def _name(self, place: Place) -> None:
        """Give a failure its reason and its entry."""
        scope = self.body.scope
        parts = pieces(place.message, scope)
        words = re.findall(r"[a-z0-9]+", self.name.lower()) or ["tool"]
        fallback = "_".join([*words, "failed"])[-_MAX_REASON:].lstrip("_0123456789")
        reason = slug([place.hint.replace("_", " ")], "") if place.hint else ""
        reason = reason or slug(parts, fallback)
        code = code_of(self._class(place), constant_text(parts).replace("\N{HORIZONTAL ELLIPSIS}", " "))
        candidate, number = reason, 2
        while self._codes.get(candidate, code) not in {code, None}:
            candidate, number = f"{reason}_{number}", number + 1
        self.reasons[place] = candidate
        if candidate not in self._codes:
            self._codes[candidate] = code
            self.entries.append(Entry(candidate, code, when(parts, f"{self.name} failed.")))

    def _class(self, place: Place) -> str:
        """The class that says most about a failure: what it raises, or else what its clause catches."""
        clause = self.body.clause_of(place.node)
        caught = [name for name in (self.body.caught(clause) if clause is not None else ()) if name is not None]
        specific = [name for name in caught if name not in {"builtins.Exception", "builtins.BaseException"}]
        plain = place.raised in {"", "builtins.Exception", "builtins.RuntimeError", "builtins.ValueError"}
        framework = place.raised.startswith(("mcp.", "fastmcp.")) or place.rule == "made-error"
        if (plain or framework) and len(specific) == 1:
            return specific[0]
        return "" if framework else place.raised

    # -- writing -------------------------------------------------------------------------------------------------------

    def changes(self, writer: Writer, shared: dict[Entry, str], made: Collection[Entry]) -> list[Change | Edit | None]:
        """The changes in the file of the function; None for one that cannot be made.

        Args:
            writer: The writer of the file.
            shared: The names of the entries that are constants.
            made: Those of them that are new.
        """
        module, body = self.body.module, self.body
        changes: list[Change | Edit | None] = []
        new = {entry.reason: entry for entry in self.entries if entry not in shared or entry in made}
        by_node: dict[ast.stmt, Place] = {place.node: place for place in self.places}
        # A contract that is there may map the classes already.
        free = self.contract is None and not self.shields
        guarded = only_try(body, by_node, self.registrations) if free else None
        clauses = {by_node[clause.body[0]]: clause for clause in guarded.handlers} if guarded is not None else {}
        mapped: dict[str, str] = {}
        if guarded is not None and all(self.reasons[place] in new for place in clauses):
            changes.append(Change("unwrap", *module.source.node_range(guarded)))
            for place, handler in clauses.items():
                entry = new[self.reasons[place]]
                mapped[entry.reason] = mapped.get(entry.reason, "") + self._mapped(place, handler, entry.when)
        places = [place for place in self.places if not (mapped and place in clauses)]
        entries = [entry._replace(mapped=mapped.get(entry.reason, "")) for entry in self.entries]
        constants = {
            entry: shared[old] + entry.mapped for entry, old in zip(entries, self.entries, strict=True) if old in shared
        }
        if entries:
            changes.append(
                writer.declare(body, self.registrations, entries, constants, self.contract, on_server=self.on_server)
            )
        if not places:
            return changes
        own = self.handler.context if self.handler.context is not None and self.handler.context.mcpcore else None
        name, added = writer.context(body, own, [*dict.fromkeys(self.reasons[place] for place in places)], self.index)
        changes += added
        named: dict[ast.ExceptHandler, str] = {}
        for place in places:
            clause = body.clause_of(place.node)
            cause = ""
            if clause is not None:
                cause = clause.name or named.get(clause, "")
                if not cause and (isinstance(place.node, ast.Return) or place.node.cause is None):
                    cause = next((candidate for candidate in _CAUSES if candidate not in body.names), "")
                    if not cause:
                        return [None]
                    named[clause] = cause
                    # A bare `except` gets the class Exception, so that a cancelled call ends.
                    changes.append(codemods.change(module, "name_caught", clause, cause, "Exception"))
            changes += self._raise(place, f"{name}.fail", cause)
        return changes

    def _mapped(self, place: Place, clause: ast.ExceptHandler, when: str) -> str:
        """`.on(...)` for what a clause does; `when` is the sentence that a failure has without a message."""
        text = self._message(place)[0]
        option = ""
        if text:
            message = ast.parse(f"({text})", mode="eval").body
            text = ast.unparse(message) if "\n" in text else text
            if any(isinstance(part, ast.Name) for part in walk([message])):
                option = "str" if text == f"str({clause.name})" else f"lambda {clause.name or 'exc'}: {text}"
            elif not isinstance(message, ast.Constant) or message.value != when:
                option = text
        names = [self.body.module.source.segment(kind) for kind in types_of(clause)]
        # Type checkers let `.on` take four classes.
        some = [", ".join(names[at : at + 4]) for at in range(0, len(names), 4)]
        return "".join(f".on({part}{option and ', message='}{option})" for part in some)

    def _message(self, place: Place) -> tuple[str, bool]:
        """The code of the message of a failure, and whether it lost its label."""
        module, scope = self.body.module, self.body.scope
        text = "" if place.message is None else module.source.segment(place.message)
        bare = text if place.message is None else unlabelled(text, pieces(place.message, scope))
        labelled, text = bare != text, bare
        if place.attribute:
            text = f"{text}.{place.attribute}"
        elif place.message is not None and not is_text(place.message, scope):
            text = f"str({text})"
        elif "\n" in text and isinstance(place.message, ast.BinOp):
            text = f"({text})" if not text.startswith("(") else text
        return text, labelled

    def _raise(self, place: Place, callee: str, cause: str) -> list[Change | Edit | None]:
        module, scope, node = self.body.module, self.body.scope, place.node
        reason = f'"{self.reasons[place]}"'
        text, labelled = self._message(place)
        arguments = [reason, *([text] if text else []), *place.arguments]
        if isinstance(node, ast.Return):
            return [codemods.change(module, "raise_failure", node, cause, callee, *arguments)]
        assert node.exc is not None
        changes: list[Change | Edit | None] = []
        if place.call is not None:
            message: list[ast.expr | ast.keyword | str] = []
            if place.message is not None:
                message = [place.message if is_text(place.message, scope) and not labelled else text]
            changes.append(codemods.rewrite_call(module, place.call, [reason, *message], function=callee))
        else:
            changes.append(codemods.replace_node(module, node.exc, f"{callee}({', '.join(arguments)})"))
        if cause and node.cause is None:
            changes.append(codemods.change(module, "add_cause", node, cause))
        return changes


class FilePlan(NamedTuple):
    """What changes in one file, and what is left in it and in the files of its decorators."""

    edits: tuple[Edit, ...]
    left: tuple[Left, ...]
    converted: tuple[tuple[str, int, str], ...]
    """The rule, the line and the tool of each place that is converted."""
    shields: tuple[Shield, ...]
    """The `try` statements of other files that need a clause."""


def plan_tools(
    module: Module,
    tools: Sequence[ToolDef],
    rules: frozenset[str],
    callers: Callers,
    helpers: Helpers,
    hierarchy: Hierarchy,
) -> FilePlan:
    """Plan the conversion of the tools whose functions are in one file."""
    grouped: dict[ast.AST, list[ToolDef]] = {}
    for tool in tools:
        if isinstance(tool.handler.node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            grouped.setdefault(tool.handler.node, []).append(tool)
    conversions = [Conversion(group, hierarchy) for group in grouped.values()]
    for conversion in conversions:
        conversion.read(rules, callers, helpers, hierarchy)
    _inherit(conversions)
    names = Names(module)
    writer = Writer(module, names)
    shared, made = _constants(module, conversions)
    rewriter = Rewriter(module.path, module.source.text, module.tree)
    edits: set[Edit] = set()
    accepted = codemods.Compatible()
    used: set[tuple[str, str]] = set()
    converted: list[tuple[str, int, str]] = []
    left: list[Left] = []
    outside: list[Shield] = []
    wanted: set[Entry] = set()
    for conversion in conversions:
        left += conversion.left
        if not (conversion.places or conversion.entries):
            continue
        names.spelled.clear()
        changes = conversion.changes(writer, shared, made)
        shields = [writer.shield(shield.node, names) for shield in conversion.shields if shield.module is module]
        fix = Fix("", tuple(change for change in changes if change is not None))
        new = () if None in changes else rewriter.edits(fix)
        if not new:
            pattern, decide = "the code is written in a way that cannot be changed safely", "convert it by hand"
            left += [conversion.body.left(failure.node, pattern, decide) for failure in conversion.places]
            continue
        if not accepted.accept(new):
            continue  # pragma: no cover - a guard: the edits of two tools are not known to touch
        accepted.accept(shields)
        edits.update(new, shields)
        used |= names.spelled
        wanted.update(entry for entry in conversion.entries if entry in made)
        outside += [shield for shield in conversion.shields if shield.module is not module]
        converted += [(place.rule, place.node.lineno, conversion.name) for place in conversion.places]
    constants = {name: entry for entry, name in made.items() if entry in wanted}
    inserts: list[Edit] = []
    if constants:
        place = _above(module, [other.body.node for other in conversions if other.entries])
        text = "".join(writer.constant(name, entry) for name, entry in constants.items())
        inserts.append(Edit(place, place, text + writer.newline * 2))
        used |= _USES
    imports = names.edits(used)
    return FilePlan(_joined([*edits], imports, inserts), tuple(left), tuple(converted), tuple(outside))


def _inherit(conversions: Sequence[Conversion]) -> None:
    """Give a tool that returns what another tool returns the entries of the other one."""
    by_node = {item.body.node: item for item in conversions}
    for conversion in conversions:
        if conversion.contract is not None or conversion.blocked:
            continue
        for node in conversion.body.nodes:
            value = node.value if isinstance(node, ast.Return) else None
            call = value.value if isinstance(value, ast.Await) else value
            symbol = evaluate(call.func, conversion.body.scope) if isinstance(call, ast.Call) else None
            other = by_node.get(symbol.definition) if isinstance(symbol, Symbol) and symbol.definition else None  # type: ignore[call-overload]
            if other is None or other is conversion or other.contract is not None:
                continue
            known = {entry.reason for entry in conversion.entries}
            conversion.entries += [entry for entry in other.entries if entry.reason not in known]


def _constants(module: Module, conversions: Sequence[Conversion]) -> tuple[dict[Entry, str], dict[Entry, str]]:
    """The entries that are constants of the file, and those of them that are new, with their names.

    Entries with the same reason and code become equal.
    """
    existing = _existing(module)
    first: dict[tuple[str, str], Entry] = {}
    count: dict[Entry, int] = {}
    for conversion in conversions:
        conversion.entries = [first.setdefault((item.reason, item.code), item) for item in conversion.entries]
        for entry in conversion.entries:
            count[entry] = count.get(entry, 0) + 1
    shared: dict[Entry, str] = {}
    made: dict[Entry, str] = {}
    taken = {*module.scope.bindings} | {name for scope in module.functions.values() for name in scope.bindings}
    for entry, times in count.items():
        if (entry.reason, entry.code) in existing:
            shared[entry] = existing[entry.reason, entry.code]
        elif times > 1:
            name = entry.reason.upper()
            while name in taken:
                name += "_FAILURE"
            taken.add(name)
            shared[entry] = made[entry] = name
    return shared, made


def _existing(module: Module) -> dict[tuple[str, str], str]:
    constants: dict[tuple[str, str], str] = {}
    for name, bindings in module.scope.bindings.items():
        match bindings[0].value:
            case ast.Call(args=[ast.Constant(value=str(reason)), ast.Attribute(attr=code), *_]) as call:
                symbol = evaluate(call.func, module.scope)
                if len(bindings) == 1 and isinstance(symbol, Symbol) and symbol.name == "mcpcore.FailureMode":
                    constants[reason, code] = name
    return constants


def _above(module: Module, nodes: Sequence[ast.AST]) -> int:
    """The offset above the first statement of the file that holds one of some functions, and above its comments."""
    source = module.source
    statement = next(part for part in module.tree.body if not set(nodes).isdisjoint(walk([part])))
    line: int = min([statement.lineno, *(decorator.lineno for decorator in getattr(statement, "decorator_list", ()))])
    while line > 1 and source.line(line - 1).startswith("#") and not source.line(line - 1).startswith("#!"):
        line -= 1
    return source.line_starts[line - 1]


def _joined(edits: list[Edit], imports: list[Edit], inserts: list[Edit]) -> tuple[Edit, ...]:
    """All edits; several insertions at one place become one, imports first."""
    by_place: dict[int, list[Edit]] = {}
    for edit in [*imports, *inserts, *edits]:
        by_place.setdefault(edit.start, []).append(edit)
    joined: list[Edit] = []
    for place, group in by_place.items():
        inserted = "".join(edit.text for edit in group if edit.start == edit.end)
        replaced = [edit for edit in group if edit.start != edit.end]
        if replaced:
            joined.append(Edit(place, replaced[0].end, inserted + replaced[0].text))
        else:
            joined.append(Edit(place, place, inserted))
    return tuple(joined)
