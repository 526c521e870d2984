"""A process that records failures as fast as it can; the tests start it, and most of them kill it.

Usage: writer.py PATH COUNT NAME [OPTION=VALUE ...]; it prints a line for each record that `record` has returned for.
"""

import json
import logging
import sys

from mcpcore.audit import AuditTrail


def failure(number: int, name: str) -> dict[str, object]:
    """Return the record of one failure, as the boundary creates it."""
    return {
        "timestamp": "2026-11-21T08:15:00.000Z",
        "server": "articles",
        "tool": f"tool_{number % 5}",
        "surface": "tool",
        "code": -32001,
        "name": "NOT_FOUND",
        "reason": "no_match",
        "message": f"Failure {number} of {name}. " + "x" * (number % 700),
        "retry": {"kind": "not_retryable"},
        "correlationId": f"{name}-{number}",
        "context": {"session_id": "550e8400-e29b", "role": "WINDSURF"},
        "data": {"pmids": ["1", "2", "3"]},
    }


def main() -> None:
    """Record COUNT failures, and print each on stdout unless quiet=1."""
    path, count, name, *rest = sys.argv[1:]
    options = dict(option.split("=", 1) for option in rest)
    quiet = options.pop("quiet", "")
    logging.raiseExceptions = False
    settings = {key: json.loads(value) if key != "key" else value for key, value in options.items()}
    trail = AuditTrail.open(path, policy="refuse", **settings)
    print("ready", flush=True)
    for number in range(int(count)):
        trail.record(failure(number, name))
        if not quiet:
            sys.stdout.write(f"{name}-{number}\n")
            sys.stdout.flush()
    trail.close()


if __name__ == "__main__":
    main()
