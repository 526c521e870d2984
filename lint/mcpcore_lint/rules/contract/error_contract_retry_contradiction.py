"""error-contract-retry-contradiction."""

import re
from typing import Final

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.engine.registrations.hints import hints_of
from mcpcore_lint.model import Text, Value, is_left_out, string
from mcpcore_lint.patterns import regex
from mcpcore_lint.rule import RuleContext
from mcpcore_lint.rules._advice import CHANGED_BY_HINTS, Advice, advice_of
from mcpcore_lint.rules._tools import tool_entries
from mcpcore_lint.rules._wording import shortened
from mcpcore_lint.rules.contract._entries import Entry, EntryRule, Problem

HOPELESS: Final = frozenset(
    {"PARSE_ERROR", "INVALID_REQUEST", "METHOD_NOT_FOUND", "INVALID_PARAMS", "NOT_FOUND", "FORBIDDEN", "UNAUTHORIZED",
     "VALIDATION_ERROR", "CONFIGURATION_ERROR"}
)  # fmt: skip
"""Codes of failures that the same call always meets again. Conflicts and faults inside a server may pass."""

_WAIT_FOR: Final = regex(
    r"\b(?:wait|waiting|retry|retrying|(?:try|call)(?: it| this| the tool)? again|back off)"
    r"(?: (?:for|in|after|the|once|another|(?P<loose>about|around|at least|at most|up to)))* ~?"
    r"(?P<number>\d+(?:\.\d+)?|(?:an?|one)(?=[\s-]))(?P<range>\s*(?:to|-|\u2013|or)\s*\d+)?(?:\s+|-)?"
    r"(?P<unit>seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|days?)(?![\w-])",
    re.IGNORECASE,
)
_SECONDS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_WAIT_SOME: Final = regex(
    r"\b(?:wait(?:ing)? (?:a|for a|some|several|briefly|and (?:then )?(?:retry|try)|before (?:retrying|trying))"
    r"|(?:retry|try (?:it |this |the same call )?again) (?:later|shortly|soon|in a (?:few|little|moment|while))"
    r"|retry the (?:same )?(?:call|request) (?:later|shortly|unchanged|as it is)|back off and (?:retry|try))\b",
    re.IGNORECASE,
)
_NO_RETRY: Final = regex(
    r"\b(?:do not|don't|never|must not|should not) (?:retry|try again)"
    r"(?P<now>,? (?:immediately|at once|right away|straight away))?(?=\s*(?:[.;:!]|\Z))"
    r"|\bretrying (?:will not|won't|does not|doesn't|cannot|can't|is (?:no use|pointless|useless))\b",
    re.IGNORECASE,
)
# Each of the three patterns above needs one of these.
_ABOUT_RETRYING: Final = ("wait", "retr", "again", "back off")
_NEGATED: Final = regex(
    r"\b(?:do not|don't|never|not|no need to|no point in|no use in|without|cannot|can't|won't|instead of|rather than"
    r"|useless to|pointless to)(?: \w+){0,2} \Z",
    re.IGNORECASE,
)


class ContractRetryContradiction(EntryRule):
    """The retry advice of a failure mode contradicts its code, its hint or its strategy.

    Summary: the retry advice contradicts the code or the hint (NOT_FOUND "retryable", "wait" but not retryable)
    Why: The client follows `retry` and the model follows the hint. If they differ, one of the two waits in vain or
        gives up too early. An entry without `retry` gets the advice of its code. If a second call could do something
        twice, the runtime may withhold this advice, and the rule reports nothing.
    How to fix: Declare the `retry` that the hint describes, reword the hint, or choose a code that fits both.
    When to suppress: When the hint is about a different call, not the one that failed.

    Bad:
        FailureMode("no_match", ErrorCode.NOT_FOUND, when="...", recovery="Wait 30 seconds and try again.")
    Good:
        FailureMode("busy", ErrorCode.RATE_LIMITED, when="...", recovery="Wait 30 seconds and try again.")
    """

    severity = Severity.WARNING

    def check_entry(self, entry: Entry, ctx: RuleContext) -> None:
        """Report the first contradiction of an entry."""
        code = entry.model.code_value
        retry, hint, strategy = (entry.model.arguments[name] for name in ("retry", "recovery", "strategy"))
        advice = advice_of(retry.value, code)
        # A contradiction inside a function that makes the failure mode is reported there.
        parts = (entry.model.arguments["code"], retry, hint, strategy)
        is_here = any(entry.is_written(argument.value) for argument in parts)
        if advice is None or not is_here or (not advice.explicit and _may_be_withheld(entry, ctx)):
            return
        name = code.name if code is not None else ""
        another = "choose a code for temporary failures, such as SERVICE_UNAVAILABLE"
        if name in HOPELESS and advice.explicit and advice.seconds is not None:
            message = f"{entry.label} is {advice.words}, but the same call always fails with {name} again"
            entry.report(ctx, retry, Problem(message, f"leave retry out, or {another}"))
            return
        what = f"its retry says {advice.words}" if advice.explicit else f"{name} is {advice.words}"
        step = "make the retry and the hint say the same"
        if advice.seconds is None and name in HOPELESS:
            step = f"reword the hint, or {another}"
        elif not advice.explicit:
            step = "declare the retry that the hint describes, or reword the hint"
        text = _hint(hint.value)
        words = _contradiction(text, advice) if any(part in text.lower() for part in _ABOUT_RETRYING) else None
        if words is not None:
            problem = Problem(f"the hint of {entry.label} says {shortened(words)!r}, but {what}", step)
            entry.report(ctx, retry if advice.explicit and retry.node is not None else hint, problem)
        elif advice.seconds is None and strategy.text == "retry_later":
            problem = Problem(f"the strategy of {entry.label} is to retry later, but {what}", step)
            entry.report(ctx, strategy, problem)


def _may_be_withheld(entry: Entry, ctx: RuleContext) -> bool:
    """Whether the runtime may withhold the advice of the code, since a second call may do something twice."""
    effects, code = entry.model.arguments["effects"], entry.model.code_value
    if not is_left_out(effects.value):
        return effects.text != "none"
    if code is None or code.name not in CHANGED_BY_HINTS:
        return False
    return any(
        tool.kind == "tool"
        and hints_of(tool).repeatable is not True
        and any(other.node is entry.model.node for _, other in tool_entries(tool))
        for tool in ctx.tools
    )


def _hint(value: Value) -> str:
    """The text of a hint, with a NUL that no pattern matches for each unknown part."""
    parts = value.parts if isinstance(value, Text) else (string(value),)
    return " ".join("\0".join(part or "\0" for part in parts).split())


def _contradiction(hint: str, advice: Advice) -> str | None:
    """The words of a hint that contradict the advice, or None."""
    patterns = (_WAIT_FOR, _WAIT_SOME) if advice.seconds is None else (_WAIT_FOR,) if advice.seconds == 0 else ()
    waits = [match for pattern in patterns for match in pattern.finditer(hint)]
    # "Do not wait 30 seconds" is no wait.
    waits = [match for match in waits if not _NEGATED.search(hint[: match.start()])]
    if waits:
        return str(min(waits, key=lambda match: match.start())[0])
    if advice.seconds is None:
        return None
    refusal = _NO_RETRY.search(hint)
    if refusal and (advice.seconds == 0 or not refusal["now"]):
        return str(refusal[0])
    wait = _WAIT_FOR.search(hint)
    # If the hint names other numbers too, which of them is the wait is unknown.
    if wait is None or wait["loose"] or wait["range"] or len(re.findall(r"\d+(?:\.\d+)?", hint)) > 1:
        return None
    number = float(wait["number"]) if wait["number"][0].isdigit() else 1
    return None if number * _SECONDS[wait["unit"][0].lower()] == advice.seconds else str(wait[0])
