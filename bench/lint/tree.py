"""Generates a tree of Python of the shape that a large repository with many MCP servers has.

Of each thirty files five define tools, two are services that those tools call, and the rest have nothing to do with
MCP. The text is the same for the same arguments.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

WORDS = [
    "account",
    "article",
    "audit",
    "batch",
    "billing",
    "branch",
    "budget",
    "bundle",
    "cache",
    "channel",
    "city",
    "claim",
    "client",
    "cluster",
    "commit",
    "contact",
    "course",
    "cursor",
    "device",
    "digest",
    "document",
    "domain",
    "draft",
    "event",
    "feature",
    "field",
    "filter",
    "folder",
    "forecast",
    "gateway",
    "grant",
    "group",
    "header",
    "image",
    "index",
    "invoice",
    "issue",
    "item",
    "job",
    "journal",
    "key",
    "label",
    "ledger",
    "limit",
    "list",
    "locale",
    "log",
    "message",
    "metric",
    "model",
    "node",
    "note",
    "offer",
    "order",
    "owner",
    "page",
    "parcel",
    "patch",
    "path",
    "person",
    "plan",
    "policy",
    "profile",
    "project",
    "quote",
    "range",
    "record",
    "region",
    "release",
    "report",
    "request",
    "result",
    "route",
    "row",
    "sample",
    "schema",
    "score",
    "search",
    "segment",
    "sensor",
    "series",
    "session",
    "shard",
    "sheet",
    "site",
    "slot",
    "source",
    "stage",
    "status",
    "store",
    "stream",
    "table",
    "tag",
    "target",
    "task",
    "team",
    "ticket",
    "token",
    "topic",
    "trace",
    "track",
    "unit",
    "user",
    "value",
    "vendor",
    "version",
    "view",
    "volume",
    "window",
    "zone",
]

FILES = 2_400
LINES = 815_000
TOOL_SHARE = 6


@dataclass(frozen=True)
class Tree:
    """What was generated."""

    root: Path
    files: int
    lines: int
    tool_files: int


def generate(root: Path, *, files: int = FILES, lines: int = LINES, seed: int = 7) -> Tree:
    """Write the tree under `root` (which must not exist) and tell its size."""
    maker = random.Random(seed)
    per_file = lines // files
    packages = max(1, files // 60)
    written = total = tools = 0
    for package in range(packages):
        folder = root / "src" / f"area_{package:03d}"
        folder.mkdir(parents=True)
        count = files // packages + (1 if package < files % packages else 0)
        (folder / "__init__.py").write_text(f'"""Area {package}."""\n')
        written += 1
        total += 1
        services = []
        for number in range(count - 1):
            kind = number % TOOL_SHARE
            service = number % 15 == 1
            # Files differ in length as real ones do: a few are long, most are short.
            length = int(per_file * 1.017 * maker.choice((0.3, 0.5, 0.6, 0.8, 1.0, 1.2, 1.6, 2.0)))
            if service:
                name = f"service_{number:03d}"
                text = _service(maker, number, length)
                services.append(number)
            elif kind == 2:
                name = f"tools_{number:03d}"
                text = _tools(maker, package, number, services[-3:] or [1], length)
                tools += 1
            else:
                name = f"{maker.choice(WORDS)}_{number:03d}"
                text = _plain(maker, number, length)
            (folder / f"{name}.py").write_text(text)
            written += 1
            total += text.count("\n")
    (root / "pyproject.toml").write_text('[project]\nname = "generated"\n')
    return Tree(root, written, total, tools)


def _pick(maker: random.Random) -> str:
    return f"{maker.choice(WORDS)}_{maker.choice(WORDS)}"


def _block(maker: random.Random, indent: str) -> list[str]:
    """A few statements such as real functions hold."""
    a, b, c = _pick(maker), _pick(maker), maker.choice(WORDS)
    shape = maker.randrange(9)
    if shape == 0:
        lines = [
            f"{a} = {{'{b}': {maker.randrange(900)}, '{c}': [each * 2 for each in range({maker.randrange(9) + 1})]}}",
            f"total += len({a})",
        ]
    elif shape == 1:
        lines = [
            f"{a} = sorted(values, key=str)",
            f"for each in {a}:",
            f"    total += len(str(each)) + {maker.randrange(40)}",
        ]
    elif shape == 2:
        lines = [
            f"if total > {maker.randrange(1000)} and '{b}' not in seen:",
            f"    seen.add('{b}')",
            "else:",
            f"    total -= {maker.randrange(20)}",
        ]
    elif shape == 3:
        lines = [f"{a} = f'{{total}}-{b}-{{len(seen)}}'", f"logger.debug('%s is %s', '{c}', {a})"]
    elif shape == 4:
        lines = [
            "try:",
            f"    total += int(str(total)[: {maker.randrange(5) + 1}])",
            "except ValueError:",
            f"    logger.warning('no {c} in %s', total)",
        ]
    elif shape == 5:
        lines = [f"{a} = [str(each).strip().lower() for each in values if each is not None]", f"seen.update({a})"]
    elif shape == 6:
        lines = [
            f"# {b.replace('_', ' ').capitalize()} comes before {c}, since the order of the rows depends on it.",
            f"total = max(total, {maker.randrange(500)})",
        ]
    elif shape == 7:
        lines = [
            f"{a} = dict(zip(values, range(len(values)), strict=False))",
            f"total += sum({a}.values()) if {a} else 0",
        ]
    else:
        lines = [f"while total > {maker.randrange(5000) + 100}:", "    total //= 2", f"    seen.add('{c}')"]
    return [indent + line for line in lines]


def _function(maker: random.Random, name: str, indent: str, *, method: bool, size: int) -> list[str]:
    me = "self, " if method else ""
    lines = [
        f"{indent}def {name}({me}values: list[object], total: int = 0) -> int:",
        f'{indent}    """{name.replace("_", " ").capitalize()}, counted over all values."""',
        f"{indent}    seen: set[str] = set()",
    ]
    while len(lines) < size:
        lines.extend(_block(maker, indent + "    "))
    lines.append(f"{indent}    return total + len(seen)")
    return lines


def _plain(maker: random.Random, number: int, length: int) -> str:
    lines = [
        f'"""Module {number}: {_pick(maker).replace("_", " ")}."""',
        "",
        "from __future__ import annotations",
        "",
        "import logging",
        "import os",
        "from collections.abc import Iterable",
        "",
        "Rows = Iterable[object]",
        "HOME = os.environ.get('HOME', '')",
        "logger = logging.getLogger(__name__)",
        f"LIMIT = {maker.randrange(10_000)}",
        "",
        "",
    ]
    index = 0
    while len(lines) < length:
        index += 1
        if maker.random() < 0.4:
            lines.append(f"class {maker.choice(WORDS).capitalize()}{index}:")
            lines.append(f'    """A {maker.choice(WORDS)} of its own."""')
            lines.append("")
            for method in range(maker.randrange(3) + 1):
                lines.extend(
                    _function(maker, f"{_pick(maker)}_{method}", "    ", method=True, size=maker.randrange(8, 30))
                )
                lines.append("")
            lines.append("")
        else:
            lines.extend(_function(maker, f"{_pick(maker)}_{index}", "", method=False, size=maker.randrange(8, 40)))
            lines.extend(["", ""])
    return "\n".join(lines) + "\n"


def _service(maker: random.Random, number: int, length: int) -> str:
    lines = [
        f'"""Service {number}."""',
        "",
        "from __future__ import annotations",
        "",
        "import json",
        "import logging",
        "",
        "import httpx",
        "from mcpcore import not_found, rate_limited, service_unavailable",
        "",
        "logger = logging.getLogger(__name__)",
        "",
        "",
        "class ServiceError(Exception):",
        '    """What this service raises."""',
        "",
        "",
        f"class Service{number}:",
        '    """Talks to an upstream."""',
        "",
        "    def __init__(self, client: httpx.AsyncClient) -> None:",
        "        self.client = client",
        "        self.cache: dict[str, object] = {}",
        "",
        "    async def request(self, path: str) -> object:",
        '        """Send one request."""',
        "        try:",
        "            response = await self.client.get(path)",
        "            response.raise_for_status()",
        "        except httpx.TimeoutException as error:",
        "            raise service_unavailable('The upstream did not answer.') from error",
        "        if response.status_code == 429:",
        "            raise rate_limited('Too many requests.', data={'reason': 'queue_full'})",
        "        return json.loads(response.text)",
        "",
    ]
    index = 0
    while len(lines) < length:
        index += 1
        name = f"load_{index}"
        lines.append(f"    async def {name}(self, key: str, values: list[object], total: int = 0) -> int:")
        lines.append(f'        """Load {_pick(maker).replace("_", " ")}."""')
        lines.append("        seen: set[str] = set()")
        lines.append("        found = await self.request(f'/items/{key}')")
        lines.append("        if not found:")
        lines.append("            raise not_found(f'There is no {key}.', data={'reason': 'no_match'})")
        for _ in range(maker.randrange(2, 8)):
            lines.extend(_block(maker, "        "))
        if index > 1 and maker.random() < 0.5:
            lines.append(f"        total += await self.load_{maker.randrange(1, index)}(key, values)")
        lines.append("        return total + len(seen)")
        lines.append("")
    return "\n".join(lines) + "\n"


def _tools(maker: random.Random, package: int, number: int, services: list[int], length: int) -> str:
    lines = [
        f'"""Tools {number} of area {package}."""',
        "",
        "from __future__ import annotations",
        "",
        "import logging",
        "from typing import Annotated, Literal",
        "",
        "import httpx",
        "from mcpcore import Context, ErrorCode, FailureMode, Retry, Server, tool",
        "from pydantic import BaseModel, Field",
        "",
        *(f"from area_{package:03d}.service_{service:03d} import Service{service}" for service in services),
        "",
        "logger = logging.getLogger(__name__)",
        *(f"service_{service} = Service{service}(httpx.AsyncClient())" for service in services),
        "",
        "",
        "class Found(BaseModel):",
        '    """What is found."""',
        "",
        "    count: int",
        "",
        "",
    ]
    names = []
    index = 0
    while len(lines) < length - 4:
        index += 1
        if maker.random() < 0.6:
            lines.extend(_function(maker, f"_{_pick(maker)}_{index}", "", method=False, size=maker.randrange(8, 30)))
            lines.extend(["", ""])
            continue
        name = f"find_{package:03d}_{number:03d}_{index}"
        names.append(name)
        lines.extend(
            [
                "@tool(",
                "    errors=[",
                "        FailureMode(",
                '            "no_match",',
                "            ErrorCode.NOT_FOUND,",
                '            when="No requested key returned data.",',
                '            recovery="Call the search tool to discover valid keys first.",',
                "        ),",
                "        FailureMode(",
                '            "queue_full",',
                "            ErrorCode.RATE_LIMITED,",
                '            when="The local request queue is at capacity.",',
                '            recovery="Wait 30 seconds and retry, or reduce the batch size.",',
                "            retry=Retry.after(seconds=30),",
                "        ),",
                "    ]",
                ")",
                f"async def {name}(",
                '    ctx: Context[Literal["no_match", "queue_full"]],',
                '    keys: Annotated[list[str], Field(description="The keys to look up.")],',
                ") -> Found:",
                f'    """Find {_pick(maker).replace("_", " ")} by key."""',
                "    total = 0",
                "    values: list[object] = list(keys)",
                "    seen: set[str] = set()",
            ]
        )
        for _ in range(maker.randrange(2, 6)):
            lines.extend(_block(maker, "    "))
        lines.append(f"    total += await service_{maker.choice(services)}.load_1(keys[0], values)")
        lines.extend(
            [
                "    if not total:",
                (
                    '        raise ctx.fail("no_match", f"None of {len(keys)} keys returned data.", '
                    'data={"keys": keys, "count": len(keys)})'
                ),
                "    if len(seen) > 100:",
                '        raise ctx.fail("queue_full")',
                "    return Found(count=total)",
                "",
                "",
            ]
        )
    lines.append(f'server = Server("area-{package}-{number}", tools=[{", ".join(names)}])')
    return "\n".join(lines) + "\n"
