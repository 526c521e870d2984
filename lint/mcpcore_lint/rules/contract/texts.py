"""The rules about what a failure mode says in words: when it happens, and what the caller can do about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from mcpcore import bounds
from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.model import CallValue, Choice, Const, Mapping, Symbol, Text, options
from mcpcore_lint.patterns import holds_any, regex
from mcpcore_lint.rules.contract.entries import Entry, EntryRule, certainly_not, described, near, shortened

if TYPE_CHECKING:
    from mcpcore_lint.model import Argument, ErrorSite, Handler, ToolDef, Value
    from mcpcore_lint.rules.base import Family, RuleContext

_STRINGS: Final = frozenset({"builtins.str"})
_PLACEHOLDER: Final = regex(
    # "Todo items cannot be listed." is a sentence; "todo: ..." is none.
    r"\W*(?:(?:TODO|FIXME|XXX|TBD)\b"
    r"|(?i:todo|fixme|xxx|tbd|to be (?:written|done|filled in))\s*(?:[-:.,(\u2013\u2014]|\Z))"
)
"""How a text begins that is still to be written."""
_OF_PLACEHOLDERS: Final = ("todo", "fixme", "xxx", "tbd", "to be ")
"""One of them is in every text of ASCII that it matches."""
_WORD: Final = regex(r"\w")


def _is_text(value: Value) -> bool:
    return isinstance(value, Text) or (isinstance(value, Const) and isinstance(value.value, str))


def _no_text(value: Value, ctx: RuleContext) -> bool:
    """Whether a value is no string for certain."""
    if _is_text(value) or (isinstance(value, CallValue) and value.func.name == "builtins.str"):
        return False
    if isinstance(value, Symbol) and value.definition is None and not value.name.startswith(("builtins.", "mcpcore.")):
        return False
    return certainly_not(value, _STRINGS, ctx)


def _blank(value: Value) -> bool:
    return isinstance(value, Const) and isinstance(value.value, str) and not value.value.strip()


def _unwritten(value: Value) -> bool:
    """Whether a text is a mark that one is still to be written."""
    if isinstance(value, Text):
        return bool(value.parts and value.parts[0] and _is_placeholder(value.parts[0]))
    return isinstance(value, Const) and isinstance(value.value, str) and _is_placeholder(value.value)


def _is_placeholder(text: str) -> bool:
    if text.isascii() and not holds_any(text.lower(), _OF_PLACEHOLDERS):
        return False
    return _PLACEHOLDER.match(text) is not None


class ContractWhenRequired(EntryRule):
    """A failure mode that does not say when it happens."""

    id = "error-contract-when-required"
    severity = Severity.ERROR
    family: ClassVar[Family] = "contract"
    summary = "`when` is missing, empty, blank or still to be written"
    why = (
        "It tells a reader of the contract in which circumstances to expect the failure, and it is the message that an "
        "agent reads where a throw gives none."
    )
    bad = 'FailureMode("no_match", ErrorCode.NOT_FOUND, when="", recovery="...")'
    good = 'FailureMode("no_match", ErrorCode.NOT_FOUND, when="No requested PMID returned data.", recovery="...")'
    how_to_fix = "Say in a sentence in which circumstances the tool fails in this way."
    when_to_suppress = "Never: the failure mode cannot be made, or says `TODO` to whoever meets the failure."

    def check_entry(self, entry: Entry, ctx: RuleContext) -> None:
        """Report a circumstance that is missing, blank, or no string for certain."""
        when = entry.arguments["when"]
        step = "say in a sentence in which circumstances the tool fails in this way"
        if not when.given:
            entry.report(ctx, None, f"{entry.label} does not say when it happens", help=f"add when=...: {step}")
            return
        for value in options(when.value):
            if _blank(value):
                entry.report(ctx, when, f"the when of {entry.label} is blank", help=step)
                return
            if _no_text(value, ctx):
                entry.report(ctx, when, f"the when of {entry.label} is {described(value)}, not a string", help=step)
                return
            if _unwritten(value):
                entry.report(ctx, when, f"the when of {entry.label} is still to be written", help=step)
                return


class ContractRecoveryRequired(EntryRule):
    """A failure mode that leaves the caller alone."""

    id = "error-contract-recovery-required"
    severity = Severity.ERROR
    family: ClassVar[Family] = "contract"
    summary = "`recovery` is missing or not a string"
    why = "The hint is what turns a failure into the agent's next step; without one it retries blindly or gives up."
    bad = 'FailureMode("no_match", ErrorCode.NOT_FOUND, when="...")'
    good = 'FailureMode("no_match", ErrorCode.NOT_FOUND, when="...", recovery="Call search_articles for valid PMIDs.")'
    how_to_fix = "Say what the caller can do: the next tool, the argument to change, how long to wait, whom to ask."
    when_to_suppress = "Never: the failure mode cannot be made."

    def check_entry(self, entry: Entry, ctx: RuleContext) -> None:
        """Report a hint that is missing, or no string for certain."""
        recovery = entry.arguments["recovery"]
        step = "say what the caller can do next: the tool to call, the argument to change, how long to wait"
        if not recovery.given:
            entry.report(
                ctx, None, f"{entry.label} does not say what the caller can do", help=f"add recovery=...: {step}"
            )
            return
        for value in options(recovery.value):
            if _no_text(value, ctx):
                entry.report(
                    ctx, recovery, f"the recovery of {entry.label} is {described(value)}, not a string", help=step
                )
                return


class ContractRecoveryEmpty(EntryRule):
    """A hint without a word."""

    id = "error-contract-recovery-empty"
    severity = Severity.ERROR
    family: ClassVar[Family] = "contract"
    summary = "`recovery` is empty or blank"
    why = "A blank hint is refused at import: it would take the place of one that helps."
    bad = 'FailureMode("no_match", ErrorCode.NOT_FOUND, when="...", recovery="")'
    good = 'FailureMode("no_match", ErrorCode.NOT_FOUND, when="...", recovery="Call search_articles for valid PMIDs.")'
    how_to_fix = "Say what the caller can do, or, where nothing helps, whom to tell: `Tell the user that ...`."
    when_to_suppress = "Never: the failure mode cannot be made."

    def check_entry(self, entry: Entry, ctx: RuleContext) -> None:
        """Report a blank hint."""
        recovery = entry.arguments["recovery"]
        if any(_blank(each) for each in options(recovery.value)):
            entry.report(
                ctx,
                recovery,
                f"the recovery of {entry.label} is blank",
                help="say what the caller can do next: the tool to call, the argument to change, how long to wait",
            )


class ContractRecoveryMinWords(EntryRule):
    """A hint that says too little to act on."""

    id = "error-contract-recovery-min-words"
    severity = Severity.WARNING
    family: ClassVar[Family] = "contract"
    summary = '`recovery` has fewer than five words ("Try again."), or is still to be written'
    why = '"Try again." or "Check the input." fits every failure, and so helps with none.'
    bad = 'FailureMode("no_match", ErrorCode.NOT_FOUND, when="...", recovery="Check input.")'
    good = 'FailureMode("no_match", ErrorCode.NOT_FOUND, when="...", recovery="Call search_articles for valid PMIDs.")'
    how_to_fix = "Name the next tool, the argument to change and to what, how long to wait, or whom to ask."
    when_to_suppress = "When the few words are all there is to do, such as `Call login first.`"

    def check_entry(self, entry: Entry, ctx: RuleContext) -> None:
        """Report a hint of a few words, and one that is still to be written."""
        recovery = entry.arguments["recovery"]
        least = ctx.settings.min_recovery_words
        step = "name the next tool, the argument to change, how long to wait, or whom to ask"
        for value in options(recovery.value):
            if _unwritten(value):
                entry.report(ctx, recovery, f"the recovery of {entry.label} is still to be written", help=step)
                return
            if not isinstance(value, Const) or not isinstance(value.value, str) or _blank(value):
                continue
            words = value.value.split()
            if sum(map(str.isalnum, words)) >= least:
                # Not all words of it had to be looked into.
                continue
            text = " ".join(words)
            count = sum(map(bool, map(_WORD.search, words)))
            if count < least:
                told = "1 word" if count == 1 else f"{count} words"
                entry.report(ctx, recovery, f"the recovery of {entry.label} has {told}: {shortened(text)!r}", help=step)
                return


class ContractRecoveryUnknownTool(EntryRule):
    """A way out that is not there."""

    id = "error-contract-recovery-unknown-tool"
    severity = Severity.ERROR
    family: ClassVar[Family] = "contract"
    summary = "`fallback_tool` names a tool that the project does not define"
    why = "The agent is sent to a tool that does not exist, fails there again, and has lost the way."
    bad = 'FailureMode("no_match", ..., fallback_tool="serach_articles")'
    good = 'FailureMode("no_match", ..., fallback_tool="search_articles")'
    how_to_fix = (
        "Correct the name: it is the one in `tools/list`, not the function's where the two differ. Name the tools of "
        "other servers in `Server(external_tools=[...])` or `ContractMiddleware(external_tools=[...])`; those that the "
        "code cannot name go under `tools` in the settings."
    )
    when_to_suppress = "When another server, mounted beside this one, brings the tool."

    def check_entry(self, entry: Entry, ctx: RuleContext) -> None:
        """Report a tool that no file of the project defines."""
        fallback = entry.arguments["fallback_tool"]
        if not fallback.given:
            return
        defined = ctx.project_tools()
        if defined is None:
            return
        for value in options(fallback.value):
            if not isinstance(value, Const) or not isinstance(value.value, str) or value.value in defined:
                continue
            if not defined:
                # A package of contracts for others to use has no tools of its own.
                return
            close = near(value.value, defined)
            entry.report(
                ctx,
                fallback,
                f"{entry.label} sends the caller to the tool {shortened(value.value)!r}, which the project does not "
                "define",
                help=f"did you mean {close!r}?"
                if close
                else "name a tool as tools/list shows it, or list tools of other servers in external_tools= of the "
                "server",
            )
            return


class ContractHintTooLong(EntryRule):
    """A text that the wire cuts."""

    id = "error-contract-hint-too-long"
    severity = Severity.WARNING
    family: ClassVar[Family] = "contract"
    summary = "message or hint longer than the wire allows"
    why = (
        "A message is cut after 1,000 characters and a hint after 500, so the end of it never reaches the agent; and "
        "the end is often where the next step stands."
    )
    bad = 'FailureMode("no_match", ..., recovery="Call search_articles ... (600 characters)")'
    good = 'FailureMode("no_match", ..., recovery="Call search_articles to discover valid PMIDs first.")'
    how_to_fix = "Say the step, and leave the explanation to the description of the tool or to `data`."
    when_to_suppress = "When the server is made with wider `limits`."

    def check_entry(self, entry: Entry, ctx: RuleContext) -> None:
        """Report a text of an entry that the wire cuts."""
        for name in ("when", "recovery", "user_message"):
            limit = bounds.MESSAGE if name == "when" else bounds.HINT
            length = _longest(entry.arguments[name])
            if length > limit:
                entry.report(
                    ctx,
                    entry.arguments[name],
                    f"the {name} of {entry.label} has {length} characters; the wire carries {limit}",
                    help="say the step, and leave the explanation to the tool's description or to data",
                )

    def check_handler(self, handler: Handler, tool: ToolDef, ctx: RuleContext) -> None:
        """Report a text at a throw that the wire cuts."""
        for error in handler.errors:
            if error.form not in {"fail", "factory", "coded"}:
                continue
            for name, limit, length in _at_throw(error):
                if length > limit:
                    where = error.message if name == "message" else error.recovery
                    ctx.report(
                        where.node or error.node,
                        f"the {name} has {length} characters; the wire carries {limit}",
                        help="say the step, and leave the explanation to the tool's description or to data",
                        tool=tool,
                        module=error.module,
                    )


def _length(value: Value) -> int:
    """The characters that a text has at least."""
    if isinstance(value, Const) and isinstance(value.value, str):
        return len(value.value.strip())
    return value.known_length if isinstance(value, Text) else 0


def _longest(argument: Argument) -> int:
    value = argument.value
    return max(map(_length, options(value)), default=0) if isinstance(value, Choice) else _length(value)


def _at_throw(error: ErrorSite) -> list[tuple[str, int, int]]:
    found = [
        ("message", bounds.MESSAGE, _longest(error.message)),
        ("recovery", bounds.HINT, _longest(error.recovery)),
    ]
    for value in options(error.recovery.value):
        if isinstance(value, Mapping):
            for key in ("hint", "userMessage"):
                inner = value.get(key)
                if inner is not None:
                    found.append((key, bounds.HINT, max(_length(each) for each in options(inner))))
    return found
