"""`python -m examples.library`: serve the library over stdio."""

from __future__ import annotations

from examples.library.server import server

if __name__ == "__main__":
    server.run()
