"""The tools of a server, as its answers to `tools/list` name them, and what the proxy adds to lists."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from mcpcore.client.listing import ListedTool, listed_tool
from mcpcore.contract.effects import default_effects
from mcpcore.contract.failure_modes import CONTRACT_META_KEY
from mcpcore.proxy.arguments import misfit_of, validator_of
from mcpcore.proxy.messages import write
from mcpcore.sdk.definition import admitting_error, without_error
from mcpcore.values.json_schema import properties
from mcpcore.values.untrusted import quietly

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mcpcore.contract.effects import ToolEffects
    from mcpcore.contract.errors import FrameworkError
    from mcpcore.proxy.messages import Json
    from mcpcore.proxy.overlay import Overlay, Section


@dataclass(slots=True)
class Listing:
    """The tools of one server."""

    tools: dict[str, ListedTool] = field(default_factory=dict)
    fields: dict[str, frozenset[str]] = field(default_factory=dict)
    """The fields that the output schemas of the tools declare."""

    _validators: dict[str, Any] = field(default_factory=dict)

    _sizes: dict[str, int] = field(default_factory=dict)

    complete: bool = False
    """Whether the last page of the list was read, or the server has no list."""

    def learn(self, page: Json, overlay: Overlay | None = None) -> None:
        """Take the tools of one page, with the hints that the overlay adds."""
        for tool in _tools_in(page):
            listed = listed_tool(tool if overlay is None else annotated(tool, overlay.tools))
            if listed is None:
                continue
            self.tools[listed.name] = listed
            self._sizes[listed.name] = len(write(tool))
            self._validators.pop(listed.name, None)
            self.fields[listed.name] = declared_fields(tool.get("outputSchema"))
        if not page.get("nextCursor"):
            self.complete = True

    def forget(self) -> None:
        """Forget all tools; the server says that they have changed, or was started again."""
        self.tools.clear()
        self.fields.clear()
        self._validators.clear()
        self._sizes.clear()
        self.complete = False

    @property
    def size(self) -> int:
        """Bytes of the tools, as JSON."""
        return sum(self._sizes.values())

    def get(self, name: str) -> ListedTool | None:
        """The tool of that name, or None."""
        return self.tools.get(name)

    def misfit(self, name: str, arguments: Mapping[str, Any]) -> FrameworkError | None:
        """The failure of calling the tool of that name with arguments that cannot fit it; None if they may."""
        tool = self.tools.get(name)
        if tool is None:
            return None
        if name not in self._validators:
            self._validators[name] = validator_of(tool)
        return misfit_of(tool, self._validators[name], arguments)


def declared_fields(schema: object) -> frozenset[str]:
    """The fields of a tool's own results, by its output schema, without the failure that mcpcore adds there."""
    if not isinstance(schema, dict):
        return frozenset()
    own = quietly(lambda: without_error(schema), schema)
    declared = quietly(lambda: properties(own, own), {})
    if declared.keys() == {"result"}:
        # The Python SDKs wrap the value of a handler that returns a union.
        declared = quietly(lambda: properties(declared["result"], own), {}) or declared
    return frozenset(declared)


def _tools_in(page: Json) -> Iterator[Json]:
    tools = page.get("tools")
    return (tool for tool in (tools if isinstance(tools, list) else []) if isinstance(tool, dict))


_NAMES: Final = {
    "tools": ("tools", "name"),
    "resources": ("resources", "uri"),
    "resourceTemplates": ("resources", "uriTemplate"),
    "prompts": ("prompts", "name"),
}
"""The lists that a page may have, the section of the overlay about them, and the key with the name of an item."""


def with_contracts(page: Json, overlay: Overlay) -> Json | None:
    """A page of a list whose items advertise the contract, and whose output schemas admit a failure.

    Older clients check the structured content of a failure, too. None if the page can stay as it is.
    """
    changes: Json = {}
    for key, (section, name) in _NAMES.items():
        items = page.get(key)
        if isinstance(items, list):
            contracts = overlay.sections[section]
            new = [_with_contract(item, contracts, name, key) if isinstance(item, dict) else item for item in items]
            if any(item is not old for item, old in zip(new, items, strict=True)):
                changes[key] = new
    return {**page, **changes} if changes else None


def annotated(tool: Json, section: Section) -> Json:
    """A tool of `tools/list` with the hints that the overlay adds; a hint that the server gives itself stays."""
    added = section.hints_of(tool.get("name"))
    own = tool.get("annotations")
    own = own if isinstance(own, dict) else {}
    missing = {name: value for name, value in added.items() if own.get(name) is None}
    return {**tool, "annotations": {**own, **missing}} if missing else tool


def _with_contract(item: Json, contracts: Section, name: str, key: str) -> Json:
    effects: ToolEffects | None = None
    if key == "tools":
        item = annotated(item, contracts)
        effects = default_effects(item.get("annotations"))
    changes: Json = {}
    schema = item.get("outputSchema")
    if isinstance(schema, dict):
        admitting = quietly(lambda: schema if without_error(schema) is not schema else admitting_error(schema), schema)
        if admitting is not schema:
            changes["outputSchema"] = admitting
    contract = contracts.contract_of(item.get(name))
    if len(contract):
        meta = item.get("_meta")
        meta = dict(meta) if isinstance(meta, dict) else {}
        own = meta.get(CONTRACT_META_KEY)
        # The server's own entries come first: where both declare a reason, the server knows better.
        own = own if isinstance(own, list) else []
        declared = {entry.get("reason") for entry in own if isinstance(entry, dict)}
        added = [
            entry for entry in contract.to_json(effects) if isinstance(entry, dict) and entry["reason"] not in declared
        ]
        if added:
            changes["_meta"] = {**meta, CONTRACT_META_KEY: [*own, *added]}
    return {**item, **changes} if changes else item
