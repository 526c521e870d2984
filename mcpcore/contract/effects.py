"""The advice of a failure: whether the call changed anything, and whether the same call is worth making again.

A read is safe to repeat; a message that is sent again may arrive twice. An entry of the contract or a `raise` statement
says what is known. If neither does, the annotations of the tool do: a tool with `read_only_hint=True` changes
nothing, and one with `idempotent_hint=True` may be called twice. A timeout or a crash of any other tool may come before
or after the change, so the advice that its code has by default is not sent. Hints that are left out have the defaults
of MCP (specification of 2025-11-25, `ToolAnnotations`): the tool is neither read-only nor idempotent.

`settled` decides for everything that shows an advice: the wire, `tools/list`, the client and the proxy.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, cast

from mcpcore.contract.codes import EFFECTS, Code, Effects, ErrorCode, Retry

if TYPE_CHECKING:
    from mcpcore.contract.errors import CodedError
    from mcpcore.contract.failure_modes import Contract

PHRASES: Final[dict[Effects, str]] = {
    "none": "nothing was changed",
    "partial": "a part of it took effect",
    "unknown": "it may have taken effect",
}
"""The effects in the words of the text form."""

CHANGED: Final[frozenset[Effects | None]] = frozenset({"partial", "unknown"})
"""The effects after which a second call may do something twice."""

ToolEffects = Literal["none", "repeatable", "unknown", "unstated"]
"""The effects of a tool's calls by its annotations: none; some, which a second call does not add to; or any.

With "unknown" the annotations say so, and with "unstated" the defaults of MCP do.
"""

REPEATABLE: Final[frozenset[ToolEffects | None]] = frozenset({"none", "repeatable"})
"""The effects of tools of which a second call does no harm."""

UNSAFE: Final[frozenset[ToolEffects | None]] = frozenset({"unknown", "unstated"})

_REFUSED: Final = ErrorCode.RATE_LIMITED.http_status
"""The HTTP status of codes whose failures come before the operation is carried out."""

_BY_NAME: Final[dict[str, Effects]] = {effects: effects for effects in EFFECTS}

# None is between "none" and "partial": where one of two failures says nothing, "none" cannot be said of both.
_RANKS: Final[dict[Effects | None, int]] = {"none": 0, None: 1, "partial": 2, "unknown": 3}


def as_effects(value: object) -> Effects | None:
    """`value` as effects; None for any other value, such as one of a later version."""
    if type(value) is str:
        return _BY_NAME.get(value)
    return _BY_NAME.get(str.__str__(cast("str", value))) if issubclass(type(value), str) else None


def weakest(effects: Iterable[Effects | None]) -> Effects | None:
    """The effects of several failures together, in the order none, partial, unknown; None where they are not known."""
    return max(effects, key=_RANKS.__getitem__, default=None)


def default_effects(annotations: object) -> ToolEffects:
    """The effects that follow from the annotations of a tool for a failure that declares none.

    Args:
        annotations: A `ToolAnnotations`, a mapping with the same names in either spelling, or None. A hint that is left
            out, or is no boolean, has its default in MCP: the tool is neither read-only nor idempotent.
    """
    read_only, idempotent = hint_of(annotations, "read_only"), hint_of(annotations, "idempotent")
    if read_only is True:
        return "none"
    if idempotent is True:
        return "repeatable"
    return "unknown" if read_only is False and idempotent is False else "unstated"


def hint_of(annotations: object, name: str) -> Any:
    """The hint `name`, such as "read_only", in the annotations of a tool; None if they have none."""
    if not isinstance(annotations, Mapping):
        return getattr(annotations, f"{name}_hint", None)
    hint = annotations.get(f"{name}_hint")
    return annotations.get(f"{_CAMEL[name]}Hint") if hint is None else hint


_CAMEL: Final = {"read_only": "readOnly", "idempotent": "idempotent", "destructive": "destructive"}

HINTS: Final = tuple(_CAMEL)
"""The hints that `@tool` has short spellings of."""


def declared_effects(error: CodedError, contract: Contract[Any] | None = None) -> Effects | None:
    """The effects that the `raise` of `error` declares, else those of its entry, which may be one of `contract`."""
    # A subclass may use the name for something else.
    effects = None if error.effects is None else as_effects(error.effects)
    entry = error.entry if error.entry is not None or contract is None else contract.get(error.reason)
    return entry.effects if effects is None and entry is not None and not error.omits_effects else effects


class CallState(NamedTuple):
    """What is known of a call when it fails."""

    default: ToolEffects | None
    """The effects that follow from the tool's annotations; None for a resource or a prompt."""

    began: bool = True
    """Whether the handler ran; bad arguments, for one, are noticed earlier."""

    at_least: Effects | None = None
    """The effects of parts of the call that ended earlier, such as the items of a batch."""

    def effects_of(self, code: Code, *, is_open: bool) -> Effects | None:
        """The effects of a failure that declares none.

        They are unknown if the failure leaves open how far the call came: by its code, or `is_open` says so.
        """
        if self.default not in UNSAFE:
            return "none" if self.default == "none" else None
        if not self.began or code.http_status == _REFUSED:
            return None
        return "unknown" if is_open or code.retry.retryable or code is ErrorCode.REQUEST_CANCELLED else None


# There are few, and each failure needs one.
call_state: Final = lru_cache(maxsize=1_000)(CallState)


def settled(
    call: CallState | None,
    code: Code,
    retry: Retry,
    *,
    is_declared: bool = False,
    effects: Effects | None = None,
    crashed: bool = False,
    others: Effects | None = "none",
) -> tuple[Effects | None, Retry]:
    """The effects and the retry advice that a failure is sent with.

    Advice that its author did not declare, such as that of the code or a Retry-After, is kept only where repeating the
    call does no harm: the call changed nothing, it was refused because of a rate limit, or the tool is read-only or
    idempotent, and the author says nothing else of this very failure.

    Args:
        call: What is known of the call of a tool; None where nothing is, and for a resource or a prompt.
        code: The code of the failure.
        retry: Its advice.
        is_declared: Whether an author declared `retry`.
        effects: The effects that an author declared.
        crashed: Whether it is an exception that nobody declared.
        others: The effects of failures that were raised in the same group.
    """
    is_repeatable = effects not in CHANGED and call is not None and call.default in REPEATABLE
    if effects is None and call is not None:
        effects = call.effects_of(code, is_open=crashed or (retry.retryable and not is_declared))
    least = others if call is None or call.at_least is None else weakest((others, call.at_least))
    if least != "none":
        effects = weakest((effects, least))
    if others in CHANGED:
        return effects, Retry.never()  # the advice of this failure says nothing of the others
    return effects, retry if is_declared or is_repeatable or effects not in CHANGED else Retry.never()
