"""How long 100 KB of hostile text take to redact: `python -m bench.redaction`.

Writes bench/results/redaction.json; exits 1 if a text takes longer than the limit. Times are those of the processor,
since other programs share the machine. All texts are measured once at a tenth of their length; the slowest of each
family and the slowest of all are then measured in full, and the best of three counts.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Final, NamedTuple

from bench.conditions import conditions
from bench.redaction.hostile import families, texts
from mcpcore.wire.redaction import redact_shapes, redact_text

RESULTS: Final = Path(__file__).parents[1] / "results" / "redaction.json"
LENGTH: Final = 100_000
# Milliseconds that such a text may take.
LIMIT: Final = 50.0

# How many of the slowest short texts are measured in full, besides the slowest of each family.
SLOWEST: Final = 100


class Measured(NamedTuple):
    """One text and the milliseconds that it takes."""

    log: float
    client: float
    family: str
    unit: str
    form: int


def milliseconds(text: str, rounds: int) -> tuple[float, float]:
    """The time for a log, and the time for a client."""
    best = [float("inf"), float("inf")]
    for _ in range(rounds):
        for number, redact in enumerate((redact_text, redact_shapes)):
            began = time.process_time()
            redact(text)
            best[number] = min(best[number], (time.process_time() - began) * 1_000)
        if max(best) < LIMIT / 4:
            break
    return best[0], best[1]


def measured() -> list[Measured]:
    """The texts that are measured in full, the slowest first."""
    short: list[Measured] = []
    for family, units in families().items():
        of_family = [
            Measured(*milliseconds(text, 1), family, unit, form)
            for unit in units
            for form, text in enumerate(texts(unit, LENGTH // 10))
        ]
        short += sorted(of_family, reverse=True)
    candidates = set(sorted(short, reverse=True)[:SLOWEST])
    candidates |= {max(row for row in short if row.family == family) for family in families()}
    full: list[Measured] = []
    for row in candidates:
        text = list(texts(row.unit, LENGTH))[row.form]
        full.append(row._replace(**dict(zip(("log", "client"), milliseconds(text, 3), strict=True))))
    return sorted(full, reverse=True)


def main() -> int:
    """Measure each family, and show the slowest."""
    rows = measured()
    for row in rows[:10]:
        print(f"{row.log:7.1f} ms in a log, {row.client:5.1f} ms for a client: {row.unit!r}, form {row.form}")
    log, client = rows[0].log, max(row.client for row in rows)
    RESULTS.write_text(
        json.dumps(
            {
                **conditions(),
                "characters": LENGTH,
                "texts": len(rows),
                "limit_ms": LIMIT,
                "worst_ms_log": round(log, 1),
                "worst_ms_client": round(client, 1),
                "slowest": [{"unit": row.unit, "form": row.form, "ms": round(row.log, 1)} for row in rows[:10]],
            },
            indent=2,
        )
        + "\n"
    )
    print(f"{len(rows)} texts of {LENGTH} characters: at most {max(log, client):.1f} ms (limit {LIMIT:.0f})")
    return 1 if max(log, client) > LIMIT else 0


if __name__ == "__main__":
    sys.exit(main())
