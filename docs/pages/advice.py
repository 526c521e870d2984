"""What is sent for every code, by the annotations of the tool and by what the author declares."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from mcpcore.contract.advice import ROWS, advice_phrase
from mcpcore.contract.codes import ErrorCode, Retry
from mcpcore.contract.effects import REPEATABLE, CallState, default_effects, settled
from mcpcore.contract.errors import CodedError
from pages.markdown import table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpcore.contract.codes import Code, Effects

ANNOTATIONS: Final[Mapping[str, Mapping[str, bool]]] = {
    "no annotations": {},
    "`idempotent=True`": {"idempotent": True},
    "`read_only=True`": {"read_only": True},
}
"""The hints of a tool, by their names in `@tool`."""


class Declared(NamedTuple):
    """What is known of a failure besides its code."""

    title: str
    retry: Retry | None = None
    """The advice that the author declares, on the entry or where the failure is raised."""

    effects: Effects | None = None
    """The effects, likewise."""

    found: Retry | None = None
    """The advice of an upstream."""

    crashed: bool = False
    """Whether nobody raised the failure on purpose; its code is that of `classify`."""


DECLARED: Final = (
    Declared("Nothing is declared"),
    Declared("An exception that nobody declared", crashed=True),
    Declared("An upstream sends a Retry-After of 7 seconds", found=Retry.after(seconds=7)),
    Declared("`retry=Retry.now()`", retry=Retry.now()),
    Declared("`retry=Retry.never()`", retry=Retry.never()),
    Declared('`effects="none"`', effects="none"),
    Declared('`effects="partial"`', effects="partial"),
    Declared('`effects="unknown"`', effects="unknown"),
    Declared('`retry=Retry.now(), effects="unknown"`', retry=Retry.now(), effects="unknown"),
)


def sent(code: Code, hints: Mapping[str, bool], declared: Declared) -> tuple[Effects | None, Retry]:
    """The effects and the retry advice that such a failure of such a tool is sent with."""
    call = CallState(default_effects({f"{name}_hint": value for name, value in hints.items()}))
    if declared.crashed:
        return settled(call, code, code.retry, crashed=True)
    error = CodedError(code, retry=declared.retry, effects=declared.effects)
    return error.with_found_advice(declared.found).settled(call)


def phrase(code: Code, hints: Mapping[str, bool], declared: Declared) -> str:
    """The advice as the text of a failure has it."""
    effects, retry = sent(code, hints, declared)
    is_repeatable = default_effects({f"{name}_hint": value for name, value in hints.items()}) in REPEATABLE
    return advice_phrase(retry.kind, retry.after_ms, effects, repeatable=is_repeatable)


def phrases() -> list[str]:
    """The table of phrases."""
    rows: list[list[object]] = [
        [
            "again" if row.retryable else "never",
            row.effects or "not known",
            "yes" if row.repeatable else "no",
            *(text.replace("{retry}", "retry …").replace("{tool}", "X") for text in (row.phrase, row.with_fallback)),
            row.of_item.replace("{retry}", "send this item again …"),
        ]
        for row in ROWS
    ]
    columns = ["retry", "effects", "safe to repeat", "advice", "with the fallback tool X", "for an item of a batch"]
    return ["## Every phrase", "", table(columns, rows), ""]


def page() -> str:
    """The tables."""
    parts = [
        "# Retry advice",
        "",
        "What a client reads after a failure of a tool, by its code, by the annotations of the tool and by what the author "
        "declares, on the entry or where the failure is raised. `tools/list` and the catalog have the same advice. "
        "Hints that are left out have the defaults of MCP: a tool without annotations is treated like one with "
        "`read_only=False, idempotent=False`. [Say whether it is safe to call again](../how-to/effects.md) explains the rules.",
        "",
    ]
    for declared in DECLARED:
        rows: dict[tuple[str, ...], list[str]] = {}
        for code in ErrorCode:
            cells = tuple(phrase(code, hints, declared) for hints in ANNOTATIONS.values())
            rows.setdefault(cells, []).append(f"`{code.name}`")
        largest = max(rows.values(), key=len)
        listed: list[list[object]] = [
            [
                "any other" if codes is largest and len(rows) > 1 else ", ".join(codes) if len(rows) > 1 else "any",
                *cells,
            ]
            for cells, codes in sorted(rows.items(), key=lambda row: row[1] is largest)
        ]
        parts += [f"## {declared.title}", "", table(["code", *ANNOTATIONS], listed), ""]
    return "\n".join([*parts, *phrases()])
