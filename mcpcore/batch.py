"""Batch tools: what succeeded and, for each item that failed, the envelope that it would have had alone."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final, Generic

import anyio
from pydantic import BaseModel, Field
from typing_extensions import TypeVar

from mcpcore.boundary import chosen_of, passes_through
from mcpcore.codes import ErrorCode, code_named
from mcpcore.errors import CodedError
from mcpcore.escaping import one_line
from mcpcore.jsonable import fit, size, to_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mcpcore.context import Context
    from mcpcore.envelope import Envelope

T = TypeVar("T", default=Any)

MAX_FAILURES: Final = 100
"""Failed items that an answer tells in full, where the batch does not say otherwise."""

MAX_BYTES: Final = 256 * 1024
"""Bytes of the failed items of an answer, as JSON."""

_MAX_ITEM: Final = 1024
_MAX_WHOLE: Final = 12 * 1024
"""Bytes of the failed items in the data of a batch that failed as a whole."""

_within: Final[ContextVar[tuple[tuple[object, int], ...]]] = ContextVar("mcpcore_batch_items", default=())
"""The items that are being done, each with its batch, the innermost last; each task has its own."""


class ItemFailure(BaseModel):
    """An item that failed."""

    item: Any = Field(description="The item, as the caller named it.")
    error: dict[str, Any] = Field(description="Why it failed: the envelope of a failed call.")


class BatchResult(BaseModel, Generic[T]):
    """The answer of a batch tool of which some items succeeded."""

    succeeded: list[T] = Field(description="The results of the items that succeeded, in order.")
    failed: list[ItemFailure] = Field(default_factory=list, description="The items that failed, in order.")
    note: str | None = Field(
        default=None,
        exclude_if=lambda note: note is None,
        description="How many more items failed, and why, if not all are listed.",
    )


class Batch(Generic[T]):
    """Collects the outcomes of a batch, item by item; items may be done one after another or at once.

    An item that fails is recorded as a failed call is, and told beside those that succeeded, in the server's dialect.
    The whole call fails where every item failed, and at once where an item fails with a reason whose failure mode says
    `fails_batch=True`. The order is that in which the items were begun. An item that fails leaves nothing behind that
    it had added before.

    ```python
    batch = Batch[Article](ctx)
    for pmid in pmids:
        with batch.item(pmid):
            batch.add(await store.fetch(pmid))
    return batch.result()
    ```
    """

    def __init__(self, ctx: Context[Any, Any], *, max_failures: int = MAX_FAILURES) -> None:
        """Collect for the tool whose context is `ctx`.

        Args:
            ctx: The context of the call.
            max_failures: How many failed items the answer tells in full, within 256 KiB; of the others it tells how
                many there are, by reason. All are recorded.

        Raises:
            ValueError: If `max_failures` is not an int of at least 1.
        """
        if isinstance(max_failures, bool) or not isinstance(max_failures, int) or max_failures < 1:
            raise ValueError(f"Batch(max_failures=...) must be an int of at least 1, not {max_failures!r}")
        self._ctx = ctx
        self._max = max_failures
        self._begun = 0
        self._done = 0
        self._succeeded: list[tuple[int, T]] = []
        self._failed: list[tuple[int, ItemFailure, Envelope]] = []
        self._speakers: list[tuple[int, BaseException]] = []
        self._left_out: Counter[str] = Counter()
        self._bytes = 0

    @contextmanager
    def item(self, item: object) -> Iterator[None]:
        """Do one item; an exception that leaves the block is that item's failure, and the batch goes on.

        Raises:
            Exception: If the failure is one that fails the whole batch.
        """
        number = self._begin()
        around = _within.get()
        _within.set((*around, (self, number)))
        try:
            yield
        except BaseException as exc:
            if not isinstance(exc, Exception) and not _is_stray(exc):
                raise
            speaker = chosen_of(exc, self._ctx.contract)
            if self._is_whole(speaker):
                raise
            self._fail(number, item, exc, speaker)
        else:
            self._done += 1
        finally:
            _within.set(around)

    def add(self, result: T) -> None:
        """Take the result of an item that succeeded."""
        number = next((number for batch, number in reversed(_within.get()) if batch is self), None)
        if number is None:
            number = self._begin()
            self._done += 1
        self._succeeded.append((number, result))

    @property
    def failed(self) -> tuple[ItemFailure, ...]:
        """The items that failed so far, as many as are told in full."""
        return tuple(failure for _, failure, _ in sorted(self._failed, key=_number))

    def result(self) -> BatchResult[T]:
        """The answer.

        Raises:
            CodedError: If every item failed: the failure that says most, with the items in its data.
        """
        if self._failed and not self._done:
            raise self._all_failed() from BaseExceptionGroup("every item failed", [exc for _, exc in self._speakers])
        return BatchResult[T](
            succeeded=[result for _, result in sorted(self._succeeded, key=_number)],
            failed=list(self.failed),
            note=self._note(self._left_out),
        )

    def _begin(self) -> int:
        self._begun += 1
        return self._begun

    def _fail(self, number: int, item: object, exc: BaseException, speaker: BaseException) -> None:
        told = self._ctx.judged(exc)
        self._succeeded = [added for added in self._succeeded if added[0] != number]
        shown = self._ctx.shown(to_json(item, room=_MAX_ITEM))
        failure = ItemFailure(item=fit(shown, _MAX_ITEM), error=self._ctx.part(told))
        weight = size(failure.model_dump())
        if self._failed and (len(self._failed) >= self._max or self._bytes + weight > MAX_BYTES):
            self._left_out[_reason_of(told)] += 1
            return
        self._bytes += weight
        self._failed.append((number, failure, told))
        self._speakers.append((number, speaker))

    def _is_whole(self, speaker: BaseException) -> bool:
        entry = self._ctx.contract.get(speaker.reason) if isinstance(speaker, CodedError) else None
        return entry is not None and entry.fails_batch

    @staticmethod
    def _note(left_out: Mapping[str, int]) -> str | None:
        if not left_out:
            return None
        most = sorted(left_out.items(), key=lambda counted: -counted[1])
        why = ", ".join(f"{count} {name}" for name, count in most[:10])
        return f"{sum(left_out.values())} more items failed and are not listed: {why}{', …' if most[10:] else ''}."

    def _all_failed(self) -> CodedError:
        failures = [(failure, told) for _, failure, told in sorted(self._failed, key=_number)]
        count = len(failures) + sum(self._left_out.values())
        speakers = [exc for _, exc in sorted(self._speakers, key=_number)]
        speaker = chosen_of(BaseExceptionGroup("every item failed", speakers), self._ctx.contract)
        spoken = next((number for number, exc in enumerate(speakers) if exc is speaker), 0)
        told = failures[spoken][1]
        first = "the first" if spoken == 0 and not self._left_out else "one of them"
        message = told.message if count == 1 else f"All {count} items failed; {first}: {told.message}"
        data = self._told(failures, self._left_out)
        if not isinstance(speaker, CodedError):
            codes = {one.name for _, one in failures}
            return CodedError(code_named(told.name) if len(codes) == 1 else ErrorCode.INTERNAL_ERROR, message, data)
        error = CodedError(
            speaker.code,
            message,
            {**told.details, **data},
            reason=speaker.reason,
            recovery=... if speaker.recovery is None else speaker.recovery,
            retry=speaker.retry,
        )
        error.omits_recovery = speaker.omits_recovery
        return error

    def _told(self, failures: list[tuple[ItemFailure, Envelope]], left_out: Counter[str]) -> dict[str, Any]:
        """The data of a batch that failed as a whole: the first items in full, as far as an envelope has room."""
        shown: list[dict[str, Any]] = []
        room = _MAX_WHOLE
        for failure, _ in failures:
            one = failure.model_dump()
            room -= size(one)
            if shown and room < 0:
                break
            shown.append(one)
        rest = Counter(left_out)
        rest.update(_reason_of(told) for _, told in failures[len(shown) :])
        note = self._note(rest)
        return {"failed": shown} if note is None else {"failed": shown, "note": note}


def _reason_of(told: Envelope) -> str:
    """The key by which a note counts failures that are not listed; taken from the envelope, which holds no secret."""
    return one_line(told.reason or told.name)


def _is_stray(exc: BaseException) -> bool:
    """Whether `exc` is the cancellation of something that the item waited for, while nobody cancels the call."""
    if isinstance(exc, asyncio.CancelledError):
        with suppress(RuntimeError, anyio.NoEventLoopError):  # in a worker thread nobody can tell
            return not passes_through(exc)
    return False


def _number(numbered: tuple[Any, ...]) -> Any:
    return numbered[0]
