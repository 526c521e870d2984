"""error-contract-retry-contradiction."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.model import Const, Text, is_left_out
from mcpcore_lint.patterns import regex
from mcpcore_lint.registrations.hints import hints_of
from mcpcore_lint.rules._advice import CHANGED, CHANGED_BY_HINTS, Advice, advice_of
from mcpcore_lint.rules._contracts import tool_entries
from mcpcore_lint.rules._wording import shortened
from mcpcore_lint.rules.contract._entries import Entry, EntryRule

if TYPE_CHECKING:
    import ast

    from mcpcore_lint.model import Value
    from mcpcore_lint.rule import RuleContext

HOPELESS: Final = frozenset(
    {
        "PARSE_ERROR",
        "INVALID_REQUEST",
        "METHOD_NOT_FOUND",
        "INVALID_PARAMS",
        "NOT_FOUND",
        "FORBIDDEN",
        "UNAUTHORIZED",
        "VALIDATION_ERROR",
        "CONFIGURATION_ERROR",
    }
)
"""Codes of failures that the same call always meets again. Conflicts and faults inside a server may pass."""

_COUNTING: Final = "zero one two three four five six seven eight nine ten eleven twelve"
_NUMBERS: Final = {
    **{name: float(number) for number, name in enumerate(_COUNTING.split())},
    "a": 1.0,
    "an": 1.0,
    "fifteen": 15.0,
    "twenty": 20.0,
    "thirty": 30.0,
    "forty-five": 45.0,
    "sixty": 60.0,
}
_SECONDS: Final = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_UNIT: Final = r"(?P<unit>milliseconds?|msecs?|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|days?)(?![\w-])"
_NUMBER: Final = rf"\d+(?:\.\d+)?|{'|'.join(sorted(map(re.escape, _NUMBERS), key=len, reverse=True))}"
_LEAD: Final = (
    r"\b(?:wait(?:ing)?|retry(?:ing)?(?: (?:it|this|(?:the|this|your)(?: same)? (?:call|request|tool|operation)))?"
    r"|(?:try|trying|call|calling)(?: it| this| the tool)? again|back off)"
    r"(?P<how>(?: (?:for|in|after|about|around|approximately|roughly|at least|at most|up to|no more than|the|once|until"
    r"|a further|another|some))*) ~?"
)
_WAIT_FOR: Final = regex(
    rf"{_LEAD}(?P<low>{_NUMBER})(?:\s*(?:to|-|\u2013|or)\s*(?P<high>{_NUMBER}))?(?:\s+|-)?{_UNIT}", re.IGNORECASE
)
_DURATION: Final = regex(rf"\b(?:{_NUMBER})\s*{_UNIT.replace('?P<unit>', '?:')}", re.IGNORECASE)
_WAIT_SOME: Final = regex(
    r"\b(?:wait(?:ing)? (?:a|for a|some|a few|a little|several|briefly|and (?:then )?(?:retry|try)"
    r"|before (?:retrying|trying))"
    r"|(?:retry|try again|try (?:it|this) again)"
    r" (?:later|shortly|soon|in a (?:few|little|moment|while)|after a (?:few|while))"
    r"|retry the (?:same )?(?:call|request) (?:later|shortly|unchanged|as it is)|back off and (?:retry|try)"
    r"|try (?:the same call|again) (?:later|shortly|soon))\b",
    re.IGNORECASE,
)
_NO_RETRY: Final = regex(
    r"\b(?:do not|don't|never|must not|should not|no point in|no use in)"
    r" (?:retry(?:ing)?|try(?:ing)? again)\b"
    r"(?!,? (?:before|until|more|for|within|too|immediately|at once|right away|straight away|again and|in a loop"
    r"|blindly|without|unless|if|while|yet|faster|sooner|automatically|except|other|any))"
    r"|\bretrying (?:will not|won't|does not|doesn't|cannot|can't|is (?:no use|pointless|useless)|never)\b"
    r"|\b(?:is|are) not retr(?:y|i)able\b",
    re.IGNORECASE,
)
_NOT_NOW: Final = regex(
    r"\b(?:do not|don't|never) (?:retry|try again),? (?:immediately|at once|right away|straight away)\b", re.IGNORECASE
)
_NEGATED: Final = regex(
    r"\b(?:do not|don't|never|not|no need to|no point in|no use in|without|cannot|can't|won't|instead of|rather than"
    r"|useless to|pointless to)(?: \w+){0,2} \Z",
    re.IGNORECASE,
)


class ContractRetryContradiction(EntryRule):
    """The retry advice of a failure mode contradicts its code, its hint or its strategy."""

    id = "error-contract-retry-contradiction"
    severity = Severity.WARNING
    summary = 'retry advice that its code or its hint contradicts (NOT_FOUND "retryable", "wait" but not retryable)'
    why = (
        "The client follows `retry` and the model follows the hint. If they differ, one of them waits in vain or gives "
        "up too early. An entry without `retry` has the advice of its code. The runtime withholds that advice if "
        '`effects` is "partial" or "unknown" and, for SERVICE_UNAVAILABLE and TIMEOUT, if the tool is annotated as '
        "neither read-only nor idempotent."
    )
    bad = 'FailureMode("no_match", ErrorCode.NOT_FOUND, when="...", recovery="Wait 30 seconds and try again.")'
    good = (
        'FailureMode("queue_full", ErrorCode.RATE_LIMITED, when="...", recovery="Wait 30 seconds and try again.",\n'
        "            retry=Retry.after(seconds=30))"
    )
    how_to_fix = "Declare the `retry` that the hint describes, reword the hint, or choose a code that fits both."
    when_to_suppress = "When the hint is about another call than the one that failed."

    def check_entry(self, entry: Entry, ctx: RuleContext) -> None:
        """Report the first contradiction of an entry."""
        code = entry.model.code_value
        advice = _effective_advice(entry, ctx)
        if advice is None:
            return
        retry = entry.arguments["retry"]
        hopeless = code is not None and code.name in HOPELESS
        if advice.explicit and advice.seconds is not None and code is not None and hopeless:
            entry.report(
                ctx,
                retry,
                f"{entry.label} is {advice.words}, but the same call always fails with {code.name} again",
                help="leave retry out, or choose a code for failures that pass, such as SERVICE_UNAVAILABLE",
            )
            return
        source = "its retry" if advice.explicit or code is None else code.name
        words = _contradiction(_hint(entry.arguments["recovery"].value), advice)
        if words is not None:
            step = "declare the retry that the hint describes, or reword the hint"
            if advice.withheld:
                step = 'declare effects="none" if the call fails before it changes anything, or reword the hint'
            elif advice.seconds is None and hopeless:
                step = "reword the hint, or choose a code for failures that pass, such as SERVICE_UNAVAILABLE"
            elif advice.explicit:
                step = "make the retry and the hint say the same"
            entry.report(
                ctx,
                retry if advice.explicit and retry.node is not None else entry.arguments["recovery"],
                f"the hint of {entry.label} says {shortened(words)!r}, but "
                + (_withheld(source, advice) or f"{source} {'says' if advice.explicit else 'is'} {advice.words}"),
                help=step,
            )
        elif advice.seconds is None and entry.arguments["strategy"].text == "retry_later":
            entry.report(
                ctx,
                entry.arguments["strategy"],
                f"the strategy of {entry.label} is to retry later, but "
                + (_withheld(source, advice) or f"{source} is not retryable"),
                help='declare effects="none" if the call fails before it changes anything, or another strategy'
                if advice.withheld
                else "declare a retry, or another strategy",
            )


def _withheld(source: str, advice: Advice) -> str:
    return f"the advice of {source} is withheld, because {advice.withheld}" if advice.withheld else ""


def _effective_advice(entry: Entry, ctx: RuleContext) -> Advice | None:
    """The advice that clients get; None if it is unknown."""
    code = entry.model.code_value
    advice = advice_of(entry.arguments["retry"].value, code)
    if advice is None or advice.explicit or advice.seconds is None or code is None:
        return advice
    # The runtime withholds the advice of the code if a second call may do something twice.
    effects = entry.arguments["effects"]
    if not is_left_out(effects.value):
        if effects.text in CHANGED:
            return Advice(None, explicit=False, withheld=f"its effects are {effects.text!r}")
        return advice if effects.text == "none" else None
    unsafe = _unsafe_uses(ctx).get(entry.model.node, []) if code.name in CHANGED_BY_HINTS else []
    if not any(unsafe):
        return advice
    why = "the tool is neither read-only nor idempotent"
    return Advice(None, explicit=False, withheld=why) if all(unsafe) else None


def _unsafe_uses(ctx: RuleContext) -> dict[ast.AST, list[bool]]:
    """For each entry, which tools that declare it are annotated as neither read-only nor idempotent."""
    uses: dict[ast.AST, list[bool]] | None = ctx.module.memo.get("unsafe entries")
    if uses is None:
        uses = ctx.module.memo["unsafe entries"] = {}
        for tool in ctx.tools:
            unsafe = tool.kind == "tool" and hints_of(tool).unsafe
            for _, entry in tool_entries(tool):
                uses.setdefault(entry.node, []).append(unsafe)
    return uses


def _hint(value: Value) -> str:
    """The text of a hint, with a NUL that no pattern matches for each unknown part."""
    if isinstance(value, Const) and isinstance(value.value, str):
        return " ".join(value.value.split())
    if isinstance(value, Text):
        return " ".join("\0".join(part or "\0" for part in value.parts).split())
    return ""


def _contradiction(hint: str, advice: Advice) -> str | None:
    """The words of a hint that contradict the advice, or None."""
    waits = [match for match in _WAIT_FOR.finditer(hint) if not _negated(hint, match)]
    if advice.seconds is None:
        vague_waits = [match for match in _WAIT_SOME.finditer(hint) if not _negated(hint, match)]
        first = min((*waits, *vague_waits), key=lambda match: match.start(), default=None)
        return first[0] if first is not None else None
    if refusal := _NO_RETRY.search(hint) or (advice.seconds == 0 and _NOT_NOW.search(hint)):
        return refusal[0]
    # If the hint names other durations too, which of them is the wait is unknown.
    if waits and not any(_agrees(match, advice.seconds) for match in waits):
        return waits[0][0] if len(_DURATION.findall(hint)) <= len(waits) else None
    return None


def _negated(hint: str, match: re.Match[str]) -> bool:
    """Whether the words before a match negate it."""
    return match.start() > 0 and _NEGATED.search(hint[: match.start()]) is not None


def _agrees(match: re.Match[str], seconds: float) -> bool:
    """Whether a wait in a hint is as long as the advice says."""
    unit = match["unit"].lower()
    size = 0.001 if unit == "ms" or unit.startswith(("mil", "mse")) else _SECONDS[unit[0]]
    low, high = (_number(number) * size for number in (match["low"], match["high"] or match["low"]))
    qualifier = match["how"].lower()
    if "at least" in qualifier:
        return seconds >= low
    if any(words in qualifier for words in ("at most", "up to", "no more than")):
        return seconds <= high
    slack = 0.5 if any(word in qualifier for word in ("about", "around", "approximately", "roughly")) else 0.001
    return low * (1 - slack) <= seconds <= high * (1 + slack)


def _number(text: str) -> float:
    return _NUMBERS[text.lower()] if text.lower() in _NUMBERS else float(text)
