"""Measuring calls: peers take turns in short rounds, and are compared round by round."""

from __future__ import annotations

import asyncio
import gc
from dataclasses import dataclass, field
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

Key = tuple[str, str]
"""A peer and how its call ends."""


@dataclass
class Samples:
    """The seconds that each call took, by round."""

    rounds: list[list[float]] = field(default_factory=list)

    @property
    def calls(self) -> list[float]:
        return sorted(seconds for batch in self.rounds for seconds in batch)

    def figures(self) -> dict[str, float]:
        """Calls per second and percentiles in microseconds."""
        calls = self.calls
        return {
            "calls_per_second": round(1 / (sum(calls) / len(calls)), 1),
            "p50_us": round(calls[len(calls) // 2] * 1e6, 1),
            "p99_us": round(calls[len(calls) * 99 // 100] * 1e6, 1),
        }


def ratio(samples: Samples, other: Samples) -> float:
    """How many times as dear `samples` is as `other`: the median over the rounds of what their medians compare to.

    Both were measured within a second of each other in each round, so that whatever else the machine did then weighs
    on both; and the median of a round leaves out the calls that it interrupted.
    """
    return round(median(median(a) / median(b) for a, b in zip(samples.rounds, other.rounds, strict=True)), 3)


async def measure(
    calls: Mapping[Key, Callable[[], Awaitable[object]]],
    *,
    rounds: int,
    batch: int,
    warm: int = 30,
    clock: Callable[[], float] = perf_counter,
) -> dict[Key, Samples]:
    """Time each of `calls` by `clock`, `batch` at a time, in `rounds` turns; the first of each turn is another."""
    keys = list(calls)
    samples = {key: Samples() for key in keys}
    for key in keys:
        for _ in range(warm):
            await calls[key]()
    for turn in range(rounds):
        start = turn * 5 % len(keys)
        gc.collect()
        gc.disable()
        try:
            for key in keys[start:] + keys[:start]:
                call, took = calls[key], []
                for _ in range(batch):
                    begun = clock()
                    await call()
                    took.append(clock() - begun)
                samples[key].rounds.append(took)
                await asyncio.sleep(0)
        finally:
            gc.enable()
    return samples
