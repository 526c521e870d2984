"""HTML pages without any other file. Their policy lets nothing load, and nothing run but their own script."""

from __future__ import annotations

import base64
import hashlib
from html import escape

from mcpcore.values.escaping import terminal_text

_BASE = """\
:root { color-scheme: light dark; --bg: #ffffff; --text: #1d2129; --soft: #5b6270; --line: #d9dce3; --band: #f4f5f8; }
@media (prefers-color-scheme: dark) {
  :root { --bg: #14161b; --text: #e8eaef; --soft: #a0a6b3; --line: #343943; --band: #1d2027; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 2rem 1.25rem 4rem; max-width: 64rem; background: var(--bg); color: var(--text);
  font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; margin: 0 0 .25rem; }
h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
p { margin: .25rem 0; color: var(--soft); }
table { border-collapse: collapse; width: 100%; font-size: .875rem; }
th { text-align: left; color: var(--soft); font-weight: 600; }
th, td { padding: .4rem .75rem .4rem 0; border-bottom: 1px solid var(--line); vertical-align: middle; }
td code { display: inline-block; max-width: 24rem; font-size: .95em; overflow-wrap: break-word; }
"""
"""The style of a page of tables."""


def text(value: str) -> str:
    """`value` as HTML, also within an attribute."""
    return escape(terminal_text(value), quote=True)


def page(title: str, body: str, *, style: str, script: str = "", is_plain: bool = True) -> str:
    """A page.

    Args:
        title: Its title, as text.
        body: What is in its body, as HTML.
        style: Its own rules of CSS.
        script: Its script.
        is_plain: Whether it is a page of tables, with the style of these.
    """
    style = _BASE + style if is_plain else style
    # By their hashes: a style or a script that a text smuggles in does nothing.
    allowed = "".join(f"; {kind}-src '{_hash(part)}'" for kind, part in (("style", style), ("script", script)) if part)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'{allowed}; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{text(title)}</title>
<style>{style}</style>
</head>
<body>
{body}
{f"<script>{script}</script>" if script else ""}</body>
</html>
"""


def _hash(content: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}"
