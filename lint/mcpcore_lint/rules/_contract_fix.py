"""The fix of error-contract-missing: writes a contract with an entry for each failure that a tool can have."""

from __future__ import annotations

import ast
import json
import re
from typing import TYPE_CHECKING, Final

from mcpcore_lint.codemods import edits as codemods
from mcpcore_lint.diagnostics import Edit
from mcpcore_lint.model import Text, string
from mcpcore_lint.patterns import regex
from mcpcore_lint.rules._bodies import short
from mcpcore_lint.rules._fail_fix import is_method
from mcpcore_lint.rules._thrown import BASELINE, Thrown, all_thrown
from mcpcore_lint.semantics.codes import CODES
from mcpcore_lint.semantics.evaluate import evaluate

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mcpcore_lint.diagnostics import Fix
    from mcpcore_lint.model import Reach, ReachedThrow, ToolDef, Value
    from mcpcore_lint.rule import RuleContext
    from mcpcore_lint.syntax.module import Module

TO_FILL_IN: Final = "TODO: next step"
"""Too short for a recovery, so the linter asks for a better one."""
MAX_WHEN: Final = 90
_QUOTED_HOLE: Final = regex(r"(['\"`])\.\.\.\1")
_LAST_HOLE: Final = regex(r"[\s:;,=(\[{<'\"`-]*\.\.\.[\s)\]}>'\"`]*\.?$")
_LEADS_ON: Final = regex(
    r"(?:[\s:;,=-]+(?:for|of|in|at|with|to|from|by|on|named|called|id|is|was|are|be|got|the|an?|as|than|and|or|not))+$",
    re.IGNORECASE,
)
"""Words that only lead on to what comes next."""

REASON_OF: Final[dict[str, str]] = {
    "SERVICE_UNAVAILABLE": "upstream_unavailable",
    "TIMEOUT": "upstream_timeout",
    "RATE_LIMITED": "upstream_busy",
    "DATABASE_ERROR": "database_failed",
    "SERIALIZATION_ERROR": "unreadable_data",
    "UNAUTHORIZED": "credentials_rejected",
    "FORBIDDEN": "access_denied",
    "CONFLICT": "already_exists",
    "NOT_FOUND": "not_found",
    "VALIDATION_ERROR": "invalid_input",
}
"""A reason for errors of third-party functions, by their code."""

_GUESSES: Final = (
    (regex(r"not_found|missing|^no_|unknown|gone|lost|empty"), "NOT_FOUND"),
    (regex(r"conflict|exists|duplicate|stale|mismatch|locked"), "CONFLICT"),
    (regex(r"rate|quota|full|limit|too_many|busy"), "RATE_LIMITED"),
    (regex(r"timeout|timed_out|slow"), "TIMEOUT"),
    (regex(r"unauth|credential|token|login"), "UNAUTHORIZED"),
    (regex(r"forbid|denied|permission|outside|not_allowed"), "FORBIDDEN"),
    (regex(r"unavailable|down|offline|upstream|unreachable"), "SERVICE_UNAVAILABLE"),
    (regex(r"invalid|bad|malformed|wrong|unsupported|too_"), "VALIDATION_ERROR"),
)


class Proposal:
    """One entry to fill in."""

    def __init__(self, reason: str, code: str) -> None:
        self.reason = reason
        self.code = code
        self.when: list[str] = []
        self.by: list[str] = []
        """The functions that raise it without a message."""

    @property
    def sentence(self) -> str:
        """When it happens, from the messages in the code: as many whole sentences as fit."""
        sentences = list(dict.fromkeys(self.when))
        if not sentences:
            return self._raisers() if self.by else "TODO: say when this happens"
        text = sentences[0]
        if len(text) > MAX_WHEN:
            text = re.split(r"(?<=[.!?]) ", text, maxsplit=1)[0]
        if len(text) > MAX_WHEN:
            return text[: MAX_WHEN - 3].rpartition(" ")[0].rstrip(" .,;:") + "..."
        for sentence in sentences[1:]:
            longer = f"{text.rstrip('.! ')}; {sentence.rstrip('.! ')}"
            if len(longer) <= MAX_WHEN:
                text = longer
        return text

    def _raisers(self) -> str:
        names = list(dict.fromkeys(self.by))
        while len(names) > 1:
            text = f"TODO: raised by {', '.join(names[:-1])} and {names[-1]}"
            if len(text) <= MAX_WHEN:
                return text
            names.pop()
        return f"TODO: raised by {names[0]}"


def proposals(tool: ToolDef, ctx: RuleContext) -> list[Proposal]:
    """The entries for the errors that a tool throws itself, through calls, and through libraries."""
    entries: dict[str, Proposal] = {}

    def add(reason: str, code: str, when: str, by: str = "") -> None:
        entry = entries.setdefault(reason, Proposal(reason, code))
        if entry.code != code:
            return
        if when:
            entry.when.append(when)
        elif by:
            entry.by.append(by)

    for thrown in all_thrown(tool, ctx):
        for reason, code in _named(thrown):
            add(reason, code, _when(thrown, ctx), thrown.way.rpartition(" > ")[2])
    declared = {entry.code for entry in entries.values()}
    for code, names in _of_libraries(ctx.reach(tool), ctx).items():
        if code not in declared:
            reason = REASON_OF.get(code, code.lower())
            add(reason, code, _any_of(names))
    return list(entries.values())


def _named(thrown: Thrown) -> list[tuple[str, str]]:
    """The reasons and codes of an error; without a reason, one is derived from the code."""
    codes = [code for code in thrown.codes or () if code in CODES.by_name]
    if thrown.reasons:
        return [(reason, codes[0] if codes else _guessed(reason)) for reason in thrown.reasons]
    if thrown.reasons is None and not codes:
        return []
    return [(code.lower(), code) for code in codes if code not in BASELINE]


def _guessed(reason: str) -> str:
    """The code that the name of a reason suggests, for `ctx.fail` with an undeclared reason."""
    return next((code for pattern, code in _GUESSES if pattern.search(reason)), "INTERNAL_ERROR")


def _when(thrown: Thrown, ctx: RuleContext) -> str:
    if thrown.reached is not None:
        return _sentence(_message_at(thrown.reached, ctx))
    return _sentence(thrown.error.message.value) if thrown.error is not None else ""


def _message_at(reached: ReachedThrow, ctx: RuleContext) -> Value | None:
    """The message of a `raise` in another function; the cached facts of a file do not have it."""
    module = ctx.project.module_at(reached.site.path)
    if module is None:
        return None
    source, span = module.source, reached.site.span
    try:
        written = source.text[
            source.offset_at(span.line, span.column) : source.offset_at(span.end_line, span.end_column)
        ]
        statement = ast.parse(written).body[0]
    except (SyntaxError, ValueError, IndexError):
        return None
    call = statement.exc if isinstance(statement, ast.Raise) else None
    if not isinstance(call, ast.Call):
        return None
    position = 1 if reached.form in {"coded", "fail"} else 0
    node = next((keyword.value for keyword in call.keywords if keyword.arg == "message"), None)
    if node is None and len(call.args) > position:
        node = call.args[position]
    return evaluate(node, module.scope) if isinstance(node, (ast.Constant, ast.JoinedStr, ast.Name)) else None


def _sentence(value: Value | None) -> str:
    """A message, with an ellipsis for each part that is not constant."""
    if value is None:
        return ""
    text = string(value)
    if text is None and isinstance(value, Text):
        text = "".join("..." if part is None else part for part in value.parts)
    text = _QUOTED_HOLE.sub("...", re.sub(r"\.{4,}", "...", " ".join((text or "").split())))
    cut = text
    while (shorter := _LAST_HOLE.sub("", cut)) not in {cut, ""}:
        cut = shorter
    if cut != text:
        # Remove the words that lead up to the hole too, as long as something is left.
        shorter = _LEADS_ON.sub("", cut)
        text = shorter if shorter.count(" ") else cut
    # A message that is mostly variables says nothing about the failure.
    return text if sum(character.isalpha() for character in text) >= 3 else ""


def _any_of(raised: list[tuple[str, str]]) -> str:
    """A sentence about functions, such as `open raises FileNotFoundError or PermissionError`."""
    by_function: dict[str, list[str]] = {}
    for function, name in raised:
        by_function.setdefault(function, []).append(name)
    sentence = ""
    for function, names in by_function.items():
        text = f"{function} raises {' or '.join(names[:3])}"
        if sentence and len(sentence) + len(text) + 4 > MAX_WHEN:
            break
        sentence = f"{sentence} or {text}" if sentence else text
    return sentence


def _of_libraries(reach: Reach, ctx: RuleContext) -> dict[str, list[tuple[str, str]]]:
    """The third-party functions and exceptions by code, such as `httpx.get` and `TimeoutException`."""
    by_code: dict[str, list[tuple[str, str]]] = {}
    for reached in reach.throws:
        if reached.source != "knowledge":
            continue
        code = _code_of_class(reached, ctx)
        if code is None:
            continue
        raised = (reached.path[-1], short(reached.type_name))
        if raised not in by_code.setdefault(code, []):
            by_code[code].append(raised)
    return by_code


def _code_of_class(thrown: ReachedThrow, ctx: RuleContext) -> str | None:
    """The code that the runtime gives to an exception class; None if the exception means a bug."""
    from mcpcore.classification.types import TYPES

    above, _ = ctx.hierarchy.ancestors(thrown.type_name)
    for name in (thrown.type_name, *sorted(above - {thrown.type_name}, key=_depth(above, ctx))):
        row = TYPES.get(name)
        if row is not None:
            return None if row.rule == "bug" or row.code.name == "INTERNAL_ERROR" else row.code.name
    return None


def _depth(above: Iterable[str], ctx: RuleContext):  # type: ignore[no-untyped-def]  # noqa: ANN202
    """A sort key that puts the nearest base classes first."""
    counts = {ancestor: len(ctx.hierarchy.ancestors(ancestor)[0]) for ancestor in above}
    return lambda name: (-counts[name], name)


def throws_coded(tool: ToolDef, ctx: RuleContext) -> list[Thrown]:
    """The coded errors that a contract would declare."""
    return [
        thrown
        for thrown in all_thrown(tool, ctx)
        if thrown.reasons or (thrown.error is not None and thrown.error.form == "fail") or thrown.codes is None
        or any(code not in BASELINE for code in thrown.codes)
    ]  # fmt: skip


def context_is_misplaced(tool: ToolDef) -> bool:
    """Whether the context is not the first parameter after `self`, as a tool with a contract requires."""
    context = tool.handler.context
    if context is None or not context.mcpcore:
        return False
    args = tool.handler.node.args
    positional = [*args.posonlyargs, *args.args]
    return positional[int(is_method(tool)) :][:1] != [context.node]


def contract_fix(tool: ToolDef, entries: list[Proposal], ctx: RuleContext) -> Fix | None:
    """The fix that writes the contract into the registration; None if there is no place for it."""
    registration = tool.registration
    module = tool.module
    if not entries or tool.flavour != "mcpcore" or context_is_misplaced(tool):
        return None
    code = codemods.import_name(module, "mcpcore", "ErrorCode")
    entry = codemods.import_name(module, "mcpcore", "FailureMode")

    def errors(indent: str) -> str:
        return _errors(entries, entry.text, code.text, indent, module)

    line = module.source.line(registration.lineno)
    indent = _indent(line)
    inner = f"{indent}    "
    if not isinstance(registration, ast.Call):
        if not isinstance(registration, (ast.Name, ast.Attribute)):
            return None
        written = f"{module.source.segment(registration)}(\n{inner}{errors(inner)}\n{indent})"
        place = codemods.replace_node(module, registration, written)
    else:
        arguments: list[ast.expr | ast.keyword | str] = [*codemods.arguments_in_order(registration)]
        declared = next((keyword for keyword in registration.keywords if keyword.arg == "errors"), None)
        if declared is not None:
            arguments[arguments.index(declared)] = errors(_indent(module.source.line(declared.lineno)))
            place = codemods.rewrite_call(module, registration, arguments)
        elif arguments:
            last = codemods.arguments_in_order(registration)[-1]
            place = codemods.add_argument(module, registration, errors(_indent(module.source.line(last.lineno))))
        else:
            segment = module.source.segment(registration)
            if "#" in segment:
                return None  # a comment between the parentheses would be lost
            function = segment.rpartition("(")[0]
            place = codemods.replace_node(module, registration, f"{function}(\n{inner}{errors(inner)}\n{indent})")
    return ctx.fix("Write a contract to fill in", [*code.edits, *entry.edits, place, *_held(tool)], unsafe=True)


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _held(tool: ToolDef) -> list[Edit]:
    """Edits that leave `CodedError` as it is where the tool raises it.

    With the contract its errors are raised by their reasons in the next pass: a fix that names a factory instead would
    only leave an import behind that nothing uses.
    """
    module = tool.module
    edits: list[Edit] = []
    for error in tool.handler.errors:
        if error.callee == "mcpcore.CodedError" and error.module is module and isinstance(error.node, ast.Call):
            start, end = module.source.node_range(error.node.func)
            edits.append(Edit(start, end, module.source.text[start:end]))
    return list(dict.fromkeys(edits))


def _errors(entries: list[Proposal], mode: str, code: str, indent: str, module: Module) -> str:
    """`errors=[...]`, its first line without indentation."""
    utf8 = module.source.encoding.replace("-", "").lower() in {"utf8", "utf8sig"}
    lines = ["errors=["]
    for entry in entries:
        when = json.dumps(entry.sentence, ensure_ascii=not utf8 or not entry.sentence.isprintable())
        lines += [
            f"{indent}    {mode}(",
            f'{indent}        "{entry.reason}",',
            f"{indent}        {code}.{entry.code},",
            f"{indent}        when={when},",
            f'{indent}        recovery="{TO_FILL_IN}",',
            f"{indent}    ),",
        ]
    lines.append(f"{indent}]")
    return "\n".join(lines)
