"""Whether a call changed anything before it failed: what is declared, and what follows from a tool's annotations.

A read is safe to repeat; a message that is sent again may arrive twice. An entry of the contract or a throw site says
what is known ("none", "partial" or "unknown"). Where neither says anything, the annotations of the tool do: a tool
with `read_only_hint=True` changes nothing, and a timeout or a crash of a tool with `read_only_hint=False` and
`idempotent_hint=False` may come before or after the change. Of a server that is not of mcpcore, the proxy reads hints
that are left out by the defaults of MCP.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from mcpcore.codes import EFFECTS, Code, Effects, ErrorCode
from mcpcore.retry import Retry

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mcpcore.contract import Contract
    from mcpcore.errors import CodedError

PHRASES: Final[dict[Effects, str]] = {
    "none": "nothing was changed",
    "partial": "a part of it took effect: check before you call again",
    "unknown": "it may have taken effect: check before you call again",
}
"""The effects in the words of the text form."""

CHANGED: Final[frozenset[Effects | None]] = frozenset({"partial", "unknown"})
"""The effects after which a second call may do something twice."""

UNCERTAIN: Final = frozenset({ErrorCode.TIMEOUT, ErrorCode.SERVICE_UNAVAILABLE, ErrorCode.REQUEST_CANCELLED})
"""Codes of failures that leave open whether the operation was carried out."""

_BY_NAME: Final[dict[str, Effects]] = {effects: effects for effects in EFFECTS}

# None is between "none" and "partial": where one of two failures says nothing, "none" cannot be said of both.
_RANKS: Final[dict[Effects | None, int]] = {"none": 0, None: 1, "partial": 2, "unknown": 3}


def as_effects(value: object) -> Effects | None:
    """`value` as effects; None for any other value, such as one of a later version."""
    if not issubclass(type(value), str):
        return None
    return _BY_NAME.get(str.__str__(cast("str", value)))


def weakest(effects: Iterable[Effects | None]) -> Effects | None:
    """The effects of several failures together, in the order none, partial, unknown; None where they are not known."""
    return max(effects, key=_RANKS.__getitem__, default=None)


def default_effects(annotations: object, *, foreign: bool = False) -> Effects | None:
    """The effects that follow from the annotations of a tool for a failure that declares none.

    Args:
        annotations: A `ToolAnnotations`, a mapping with the same names in either spelling, or None.
        foreign: Whether the tool is one of a server that knows nothing of effects. Then a hint that is left out, or is
            no boolean, has its default in MCP: the tool is neither read-only nor idempotent.

    Returns:
        "none" for a tool that only reads; "unknown" for a tool that is explicitly neither read-only nor idempotent, or
        by the defaults of MCP if it is foreign; None for any other.
    """
    read_only = _hint(annotations, "read_only_hint", "readOnlyHint")
    idempotent = _hint(annotations, "idempotent_hint", "idempotentHint")
    if foreign:
        read_only, idempotent = read_only is True, idempotent is True
    if read_only is True:
        return "none"
    return "unknown" if read_only is False and idempotent is False else None


def _hint(annotations: object, name: str, wire_name: str) -> Any:
    if not isinstance(annotations, Mapping):
        return getattr(annotations, name, None)
    hint = annotations.get(name)
    return annotations.get(wire_name) if hint is None else hint


def declared_effects(error: CodedError, contract: Contract[Any] | None = None) -> Effects | None:
    """The effects that the throw site of `error` declares, else those of its entry, which may be one of `contract`."""
    # A subclass may use the name for something else.
    effects = None if error.effects is None else as_effects(error.effects)
    entry = error.entry if error.entry is not None or contract is None else contract.get(error.reason)
    if effects is None and entry is not None and not error.omits_effects:
        return entry.effects
    return effects


def cautious_advice(error: CodedError) -> Retry:
    """The retry advice where a second call may do something twice: an author's, else not to call again."""
    declared = None if error.entry is None else error.entry.retry
    if not error.retry_is_declared and (declared is None or not declared.retryable):
        return Retry.never()
    return error.retry or declared or Retry.never()


class CallState(NamedTuple):
    """What is known of a call when it fails."""

    default: Effects | None
    """The effects that follow from the tool's annotations; see `default_effects`."""

    began: bool = True
    """Whether the handler ran; bad arguments, for one, are noticed earlier."""

    at_least: Effects | None = None
    """The effects of parts of the call that ended earlier, such as the items of a batch."""

    def effects_of(self, code: Code, *, crashed: bool) -> Effects | None:
        """The effects of a failure that declares none."""
        if self.default != "unknown":
            return self.default
        return "unknown" if self.began and (crashed or code in UNCERTAIN) else None


def settled(
    call: CallState | None,
    code: Code,
    retry: Retry,
    *,
    error: CodedError | None = None,
    crashed: bool = False,
    others: Effects | None = "none",
) -> tuple[Effects | None, Retry]:
    """The effects and the retry advice that a failure is sent with.

    Args:
        call: What is known of the call; None where nothing is.
        code: The code of the failure.
        retry: Its advice, which is withheld where it is not an author's and a second call may do something twice.
        error: The failure, unless nobody made it on purpose.
        crashed: Whether it is an exception that nobody declared.
        others: The effects of failures that were raised in the same group.
    """
    declared = None if error is None else declared_effects(error)
    if call is None and others == "none":
        return declared, retry
    effects = declared
    if effects is None and call is not None:
        effects = call.effects_of(code, crashed=crashed)
    least = others if call is None or call.at_least is None else weakest((others, call.at_least))
    if least != "none":
        effects = weakest((effects, least))
    if others in CHANGED:
        return effects, Retry.never()  # the advice of this failure says nothing of the others
    if effects in CHANGED and effects != declared and call is not None and call.default == "unknown":
        retry = Retry.never() if error is None else cautious_advice(error)
    return effects, retry
