"""`python -m examples.shipping`: serve the shipping desk over stdio."""

from __future__ import annotations

from examples.shipping.server import make_server

if __name__ == "__main__":
    make_server().run(show_banner=False)
