"""`python -m mcpcore`: the command line."""

from __future__ import annotations

from mcpcore.cli import main

if __name__ == "__main__":
    main()
