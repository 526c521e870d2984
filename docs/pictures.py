"""The pictures of the documentation, drawn from real runs: `python docs/pictures.py` writes them into docs/assets.

The servers are those of the tutorial; the figures are those of `python -m bench.orders`; the page of the audit trail is that of
the same example, and needs Chromium. With `--check` nothing is written, and the exit code is 1 if a picture of a terminal is
not what the runs show. Ids and times differ from run to run, so those pictures have fixed ones.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.columns import Columns
from rich.console import Console
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parents[1]
ASSETS = ROOT / "docs" / "assets"
TUTORIAL = ROOT / "docs" / "tutorial" / "index.md"

PLAIN = '''
from mcp.server import MCPServer

import carrier

server = MCPServer("parcels")


@server.tool()
async def track_parcel(number: str) -> str:
    """Find out where a parcel is."""
    return await carrier.locate(number)
'''

# The format of rich without its fonts, which it would load from the network.
SVG = """<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace;
  font-size: {char_height}px; line-height: {line_height}px; }}
.{unique_id}-title {{ font-size: 18px; font-weight: bold; font-family: sans-serif; }}
{styles}
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


def files_of_the_tutorial(folder: Path) -> None:
    """Write the files of the tutorial as they are at its end."""
    for kind, name, text in re.findall(
        r'^```python.*? (title|append)="([^"]+)".*?\n(.*?)^```', TUTORIAL.read_text(), re.MULTILINE | re.DOTALL
    ):
        with (folder / name).open("w" if kind == "title" else "a", encoding="utf-8") as file:
            file.write(text)
    (folder / "plain.py").write_text(PLAIN, encoding="utf-8")


def run(folder: Path, command: str, *, color: bool = False) -> str:
    """What a command prints, in colour if asked for."""
    environment = {**os.environ, "PATH": os.pathsep.join([sysconfig.get_path("scripts"), os.environ["PATH"]])}
    environment |= {"FORCE_COLOR": "1"} if color else {"NO_COLOR": "1"}
    done = subprocess.run(
        ["sh", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    text = done.stdout + done.stderr
    for pattern, fixed in FIXED:
        text = pattern.sub(fixed, text)
    return text


def svg(title: str, width: int, draw: Callable[[Console], None]) -> str:
    """What `draw` prints on a terminal, as a picture."""
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        console = Console(
            record=True, width=width, file=nowhere, force_terminal=True, color_system="truecolor", legacy_windows=False
        )
        draw(console)
        return console.export_svg(title=title, code_format=SVG, unique_id=re.sub(r"\W+", "-", title).strip("-"))


def failing_call(folder: Path) -> str:
    """The text that a model reads of the same failure, from a plain server and from one with a contract."""

    def text_of(server: str) -> str:
        result: dict[str, Any] = json.loads(run(folder, f"mcpcore call {server} track_parcel number=RX-2 --json"))
        text: str = result["content"][0]["text"]
        return text

    def panel(title: str, text: str, style: str) -> Panel:
        return Panel(
            Text(text), title=title, title_align="left", border_style=style, width=58, padding=(1, 2), height=13
        )

    def draw(console: Console) -> None:
        console.print(
            Columns(
                [
                    panel("without mcpcore", text_of("plain.py"), "red"),
                    panel("with mcpcore", text_of("parcels.py"), "green"),
                ]
            )
        )

    return svg("What the model reads when the carrier is down", 118, draw)


def session(*commands: str, width: int = 110) -> Callable[[Path], str]:
    """A terminal in which the commands run."""

    def picture(folder: Path) -> str:
        def draw(console: Console) -> None:
            for number, command in enumerate(commands):
                if number:
                    console.print()
                console.print(Text.assemble(("$ ", "bold green"), (command, "bold")))
                console.print(Text.from_ansi(run(folder, command, color=True).rstrip("\n")))

        return svg(commands[0], width, draw)

    return picture


def orders(folder: Path) -> str:  # noqa: ARG001 - read from the results
    """The errands of the orders example: how many each kind of client finishes."""
    runs = json.loads((ROOT / "bench" / "results" / "orders.json").read_text(encoding="utf-8"))["runs"]

    def draw(console: Console) -> None:
        table = Table(box=None, padding=(0, 2), show_edge=False)
        for column in (
            "server and client",
            "errands done",
            "",
            "seconds lost",
            "orders doubled",
            "charged, reported as failed",
        ):
            table.add_column(column, justify="left" if column in ("server and client", "") else "right", no_wrap=True)
        for one in runs:
            total = len(one["errands"])
            good, bad = one["done"] == total, one["doubled"] or one["unknown"]
            bar = Text("█" * 2 * one["done"], style="green" if good else "red") + Text(
                "░" * 2 * (total - one["done"]), style="dim"
            )
            harm = [Text(str(one[name]), style="bold red" if one[name] else "") for name in ("doubled", "unknown")]
            table.add_row(
                Text(one["way"], style="red" if bad else "bold green"),
                f"{one['done']} of {total}",
                bar,
                f"{one['seconds']:.1f}",
                *harm,
            )
        console.print(table)

    return svg("Nine errands at an order desk whose payment service fails", 134, draw)


def audit_page(path: Path) -> None:
    """The page of the trail that the orders example leaves, as a screenshot."""
    with tempfile.TemporaryDirectory() as name:
        trail, page = Path(name, "audit.jsonl"), Path(name, "page.html")
        environment = {**os.environ, "MCPCORE_AUDIT": str(trail)}
        subprocess.run(
            [sys.executable, "-m", "examples.orders"], cwd=ROOT, env=environment, check=True, capture_output=True
        )
        subprocess.run([sys.executable, "-m", "mcpcore", "audit", "stats", trail, "--html", page], check=True)
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
        shot = [
            "--hide-scrollbars",
            "--window-size=1000,900",
            f"--user-data-dir={name}/profile",
            f"--screenshot={path}",
        ]
        subprocess.run(["chromium", *options, *shot, page.as_uri()], check=True, capture_output=True)


PICTURES: dict[str, Callable[[Path], str]] = {
    "failing-call.svg": failing_call,
    "call.svg": session("mcpcore call parcels.py track_parcel number=RX-9"),
    "lint.svg": session("mcpcore lint"),
    "orders.svg": orders,
}


def main() -> int:
    """Draw the pictures, or compare them."""
    stale = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files_of_the_tutorial(folder)
        for picture, draw in PICTURES.items():
            path, drawn = ASSETS / picture, draw(folder)
            if not path.exists() or path.read_text(encoding="utf-8") != drawn:
                stale.append(picture)
                if "--check" not in sys.argv:
                    path.write_text(drawn, encoding="utf-8")
    if "--check" not in sys.argv and shutil.which("chromium"):
        audit_page(ASSETS / "audit.png")
    for picture in stale:
        print(f"docs/assets/{picture} {'is out of date' if '--check' in sys.argv else 'drawn'}")
    return int("--check" in sys.argv and bool(stale))


if __name__ == "__main__":
    sys.exit(main())
