"""`python -m examples.orders`: serve the order desk over stdio."""

from __future__ import annotations

from examples.orders.server import make_server

if __name__ == "__main__":
    make_server().run(show_banner=False)
