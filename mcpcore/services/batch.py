"""Batch tools: what succeeded and, for each item that failed, the envelope that it would have had alone."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final, Generic, cast

import anyio
from pydantic import BaseModel, Field, PrivateAttr
from pydantic_core import to_json as json_bytes
from typing_extensions import TypeVar

from mcpcore.boundary.mapper import select_failure
from mcpcore.contract.effects import weakest
from mcpcore.contract.errors import CodedError
from mcpcore.services.batch_failure import FailedItem, Step, WholeFailure, advice_of, note_of, reason_or_code
from mcpcore.services.guarding import contract_guard
from mcpcore.values.escaping import one_line
from mcpcore.values.jsonable import fit, size, to_json
from mcpcore.values.unwrapping import is_a, passes_through

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpcore.contract.codes import Effects
    from mcpcore.declare.context import Context

T = TypeVar("T", default=Any)

MAX_FAILURES: Final = 100
"""Failed items that an answer tells in full, where the batch does not say otherwise."""

MAX_BYTES: Final = 256 * 1024
"""Bytes of the failed items of an answer, as JSON."""

_MAX_ITEM: Final = 1024

_within: Final[ContextVar[tuple[tuple[object, int], ...]]] = ContextVar("mcpcore_batch_items", default=())
"""The items that are being done, each with its batch, the innermost last; each task has its own."""


class ItemFailure(BaseModel):
    """An item that failed.

    ```python
    for failure in answer.failed:
        print(failure.item, failure.error["message"])
    ```

    Attributes:
        item: The item, as the caller named it.
        error: The envelope that a failed call would have.
    """

    item: Any = Field(description="The item, as the caller named it.")
    error: dict[str, Any] = Field(description="Why it failed: the envelope of a failed call.")


class BatchResult(BaseModel, Generic[T]):
    """The answer of a batch tool of which some items succeeded.

    Attributes:
        succeeded: The results of the items that succeeded, in order.
        failed: The items that failed, in order.
        advice: Which of the failed items may be sent again, and when.
        note: How many more items failed, and why, if not all are listed.
    """

    succeeded: list[T] = Field(description="The results of the items that succeeded, in order.")
    failed: list[ItemFailure] = Field(default_factory=list, description="The items that failed, in order.")
    advice: str | None = Field(
        default=None,
        exclude_if=lambda advice: advice is None,
        description="Which of the failed items may be sent again, and when.",
    )
    note: str | None = Field(
        default=None,
        exclude_if=lambda note: note is None,
        description="How many more items failed, and why, if not all are listed.",
    )
    _lines: tuple[str, ...] = PrivateAttr(default=())
    """A paragraph for each failed item."""

    _count: str = PrivateAttr(default="")
    """How many items were done, as a sentence."""

    def __mcpcore_text__(self) -> str | None:
        """The answer as models read it; None if no item failed, or another part of the program made the answer."""
        # A handler may have changed the answer since.
        if not self._lines or len(self._lines) != len(self.failed):
            return None
        done = one_line(json_bytes(self.succeeded, fallback=str).decode())
        parts = [f"{self._count} {self._lines[0]}", *self._lines[1:]]
        if self.note is not None:
            parts.append(self.note)
        parts.append(f"Done: {done}")
        if self.advice is not None:
            parts.append(f"({self.advice})")
        return "\n\n".join(parts)


class Batch(Generic[T]):
    """Collects the outcomes of a batch, item by item; items may be done one after another or concurrently.

    An item that fails is recorded as a failed call is, and told beside those that succeeded, in the server's dialect.
    The order is that in which the items were begun. An item that fails leaves nothing behind that it had added before.

    The whole call fails immediately if an item fails with a reason whose failure mode says `fails_batch=True`, and at
    the end if every item failed. The failure is then the same whatever the order of the items. It has the reason that
    all items share; without a shared reason, it has the most severe code of `mcpcore.contract.codes.SEVERITY`. Its
    `data` has the number of items by reason in `counts`, and the items in `failed`, the most severe first. Its retry
    advice is the most cautious of the items: never, else the longest wait, else now.

    ```python
    @tool(errors=[NO_ARTICLE])
    async def fetch_articles(ctx: Context[Literal["no_article"]], pmids: list[str]) -> BatchResult[Article]:
        '''Fetch articles by their ids.'''
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
        self._failed: list[tuple[int, ItemFailure]] = []
        self._items: list[tuple[int, FailedItem]] = []
        self._exceptions: list[BaseException] = []
        self._whole = WholeFailure(max_items=max_failures)
        self._left_out: Counter[str] = Counter()
        self._unlisted: Counter[Step] = Counter()
        self._bytes = 0
        self._effects: list[Effects | None] = []
        self._guard = contract_guard(ctx.contract) if ctx.contract.mapped else None

    @contextmanager
    def item(self, item: object) -> Iterator[None]:
        """Do one item; an exception that leaves the block is that item's failure, and the batch goes on.

        Args:
            item: The item, as the caller named it.

        Raises:
            Exception: If the failure is one that fails the whole batch.
        """
        number = self._begin()
        around = _within.get()
        _within.set((*around, (self, number)))
        try:
            if self._guard is None:
                yield
            else:
                with self._guard:
                    yield
        except BaseException as exc:
            if not isinstance(exc, Exception) and not _is_stray(exc):
                raise
            speaker = select_failure(exc, self._ctx.contract)
            if self._is_whole(speaker):
                self._tell_call()
                raise
            self._fail(number, item, exc, speaker)
        else:
            self._done += 1
            self._tell_call()
        finally:
            _within.set(around)

    def add(self, result: T) -> None:
        """Take the result of an item that succeeded.

        Args:
            result: The result.
        """
        number = next((number for batch, number in reversed(_within.get()) if batch is self), None)
        if number is None:
            number = self._begin()
            self._done += 1
        self._succeeded.append((number, result))

    @property
    def failed(self) -> tuple[ItemFailure, ...]:
        """The items that failed so far, as many as the answer lists."""
        return tuple(failure for _, failure in sorted(self._failed, key=_number))

    def result(self) -> BatchResult[T]:
        """The answer.

        Raises:
            CodedError: If every item failed: with the reason that all items share, else with the most severe code.
        """
        if self._failed and not self._done:
            error = self._whole.error(self._ctx.contract)
            raise error from BaseExceptionGroup("every item failed", self._exceptions)
        items = [item for _, item in sorted(self._items, key=_number)]
        answer = BatchResult[T](
            succeeded=[result for _, result in sorted(self._succeeded, key=_number)],
            failed=list(self.failed),
            advice=advice_of(items, self._unlisted) if items else None,
            note=note_of(self._left_out),
        )
        answer._lines = tuple(item.line for item in items)  # noqa: SLF001 - its own
        total = self._done + len(items) + sum(self._left_out.values())
        answer._count = f"{self._done} of {total} done."  # noqa: SLF001 - its own
        return answer

    def _tell_call(self) -> None:
        """Report the effects of the items so far, since the call may still fail: with an item, or outside of them."""
        self._ctx.has_changed(weakest(["partial" if self._done else None, *self._effects]))

    def _begin(self) -> int:
        self._begun += 1
        return self._begun

    def _fail(self, number: int, item: object, exc: BaseException, speaker: BaseException) -> None:
        envelope = self._ctx.record_failure(exc)
        self._effects = [weakest((envelope.effects, *self._effects))]
        self._tell_call()
        self._succeeded = [added for added in self._succeeded if added[0] != number]
        shown = self._ctx.show_value(to_json(item, room=_MAX_ITEM))
        failure = ItemFailure(item=fit(shown, _MAX_ITEM), error=self._ctx.render_item(envelope))
        written = failure.model_dump()
        if not self._done:
            self._whole.add(written, envelope)
        weight = size(written)
        # The first is always listed, however long it is, so that an answer with failures never shows none.
        if self._failed and (len(self._failed) >= self._max or self._bytes + weight > MAX_BYTES):
            self._left_out[reason_or_code(envelope)] += 1
            self._unlisted[Step.of(envelope)] += 1
            return
        self._bytes += weight
        self._failed.append((number, failure))
        self._items.append((number, FailedItem.of(failure.item, envelope, number=number)))
        # Not those of unlisted items, which may be many, each with its frames.
        self._exceptions.append(speaker)

    def _is_whole(self, speaker: BaseException) -> bool:
        entry = self._ctx.contract.get(cast("CodedError", speaker).reason) if is_a(speaker, CodedError) else None
        return entry is not None and entry.fails_batch


def _is_stray(exc: BaseException) -> bool:
    """Whether `exc` is the cancellation of something that the item waited for, while nobody cancels the call."""
    if isinstance(exc, asyncio.CancelledError):
        with suppress(RuntimeError, anyio.NoEventLoopError):  # in a worker thread nobody can tell
            return not passes_through(exc)
    return False


def _number(numbered: tuple[Any, ...]) -> Any:
    return numbered[0]
