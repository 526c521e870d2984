"""`python -m examples.workspace FOLDER`: the server over stdio."""

from __future__ import annotations

from examples.workspace.server import main

if __name__ == "__main__":
    main()
