"""`python -m mcpcore`: the command line."""

from __future__ import annotations

from mcpcore.cli import script

if __name__ == "__main__":
    script()
