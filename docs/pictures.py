"""The pictures of the documentation, drawn from real runs: `python docs/pictures.py` writes them into docs/assets.

The servers are those of the first page of the site; the page of the audit trail is that of `examples/orders`, and needs Chromium.
With `--check` nothing is written, and the exit code is 1 if a picture of a terminal is not what the runs show. Ids and times differ
from run to run, so those pictures have fixed ones.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.panel import Panel
from rich.terminal_theme import DEFAULT_TERMINAL_THEME as LIGHT, SVG_EXPORT_THEME as DARK
from rich.text import Text

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.browser.browser import MODULES, drive  # noqa: E402 - the root is not on the path of a script

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.terminal_theme import TerminalTheme

COLUMNS = 47
"""The width of a terminal: its text can be read on a phone."""
ASSETS = ROOT / "docs" / "assets"
PAGE = ROOT / "docs" / "index.md"

# The format of rich without its fonts, which it would load from the network.
SVG = """<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace;
  font-size: {char_height}px; line-height: {line_height}px; }}
.{unique_id}-title {{ font-size: 20px; font-weight: bold; font-family: sans-serif; }}
COLORS
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal"><rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" /></clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""
FIXED = (
    (re.compile(r"\bid [0-9a-f]{16}\b"), "id 7c1e0f6a91b2d4e5"),
    (re.compile(r'"correlationId": "[0-9a-f]{16}"'), '"correlationId": "7c1e0f6a91b2d4e5"'),
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z"), "2026-11-23T08:15:00.000Z"),
)


def files_of_the_page(folder: Path) -> None:
    """Write the files that the first page of the site shows."""
    for name, text in re.findall(
        r'^```python title="([^"]+)"\n(.*?)^```', PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    ):
        (folder / name).write_text(text, encoding="utf-8")


def run(folder: Path, command: str, *, color: bool = False) -> str:
    """What a command prints, in color if asked for."""
    environment = {**os.environ, "PATH": os.pathsep.join([sysconfig.get_path("scripts"), os.environ["PATH"]])}
    environment |= {"FORCE_COLOR": "1"} if color else {"NO_COLOR": "1"}
    done = subprocess.run(
        shlex.split(command), cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    text = done.stdout + done.stderr
    for pattern, fixed in FIXED:
        text = pattern.sub(fixed, text)
    return text


def svg(title: str, width: int, draw: Callable[[Console], None]) -> str:
    """What `draw` prints on a terminal, as a picture in the colors that the reader prefers."""
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        console = Console(
            record=True, width=width, file=nowhere, force_terminal=True, color_system="truecolor", legacy_windows=False
        )
        draw(console)
    unique_id = re.sub(r"\W+", "-", title).strip("-")

    def part(code_format: str, theme: TerminalTheme) -> str:
        return console.export_svg(
            title=title, theme=theme, clear=False, code_format=code_format, unique_id=unique_id
        ).strip()

    assert part("{matrix}", LIGHT) == part("{matrix}", DARK)  # the classes have the same numbers in both themes
    light, dark = (
        f"{part('{styles}', theme)}\n.rich-terminal > rect {{ fill: {theme.background_color.hex}; stroke: #8888; }}\n"
        f".rich-terminal > text {{ fill: {theme.foreground_color.hex}; }}"
        for theme in (LIGHT, DARK)
    )
    picture = part(SVG, LIGHT).replace("COLORS", f"{light}\n@media (prefers-color-scheme: dark) {{\n{dark}\n}}")
    return f"{picture}\n"


def failing_call(folder: Path) -> str:
    """The text that a model reads of the same failure, from a plain server and from one with a contract."""

    def draw(console: Console) -> None:
        for server, title, style in (("before.py", "before", "red"), ("orders.py", "after, with mcpcore", "green")):
            result: dict[str, Any] = json.loads(run(folder, f"mcpcore call {server} place_order item=desk --json"))
            text = Text(result["content"][0]["text"])
            console.print(Panel(text, title=title, title_align="left", border_style=style, padding=(1, 2)))

    return svg("What the model reads", COLUMNS, draw)


def session(*commands: str) -> Callable[[Path], str]:
    """A terminal in which the commands run."""

    def picture(folder: Path) -> str:
        def draw(console: Console) -> None:
            for number, command in enumerate(commands):
                if number:
                    console.print()
                console.print(Text.assemble(("$ ", "bold green"), (command, "bold")))
                console.print(Text.from_ansi(run(folder, command, color=True).rstrip("\n")))

        return svg(commands[0], COLUMNS, draw)

    return picture


def audit_pages() -> None:
    """The page of the trail that the orders example leaves, as screenshots in light and dark."""
    with tempfile.TemporaryDirectory() as name:
        trail, page = Path(name, "audit.jsonl"), Path(name, "page.html")
        environment = {**os.environ, "MCPCORE_AUDIT": str(trail)}
        subprocess.run(
            [sys.executable, "-m", "examples.orders"], cwd=ROOT, env=environment, check=True, capture_output=True
        )
        subprocess.run([sys.executable, "-m", "mcpcore", "audit", "stats", trail, "--html", page], check=True)
        for scheme, picture in (("light", "audit.png"), ("dark", "audit-dark.png")):
            drive("shot.mjs", page, ASSETS / picture, scheme)


PICTURES: dict[str, Callable[[Path], str]] = {
    "failing-call.svg": failing_call,
    "lint.svg": session("mcpcore lint before.py"),
}


def main() -> int:
    """Draw the pictures, or compare them."""
    stale = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files_of_the_page(folder)
        for picture, draw in PICTURES.items():
            path, drawn = ASSETS / picture, draw(folder)
            if not path.exists() or path.read_text(encoding="utf-8") != drawn:
                stale.append(picture)
                if "--check" not in sys.argv:
                    path.write_text(drawn, encoding="utf-8")
    if "--check" not in sys.argv and MODULES.exists():
        audit_pages()
    for picture in stale:
        print(f"docs/assets/{picture} {'is out of date' if '--check' in sys.argv else 'drawn'}")
    return int("--check" in sys.argv and bool(stale))


if __name__ == "__main__":
    sys.exit(main())
