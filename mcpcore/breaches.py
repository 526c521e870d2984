"""How a call can break its contract, and how a breach is described in the log and in its record."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mcpcore.audit.kinds import LOST
from mcpcore.lost import LostFailure, log_lost

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Self

    from mcpcore.audit.kinds import BreachKind
    from mcpcore.boundary import Boundary, Verdict
    from mcpcore.contract import Contract
    from mcpcore.declare.context import Request

_MAX_DESCRIBED: Final = 10
"""Breaches of one call that its description names."""

_MAX_TEXT: Final = 2_000
"""Characters of each breach in a description."""


class Breach(NamedTuple):
    """One way in which a call broke its contract."""

    kind: BreachKind
    text: str


class BrokenContractError(Exception):
    """A call broke its contract, and the server is strict; the cause is the failure that the call ended with."""

    def __init__(self, *breaches: Breach) -> None:
        """Describe `breaches`."""
        super().__init__(*breaches)
        self.breaches = breaches

    @classmethod
    def of(cls, verdict: Verdict, lost: Sequence[LostFailure | BrokenItem]) -> Self:
        """The error of a call that ended with `verdict` and lost `lost`."""
        error = cls(*verdict.breaches, *_breaches_of(lost))
        error.__cause__ = verdict.exception
        return error

    def __str__(self) -> str:
        return described_breaches(self.breaches)


class BrokenItem(NamedTuple):
    """A part of a call that broke the contract while the call went on, on a strict server; recorded already."""

    verdict: Verdict

    @property
    def error(self) -> BaseException:
        """The failure of the part."""
        return self.verdict.exception

    @property
    def breaches(self) -> tuple[Breach, ...]:
        """What the part broke, and where its own record is found."""
        ident = self.verdict.envelope.correlation_id
        return tuple(Breach(kind, f"{text} (an item, id {ident})") for kind, text in self.verdict.breaches)


def described_breaches(breaches: Sequence[Breach]) -> str:
    """What broke, as one text."""
    texts = [text if len(text) <= _MAX_TEXT else f"{text[:_MAX_TEXT]}…" for _, text in breaches[:_MAX_DESCRIBED]]
    if len(breaches) > _MAX_DESCRIBED:
        texts.append(f"{len(breaches) - _MAX_DESCRIBED} more")
    return "; ".join(texts)


def kinds_of(breaches: Sequence[Breach]) -> list[BreachKind]:
    """The kinds of `breaches`, each once."""
    return [*dict.fromkeys(breach.kind for breach in breaches)]


def _breaches_of(noted: Sequence[LostFailure | BrokenItem]) -> list[Breach]:
    """How the failures that were noted in a call broke its contract."""
    breaches: list[Breach] = []
    for one in noted:
        if isinstance(one, LostFailure):
            breaches.append(Breach("lost", one.description))
        else:
            breaches += one.breaches
    return breaches


def note_item(verdict: Verdict, request: Request) -> None:
    """Note that a part of the call of `request` ended with `verdict`; the call fails if that broke the contract."""
    if type(verdict.exception) is BrokenContractError:
        request.noted().add_item(BrokenItem(verdict))


def lost_alone(noted: Sequence[LostFailure | BrokenItem]) -> list[LostFailure]:
    """The lost failures in `noted`."""
    return [one for one in noted if isinstance(one, LostFailure)]


def record_lost(
    boundary: Boundary,
    noted: Sequence[LostFailure | BrokenItem],
    *,
    contract: Contract[Any],
    name: str,
    context: Mapping[str, Any] | None,
    surface: str,
) -> Verdict | None:
    """Log and record the lost failures in `noted`.

    Returns:
        The verdict to answer the call with where a record cannot be written and the policy is to refuse, else None.
    """
    lost = lost_alone(noted)
    log_lost(lost, name)
    for failure, count in _counted(lost):
        if not boundary.trail.listens(failure.identity[0]):
            continue
        verdict = boundary.judge.verdict(failure.error, contract=contract, name=name, context=context, surface=surface)
        verdict.breaches = [*verdict.breaches, *_breaches_of([failure])]
        if not boundary.recorded(verdict, surface, outcome=LOST, count=count):
            return boundary.unrecorded(contract=contract, name=name, context=context)
    return None


def report_nested(noted: Sequence[LostFailure | BrokenItem], outer: Request | None, name: str) -> None:
    """Report the lost failures of a tool that code on the server called: to the call `outer`, else to the log."""
    if not noted:
        return
    lost = lost_alone(noted)
    if outer is not None:
        outer.noted().adopt(lost)
    else:
        log_lost(lost, name)


def _counted(lost: Sequence[LostFailure]) -> list[tuple[LostFailure, int]]:
    """The first of the lost failures that the same code made with the same reason, and how many of them there are."""
    groups: dict[tuple[object, ...], list[LostFailure]] = {}
    for failure in lost:
        key = (failure.code, failure.offset, *failure.identity)
        groups.setdefault(key, []).append(failure)
    return [(group[0], len(group)) for group in groups.values()]
