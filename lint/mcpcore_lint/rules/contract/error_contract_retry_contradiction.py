"""The rule error-contract-retry-contradiction."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar, Final

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.model import Const, Text, is_left_out
from mcpcore_lint.patterns import holds_any, regex
from mcpcore_lint.registrations.hints import hints_of
from mcpcore_lint.rules._advice import CHANGED, CHANGED_BY_HINTS, Advice, advice_of
from mcpcore_lint.rules._wording import shortened
from mcpcore_lint.rules.contract._entries import Entry, EntryRule, contracts_of, entries_of

if TYPE_CHECKING:
    import ast

    from mcpcore_lint.model import Value
    from mcpcore_lint.rules.base import Family, RuleContext

# ---------------------------------------------------------------------------------------------------------------------
# Contradictions.
# ---------------------------------------------------------------------------------------------------------------------

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
"""Codes of failures that the same call meets again, however often it is made. Of the other codes whose own advice is
never, a conflict may be over a moment later, and so may what is wrong inside a server."""

_NUMBERS: Final = {
    each: float(number)
    for number, each in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve".split()  # noqa: SIM905 - easier to read
    )
} | {"a": 1.0, "an": 1.0, "fifteen": 15.0, "twenty": 20.0, "thirty": 30.0, "forty-five": 45.0, "sixty": 60.0}
_UNITS: Final = (
    (regex(r"(?:milliseconds?|msecs?|ms)\Z", re.IGNORECASE), 0.001),
    (regex(r"(?:seconds?|secs?|s)\Z", re.IGNORECASE), 1.0),
    (regex(r"(?:minutes?|mins?|m)\Z", re.IGNORECASE), 60.0),
    (regex(r"(?:hours?|hrs?|h)\Z", re.IGNORECASE), 3600.0),
    (regex(r"days?\Z", re.IGNORECASE), 86400.0),
)
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
_OF_RETRYING: Final = ("wait", "retr", "again", "back off", "same call")
"""One of them is in every text of ASCII that these patterns match: most hints speak of something else."""
_OF_REFUSING: Final = ("no", "n't", "never", "pointless", "useless")
"""The same for what says not to retry."""
_NEGATED: Final = regex(
    r"\b(?:do not|don't|never|not|no need to|no point in|no use in|without|cannot|can't|won't|instead of|rather than"
    r"|useless to|pointless to)(?: \w+){0,2} \Z",
    re.IGNORECASE,
)


class ContractRetryContradiction(EntryRule):
    """Advice in two voices."""

    id = "error-contract-retry-contradiction"
    severity = Severity.WARNING
    family: ClassVar[Family] = "contract"
    summary = 'retry advice that its code or its hint contradicts (NOT_FOUND "retryable", "wait" but not retryable)'
    why = (
        "A program follows `retry`, a model follows the hint. Where the two differ, one of them waits in vain or gives "
        "up too early. An entry without `retry` has its code's advice. The runtime withholds that advice where "
        '`effects` is "partial" or "unknown", and for SERVICE_UNAVAILABLE and TIMEOUT if the tool is annotated as '
        "neither read-only nor idempotent."
    )
    bad = 'FailureMode("no_match", ErrorCode.NOT_FOUND, when="...", recovery="Wait 30 seconds and try again.")'
    good = (
        'FailureMode("queue_full", ErrorCode.RATE_LIMITED, when="...", recovery="Wait 30 seconds and try again.",\n'
        "            retry=Retry.after(seconds=30))"
    )
    how_to_fix = "Give the `retry` that the hint speaks of, reword the hint, or choose the code that fits both."
    when_to_suppress = "When the hint speaks of another call than the one that failed."

    def check_entry(self, entry: Entry, ctx: RuleContext) -> None:
        """Report the first contradiction of an entry."""
        code = entry.model.code_value
        advice = _effective(entry, ctx)
        if advice is None:
            return
        retry = entry.arguments["retry"]
        if advice.explicit and advice.seconds is not None and code is not None and code.name in HOPELESS:
            entry.report(
                ctx,
                retry,
                f"{entry.label} is {advice.words}, but the same call meets {code.name} again however often it is made",
                help="leave retry out, or choose a code for failures that pass, such as SERVICE_UNAVAILABLE",
            )
            return
        whose = "its retry" if advice.explicit or code is None else code.name
        saying = f"{whose} {'says' if advice.explicit else 'is'} {advice.words}"
        if advice.withheld:
            saying = f"the advice of {whose} is withheld, because {advice.withheld}"
        said = _contradiction(_hint(entry.arguments["recovery"].value), advice)
        if said is not None:
            step = "give the retry that the hint speaks of, or reword the hint"
            if advice.withheld:
                step = 'declare effects="none" if the call fails before it changes anything, or reword the hint'
            elif advice.seconds is None and code is not None and code.name in HOPELESS:
                step = "reword the hint, or choose a code for failures that pass, such as SERVICE_UNAVAILABLE"
            elif advice.explicit:
                step = "make the retry and the hint say the same"
            entry.report(
                ctx,
                retry if advice.explicit and retry.node is not None else entry.arguments["recovery"],
                f"the hint of {entry.label} says {shortened(said)!r}, but {saying}",
                help=step,
            )
            return
        strategy = entry.arguments["strategy"]
        if advice.seconds is None and strategy.text == "retry_later":
            if not advice.withheld:
                saying = f"{whose} is not retryable"
            entry.report(
                ctx,
                strategy,
                f"the strategy of {entry.label} is to retry later, but {saying}",
                help='declare effects="none" if the call fails before it changes anything, or give another strategy'
                if advice.withheld
                else "give a retry, or another strategy",
            )


def _effective(entry: Entry, ctx: RuleContext) -> Advice | None:
    """The advice in force; None where it cannot be known."""
    code = entry.model.code_value
    advice = advice_of(entry.arguments["retry"].value, code)
    if advice is None or advice.explicit or advice.seconds is None or code is None:
        return advice
    # The runtime withholds the code's own advice where a second call may do something twice.
    effects = entry.arguments["effects"]
    if not is_left_out(effects.value):
        if effects.text in CHANGED:
            return Advice(None, explicit=False, withheld=f"its effects are {effects.text!r}")
        return advice if effects.text == "none" else None
    used = _used_by(entry, ctx) if code.name in CHANGED_BY_HINTS else []
    if not any(used):
        return advice
    why = "the tool is neither read-only nor idempotent"
    return Advice(None, explicit=False, withheld=why) if all(used) else None


def _used_by(entry: Entry, ctx: RuleContext) -> list[bool]:
    """For each tool of the file that has the entry, whether it is annotated as neither read-only nor idempotent."""
    calls: dict[ast.AST, list[bool]] | None = ctx.module.memo.get("unsafe entries")
    if calls is None:
        calls = ctx.module.memo["unsafe entries"] = {}
        for tool in ctx.tools:
            unsafe = tool.kind == "tool" and hints_of(tool).unsafe
            for contract in contracts_of(tool, ctx):
                for _, each in entries_of(contract, ctx):
                    calls.setdefault(each.node, []).append(unsafe)
    return calls.get(entry.model.node, [])


def _hint(value: Value) -> str:
    """The text of a hint; what is not known of it is a gap that no pattern crosses."""
    if isinstance(value, Const) and isinstance(value.value, str):
        return " ".join(value.value.split())
    if isinstance(value, Text):
        return " ".join("\0".join(part or "\0" for part in value.parts).split())
    return ""


def _contradiction(hint: str, advice: Advice) -> str | None:
    """The words of a hint that the advice contradicts; None where they agree, or cannot be told."""
    plain = hint.lower() if hint.isascii() else None
    if plain is not None and not holds_any(plain, _OF_RETRYING):
        return None
    waits = [each for each in _WAIT_FOR.finditer(hint) if not _negated(hint, each)]
    if advice.seconds is None:
        some = [each for each in _WAIT_SOME.finditer(hint) if not _negated(hint, each)]
        first = min((*waits, *some), key=lambda each: each.start(), default=None)
        return first[0] if first is not None else None
    if plain is None or holds_any(plain, _OF_REFUSING):
        if refused := _NO_RETRY.search(hint):
            return refused[0]
        if advice.seconds == 0 and (later := _NOT_NOW.search(hint)):
            return later[0]
    if waits and not any(_agrees(each, advice.seconds) for each in waits) and not _more_durations(hint, waits):
        return waits[0][0]
    return None


def _negated(hint: str, match: re.Match[str]) -> bool:
    """Whether the words before a match turn it into its opposite."""
    return match.start() > 0 and _NEGATED.search(hint[: match.start()]) is not None


def _more_durations(hint: str, waits: list[re.Match[str]]) -> bool:
    """Whether a hint speaks of further stretches of time, so that which one is meant is anybody's guess."""
    return len(re.findall(rf"\b(?:{_NUMBER})\s*{_UNIT.replace('?P<unit>', '?:')}", hint, re.IGNORECASE)) > len(waits)


def _agrees(match: re.Match[str], seconds: float) -> bool:
    unit = next(size for pattern, size in _UNITS if pattern.match(match["unit"]))
    low = _number(match["low"]) * unit
    high = _number(match["high"]) * unit if match["high"] else low
    how = match["how"].lower()
    if "at least" in how:
        return seconds >= low
    if any(each in how for each in ("at most", "up to", "no more than")):
        return seconds <= high
    slack = 0.5 if any(each in how for each in ("about", "around", "approximately", "roughly")) else 0.001
    return low * (1 - slack) <= seconds <= high * (1 + slack)


def _number(text: str) -> float:
    return _NUMBERS[text.lower()] if text.lower() in _NUMBERS else float(text)
