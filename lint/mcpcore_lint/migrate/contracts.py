"""Writes the contract of a tool, its context and the imports: decorators, entries, and the new first parameter."""

import ast
import json
from collections.abc import Iterable, Sequence
from typing import Final, Protocol

from mcpcore_lint.codemods import edits as codemods
from mcpcore_lint.diagnostics import Change, Edit, grouped
from mcpcore_lint.engine.semantics.type_model import name_of
from mcpcore_lint.engine.syntax.module import Module
from mcpcore_lint.engine.syntax.parse import FUNCTIONS, walk
from mcpcore_lint.migrate.body import Body
from mcpcore_lint.migrate.model import Entry
from mcpcore_lint.migrate.sentences import blank
from mcpcore_lint.model import ContextParameter, Contract

CONTEXT_NAMES: Final = ("ctx", "fails", "failures", "tool_context", "mcpcore_context")
_OPTIONS: Final = ("name", "title", "description", "annotations", "icons", "meta", "structured_output")
"""The positional parameters of `Server.tool`, which takes them by keyword together with `errors`."""
_OTHERWISE: Final = {"Context": "ToolContext", "tool": "contract_tool", "Server": "ContractServer"}
"""The local name of an import if its own name is taken."""
_SHORT: Final = 80
"""The length up to which a list of constants stays on one line."""
_TEXT_CODECS: Final = frozenset({"utf8", "utf8sig"})


class Names:
    """The imports of one file."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._wanted: dict[tuple[str, str], str] = {}
        """The names to import, each with its spelling in the file."""
        self.spelled: set[tuple[str, str]] = set()
        """The names that were asked for, and would be imported, since somebody cleared this."""

    def spell(self, package: str, name: str) -> str:
        """The spelling of a name in the file. A name that is not imported yet is noted."""
        known = self._wanted.get((package, name))
        self.spelled.add((package, name))
        if known is not None:
            return known
        imported = codemods.import_name(self._module, package, name)
        if not imported.edits:
            return imported.text
        local = imported.text
        if local != name:
            local = self._free(_OTHERWISE.get(name, f"mcpcore_{name}" if name.islower() else name), local)
        self._wanted[package, name] = local
        return local

    def _free(self, local: str, otherwise: str) -> str:
        scopes = [self._module.scope, *self._module.functions.values()]
        return otherwise if any(local in scope.bindings for scope in scopes) else local

    def edits(self, used: set[tuple[str, str]]) -> list[Edit]:
        """The imports of the names that were used in the end, one for each package."""
        clauses: dict[str, list[str]] = {}
        for (package, name), local in self._wanted.items():
            if (package, name) in used:
                clauses.setdefault(package, []).append(name if local == name else f"{name} as {local}")
        edits: list[Edit] = []
        for package, names in clauses.items():
            ordered = sorted(names, key=codemods.name_order)
            # Into an import that is there, each name goes to its own place.
            imported = any(
                isinstance(statement, ast.ImportFrom) and "." * statement.level + (statement.module or "") == package
                for statement in self._module.tree.body
            )
            edits += [
                codemods.import_edit(self._module, package, clause)
                for clause in (ordered if imported else [", ".join(ordered)])
            ]
        return edits


class Writer:
    """Writes contracts into one file."""

    def __init__(self, module: Module, names: Names) -> None:
        self.module = module
        self.names = names
        self.newline = module.source.newline
        blocks = (part for part in module.tree.body if isinstance(part, (*FUNCTIONS, ast.ClassDef)))
        first = next((block.body[0] for block in blocks if block.body[0].lineno > block.lineno), None)
        self.unit = self.indent_of(first) if first is not None else "    "

    # -- entries -------------------------------------------------------------------------------------------------------

    def entry(self, entry: Entry, indent: str) -> str:
        """`FailureMode(...)`; its first line is not indented."""
        # A file in another encoding may not be able to hold the characters of a sentence.
        utf8 = self.module.source.encoding.replace("-", "").lower() in _TEXT_CODECS
        text, recovery = (json.dumps(part, ensure_ascii=not utf8) for part in (entry.when, entry.recovery))
        mode, code = self.names.spell("mcpcore", "FailureMode"), self.names.spell("mcpcore", "ErrorCode")
        inner = indent + self.unit
        return self.newline.join(
            [
                f"{mode}(",
                f'{inner}"{entry.reason}",',
                f"{inner}{code}.{entry.code},",
                f"{inner}when={text},",
                f"{inner}recovery={recovery if entry.recovery else self.names.spell('mcpcore', 'TODO')},",
                f"{indent})",
            ]
        )

    def errors(self, entries: Sequence[Entry], constants: dict[Entry, str], indent: str, old: str = "") -> str:
        """The list of entries; `old` holds the items that it has already, as they are written."""
        if not old and (short := self._short(entries, constants)):
            return short
        inner = indent + self.unit
        lines = [f"{inner}{constants.get(entry) or self.entry(entry, inner)}," for entry in entries]
        head = f"[{old.rstrip().rstrip(',')}," if old.strip() else "["
        return self.newline.join([head, *lines, f"{indent}]"])

    def constant(self, name: str, entry: Entry) -> str:
        """A constant at the top of the file."""
        return f"{name} = {self.entry(entry, '')}{self.newline}"

    # -- the tool ------------------------------------------------------------------------------------------------------

    def declare(
        self,
        body: Body,
        decorators: Sequence[ast.expr],
        entries: Sequence[Entry],
        constants: dict[Entry, str],
        contract: Contract | None,
        *,
        on_server: bool,
    ) -> Change | Edit | None:
        """Write the entries into the contract of a tool.

        Args:
            body: The function.
            decorators: Its decorators that register it.
            entries: The new entries.
            constants: The names of those that several tools share.
            contract: The contract that it has.
            on_server: Whether `errors=` goes into the only decorator.
        """
        indent = self.indent_of(body.node)
        if contract is not None:
            if contract.module is not self.module or not isinstance(contract.node, ast.List):
                return None
            segment = self.module.source.segment(contract.node)
            return codemods.replace_node(
                self.module,
                contract.node,
                self.errors(entries, constants, self.indent_of(contract.node), segment[1:-1]),
            )
        short = self._short(entries, constants)
        text = f"errors={short or self.errors(entries, constants, indent + self.unit)}"
        alone = text if short else self._lines([text], indent)
        if on_server:
            decorator = decorators[0]
            if not isinstance(decorator, ast.Call):
                return codemods.replace_node(
                    self.module, decorator, f"{self.module.source.segment(decorator)}({alone})"
                )
            starred = any(isinstance(arg, ast.Starred) for arg in decorator.args)
            if not starred and len(decorator.args) <= len(_OPTIONS):
                change = self._with_errors(decorator, text, indent, short=bool(short))
                if change is not None:
                    return change
        place = self._place(body.node, decorators)
        return Edit(place, place, f"{indent}@{self.names.spell('mcpcore', 'tool')}({alone}){self.newline}")

    def _lines(self, arguments: Sequence[str], indent: str) -> str:
        """The arguments of a call, each on its own line."""
        return self.newline.join(["", *(f"{indent}{self.unit}{argument}," for argument in arguments), indent])

    def _short(self, entries: Sequence[Entry], constants: dict[Entry, str]) -> str:
        """The list of entries on one line, if all are constants and it is short."""
        line = f"[{', '.join(constants.get(entry, '') for entry in entries)}]"
        return line if all(entry in constants for entry in entries) and len(line) < _SHORT else ""

    def _with_errors(self, decorator: ast.Call, text: str, indent: str, *, short: bool) -> Change | None:
        segment = self.module.source.segment
        arguments: list[ast.expr | ast.keyword | str] = [
            f"{_OPTIONS[decorator.args.index(argument)]}={segment(argument)}"
            if isinstance(argument, ast.expr)
            else argument
            for argument in codemods.arguments_in_order(decorator)
        ]
        unpacked = next(
            (at for at, passed in enumerate(arguments) if isinstance(passed, ast.keyword) and not passed.arg), None
        )
        arguments.insert(len(arguments) if unpacked is None else unpacked, text)
        if decorator.lineno == decorator.end_lineno and not short:
            written = [passed if isinstance(passed, str) else segment(passed) for passed in arguments]
            code = f"{segment(decorator.func)}({self._lines(written, indent)})"
            return codemods.replace_node(self.module, decorator, code)
        return codemods.rewrite_call(self.module, decorator, arguments)

    def _place(self, node: ast.FunctionDef | ast.AsyncFunctionDef, decorators: Sequence[ast.expr]) -> int:
        """Where `@tool` goes: below the decorators that register the function, else above all others."""
        starts = self.module.source.line_starts
        if decorators:
            return starts[max(decorator.end_lineno or decorator.lineno for decorator in decorators)]
        return starts[min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)]) - 1]

    def context(
        self, body: Body, context: ContextParameter | None, reasons: Sequence[str], index: int
    ) -> tuple[str, list[Change | Edit | None]]:
        """The name of the context, and the changes that add it or its reasons.

        Args:
            body: The function.
            context: Its context of mcpcore.
            reasons: All reasons that it raises.
            index: 1 for a method, 0 otherwise.
        """
        listed = ", ".join(f'"{reason}"' for reason in reasons)
        if context is not None:
            return context.name, [self._more_reasons(context, reasons)] if context.annotation else []
        name = next((name for name in CONTEXT_NAMES if name not in body.names), "")
        if not name:
            return name, [None]
        if name == CONTEXT_NAMES[0] and is_untyped(body.node):
            # A type checker does not look into a function without annotations. One annotation would change that.
            return name, [
                codemods.add_parameter(self.module, body.node, name, index) or self._before(body, name, index)
            ]
        kind = self.names.spell("mcpcore", "Context")
        literal = self.names.spell("typing", "Literal")
        code = f"{name}: {kind}[{literal}[{listed}]]"
        return name, [codemods.add_parameter(self.module, body.node, code, index) or self._before(body, code, index)]

    def _before(self, body: Body, code: str, index: int) -> Edit | None:
        """Put a parameter before another one, in a signature with comments."""
        arguments = body.node.args
        following = [*arguments.posonlyargs, *arguments.args][index : index + 1]
        if not following:
            return None
        start, _ = self.module.source.node_range(following[0])
        line = self.module.source.line(following[0].lineno)
        indent = line[: len(line) - len(line.lstrip(" \t"))]
        alone = not line[: self.module.source.position(start)[1] - 1].strip()
        return Edit(start, start, f"{code},{self.newline}{indent}" if alone else f"{code}, ")

    def _more_reasons(self, context: ContextParameter, reasons: Sequence[str]) -> Change | None:
        if context.reasons is None or context.argument is None:
            # A context without reasons accepts all of them. It is replaced by itself, since None would mean that it
            # cannot be changed.
            return (
                codemods.replace_node(self.module, context.annotation, self.module.source.segment(context.annotation))
                if context.annotation is not None
                else None
            )
        literal = self.names.spell("typing", "Literal")
        listed = ", ".join(f'"{reason}"' for reason in dict.fromkeys([*context.reasons, *reasons]))
        return codemods.replace_node(self.module, context.argument, f"{literal}[{listed}]")

    # -- lines ---------------------------------------------------------------------------------------------------------

    def indent_of(self, node: ast.AST) -> str:
        """The indentation of the line on which a node starts."""
        line = self.module.source.line(getattr(node, "lineno", 1))
        return line[: len(line) - len(line.lstrip(" \t"))]

    def shield(self, statement: ast.Try) -> Edit:
        """`except CodedError: raise`, in front of the other clauses."""
        first = statement.handlers[0]
        indent, newline = self.indent_of(first), self.newline
        place = self.module.source.line_starts[first.lineno - 1]
        failure = self.names.spell("mcpcore", "CodedError")
        return Edit(place, place, f"{indent}except {failure}:{newline}{indent}{self.unit}raise{newline}")


def is_untyped(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a function has no annotations."""
    arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    return node.returns is None and all(argument.annotation is None for argument in arguments)


# -- constants of failure modes that several tools share ---------------------------------------------------------------


class HasEntries(Protocol):
    """What the entries belong to: a tool that is converted."""

    entries: list[Entry]


def constants_of(module: Module, conversions: Sequence[HasEntries]) -> tuple[dict[Entry, str], dict[Entry, str]]:
    """The entries that are constants of the file, and those of them that are new, with their names.

    Entries with the same reason, code, sentence and advice become equal.

    Args:
        module: The file.
        conversions: What the entries belong to.
    """
    existing = _existing(module)
    first: dict[tuple[str, ...], Entry] = {}
    count: dict[Entry, int] = {}
    for conversion in conversions:
        conversion.entries = [
            first.setdefault((item.reason, item.code, blank(item.when), item.recovery), item)
            for item in conversion.entries
        ]
        for entry in conversion.entries:
            count[entry] = count.get(entry, 0) + 1
    shared: dict[Entry, str] = {}
    made: dict[Entry, str] = {}
    taken = {*module.scope.bindings} | {name for scope in module.functions.values() for name in scope.bindings}
    for entry, times in count.items():
        if (known := existing.get((entry.reason, entry.code, blank(entry.when)))) is not None:
            shared[entry] = known
        elif times > 1:
            name = entry.reason.upper()
            while name in taken:
                name += "_FAILURE"
            taken.add(name)
            shared[entry] = made[entry] = name
    return shared, made


def _existing(module: Module) -> dict[tuple[str, str, str], str]:
    constants: dict[tuple[str, str, str], str] = {}
    for name, bindings in module.scope.bindings.items():
        match bindings[0].value:
            case (
                ast.Call(args=[ast.Constant(value=str(reason)), ast.Attribute(attr=code), *_], keywords=options) as call
            ):
                said = next((option.value for option in options if option.arg == "when"), None)
                text = said.value if isinstance(said, ast.Constant) else None
                if len(bindings) == 1 and name_of(call.func, module.scope) == "mcpcore.FailureMode":
                    constants[reason, code, blank(str(text))] = name
    return constants


def above(module: Module, nodes: Sequence[ast.AST]) -> int:
    """The offset above the first statement of the file that holds one of some functions, and above its comments."""
    source = module.source
    statement = next(part for part in module.tree.body if not set(nodes).isdisjoint(walk([part])))
    line: int = min([statement.lineno, *(decorator.lineno for decorator in getattr(statement, "decorator_list", ()))])
    while line > 1 and source.line(line - 1).startswith("#") and not source.line(line - 1).startswith("#!"):
        line -= 1
    return source.line_starts[line - 1]


def joined(edits: Iterable[Edit]) -> tuple[Edit, ...]:
    """All edits; several insertions at one place become one, in their order."""
    joined: list[Edit] = []
    for place, group in grouped(edits, lambda edit: edit.start).items():
        inserted = "".join(edit.text for edit in group if edit.start == edit.end)
        replaced = [edit for edit in group if edit.start != edit.end]
        end, text = (replaced[0].end, replaced[0].text) if replaced else (place, "")
        joined.append(Edit(place, end, inserted + text))
    return tuple(joined)
