"""`python -m mcpcore_lint`: the same command as `mcpcore lint`."""

from __future__ import annotations

import os
import sys

from mcpcore_lint.start import start

if __name__ == "__main__":
    start(sys.argv[1:], leave=os._exit)

    from mcpcore_lint.cli import lint

    lint(prog_name="python -m mcpcore_lint")
