"""The reference page of the options: what signatures and docstrings say, and what `describe_failures` costs."""

from __future__ import annotations

import asyncio
import dataclasses
import inspect
import re
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mcp.server.mcpserver import MCPServer

from mcpcore import FailureMode, Server
from mcpcore.client import CallPolicy
from mcpcore.contract.failure_modes import CONTRACT_META_KEY
from mcpcore.contract.limits import Limits
from mcpcore.declare.declaration import ToolOptions
from mcpcore.declare.decorators import PromptOptions, ResourceOptions
from mcpcore.integrations.fastmcp import ContractMiddleware
from mcpcore.sdk.errors import with_failures
from pages.markdown import table

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT: Final = Path(__file__).parents[2]

_ENTRY: Final = re.compile(r"(?P<name>\*{0,2}\w+): (?P<text>.+)", re.DOTALL)
_VARIADIC: Final = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


@dataclass(frozen=True, kw_only=True)
class Group:
    """Options that one call takes.

    Attributes:
        title: The call, as code.
        signature: The callable whose parameters the options are.
        described_by: The object whose docstring describes them.
        intro: Sentences above the table.
        else_by: The object whose docstring describes the options that `described_by` leaves out.
    """

    title: str
    signature: Callable[..., Any]
    described_by: object
    intro: str = ""
    else_by: object = None

    @property
    def parameters(self) -> list[inspect.Parameter]:
        """The options, in the order of the signature."""
        parameters = inspect.signature(self.signature).parameters.values()
        return [one for one in parameters if one.name not in ("self", "cls") and one.kind not in _VARIADIC]

    @property
    def descriptions(self) -> dict[str, str]:
        """The description of each option, by its name."""
        names = {parameter.name for parameter in self.parameters}
        others = {name: text for name, text in described(self.else_by).items() if name in names}
        return others | described(self.described_by)


GROUPS: Final = (
    Group(
        title="Server(...)",
        signature=Server.__init__,
        described_by=Server.__init__,
        intro="Every option but `name` is given by keyword.",
    ),
    Group(
        title="@tool(...)",
        signature=ToolOptions,
        described_by=ToolOptions,
        intro="Every option is given by keyword. `@server.tool(errors=[...])` and `server.add_tool(...)` take the same.",
    ),
    Group(
        title="@resource(...)",
        signature=ResourceOptions,
        described_by=ResourceOptions,
        intro="Every option but `uri` is given by keyword. `@server.resource(...)` takes the same.",
    ),
    Group(
        title="@prompt(...)",
        signature=PromptOptions,
        described_by=PromptOptions,
        intro="Every option is given by keyword. `@server.prompt(...)` takes the same.",
    ),
    Group(
        title="FailureMode(...)",
        signature=FailureMode.__new__,
        described_by=FailureMode,
        intro="Every option but `reason` and `code` is given by keyword.",
    ),
    Group(
        title="ContractMiddleware(...)",
        signature=ContractMiddleware.__init__,
        described_by=ContractMiddleware.__init__,
        else_by=Server.__init__,
        intro="For FastMCP servers; every option is given by keyword.",
    ),
    Group(
        title="Limits(...)",
        signature=Limits,
        described_by=Limits,
        intro="The bounds of an envelope, for `Server(limits=...)`; every option is given by keyword.",
    ),
    Group(
        title="CallPolicy(...)",
        signature=CallPolicy,
        described_by=CallPolicy,
        intro="For [`mcpcore.client.call`](../how-to/calling.md); every option is given by keyword.",
    ),
)


def described(documented: object) -> dict[str, str]:
    """The entries of "Args" or "Attributes" in a docstring, by their names."""
    lines = (inspect.getdoc(documented) or "").splitlines()
    start = next((number for number, line in enumerate(lines) if line in ("Args:", "Attributes:")), len(lines))
    entries: list[str] = []
    for line in lines[start + 1 :]:
        if line and not line.startswith(" "):
            break
        if re.match(r" {4}\S", line):
            entries.append(line.strip())
        elif line:
            entries[-1] += f" {line.strip()}"
    matches = [match for entry in entries if (match := _ENTRY.match(entry)) is not None]
    return {match["name"]: match["text"] for match in matches}


def problems() -> list[str]:
    """The options without a description, and the descriptions without an option."""
    found = []
    for group in GROUPS:
        names = {parameter.name for parameter in group.parameters}
        documented = {name for name in group.descriptions if not name.startswith("*")}
        found += [f"{group.title}: {name} has no description in the docstring" for name in sorted(names - documented)]
        found += [f"{group.title}: {name} is described, but is not an option" for name in sorted(documented - names)]
    return found


def default_of(parameter: inspect.Parameter) -> str:
    """The default of an option, as code."""
    value = parameter.default
    if value is inspect.Parameter.empty:
        return "required"
    if dataclasses.is_dataclass(value) and not isinstance(value, type) and value == type(value)():
        return f"`{type(value).__name__}()`"
    return f"`{value!r}`"


def of_sdk() -> list[str]:
    """The options of the SDK's server that `Server` passes on."""
    own = {parameter.name for parameter in GROUPS[0].parameters}
    return [name for name in inspect.signature(MCPServer.__init__).parameters if name not in {"self", *own}]


async def sections() -> list[list[object]]:
    """For each tool with a contract of the examples: its failure modes, its description and the section, in characters."""
    import fastmcp

    if str(ROOT) not in sys.path:
        sys.path.insert(0, str(ROOT))
    from examples.orders.desk import Desk
    from examples.orders.server import make_server as orders
    from examples.shipping.server import make_server as shipping
    from examples.workspace.server import make_server as workspace

    rows: list[list[object]] = []
    with tempfile.TemporaryDirectory() as folder, Desk(f"{folder}/orders.db", "http://127.0.0.1:9") as desk:
        for name, server in (
            ("workspace", workspace(folder)),
            ("orders", orders(desk)),
            ("shipping", shipping()),
        ):
            target: Any = server
            async with fastmcp.Client(target) as client:
                for tool in await client.list_tools():
                    published = (tool.meta or {}).get(CONTRACT_META_KEY)
                    if published:
                        description = (tool.description or "").partition("\n\nFails with:")[0]
                        section = len(with_failures(description, published)) - len(description)
                        rows.append([f"`{tool.name}` ({name})", len(published), len(description), section])
    return rows


def page() -> str:
    """The page."""
    parts = ["# Options", ""]
    for group in GROUPS:
        descriptions = group.descriptions
        rows: list[list[object]] = [
            [f"`{one.name}`", f"`{one.annotation}`", default_of(one), descriptions.get(one.name, "")]
            for one in group.parameters
        ]
        parts += [f"## `{group.title}`", "", group.intro, "", table(["option", "type", "default", "meaning"], rows), ""]
        if group.signature is Server.__init__:
            names = ", ".join(f"`{name}`" for name in of_sdk())
            parts += [f"The options of the SDK's `MCPServer` are passed on: {names}.", ""]
    measured = asyncio.run(sections())
    modes, characters = (sum(int(str(row[column])) for row in measured) for column in (1, 3))
    parts += [
        "## What `describe_failures` costs",
        "",
        f'`tools/list` always carries the contract, under `_meta["{CONTRACT_META_KEY}"]`, but few hosts show `_meta` to the '
        "model. With `describe_failures=True` the description of each tool ends with a section that names its failure modes, "
        "so that the model of any host can plan for them. The section is part of every `tools/list`, and of the context of "
        "each conversation in which the host offers the tool.",
        "",
        f"In the examples of this repository a failure mode takes {characters // modes} characters on average. The figures "
        "are characters, counted when `python docs/generate.py` writes this page:",
        "",
        table(["tool", "failure modes", "description", "section"], measured),
        "",
    ]
    return "\n".join(parts)
