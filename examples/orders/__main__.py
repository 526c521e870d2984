"""`python -m examples.orders [ERRAND …]`: the agent runs its errands against the server with contracts.

It prints each step. Without an argument, it runs all errands.
"""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path

import anyio

from examples.orders.agent import ERRANDS, PolicyCaller, run


def main() -> None:
    """Run the errands, and print how they went."""
    unknown = set(sys.argv[1:]) - {errand.name for errand in ERRANDS}
    if unknown:
        sys.exit(f"no errand is called {', '.join(sorted(unknown))}; use {', '.join(one.name for one in ERRANDS)}")
    errands = [errand for errand in ERRANDS if errand.name in sys.argv[1:] or not sys.argv[1:]]
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere:  # the server's log
        make = partial(PolicyCaller, tell=print)
        reports = anyio.run(partial(run, "contracts", make, errands=errands, tell=print, errlog=nowhere))
    print()
    for report in reports:
        print(f"{report.errand}: {report.calls} calls, {'done' if report.done else 'not done'}")


if __name__ == "__main__":
    main()
