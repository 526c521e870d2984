"""`python -m mcpcore_lint`: the same command as `mcpcore lint`."""

from __future__ import annotations

import os
import sys

from mcpcore_lint.start import start

if __name__ == "__main__":
    start(sys.argv[1:], leave=os._exit)

try:
    from mcpcore_lint.cli import lint
except ModuleNotFoundError as exc:
    if exc.name != "click":
        raise
    sys.exit('mcpcore lint needs click, which is not installed; run: pip install "mcpcore[cli]"')

if __name__ == "__main__":
    lint(prog_name="python -m mcpcore_lint")
