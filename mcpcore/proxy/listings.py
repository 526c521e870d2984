"""The tools of a server, as its answers to `tools/list` name them, and what the proxy adds to such an answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mcpcore.client.listing import ListedTool, listed_tool
from mcpcore.contract import CONTRACT_META_KEY
from mcpcore.foreign import quietly
from mcpcore.json_schema import properties
from mcpcore.proxy.arguments import misfit_of, validator_of
from mcpcore.sdk.definition import admitting_error, without_error

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mcpcore.contract import Contract
    from mcpcore.errors import FrameworkError
    from mcpcore.proxy.messages import Json
    from mcpcore.proxy.overlay import Overlay


@dataclass(slots=True)
class Listing:
    """The tools of one server."""

    tools: dict[str, ListedTool] = field(default_factory=dict)
    with_error: set[str] = field(default_factory=set)
    """The tools whose own results have a field `error`."""

    _validators: dict[str, Any] = field(default_factory=dict)

    complete: bool = False
    """Whether the last page of the list was read, or the server has no list."""

    def learn(self, page: Json) -> None:
        """Take the tools of one page."""
        for tool in _tools_in(page):
            listed = listed_tool(tool)
            if listed is None:
                continue
            self.tools[listed.name] = listed
            self._validators.pop(listed.name, None)
            schema = tool.get("outputSchema")
            if isinstance(schema, dict):
                alone = quietly(lambda schema=schema: without_error(schema), schema)  # type: ignore[misc]
                if "error" in quietly(lambda alone=alone: properties(alone, alone), {}):  # type: ignore[misc]
                    self.with_error.add(listed.name)
        if not page.get("nextCursor"):
            self.complete = True

    def forget(self) -> None:
        """Forget all tools; the server says that they have changed, or was started again."""
        self.tools.clear()
        self.with_error.clear()
        self._validators.clear()
        self.complete = False

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


def _tools_in(page: Json) -> Iterator[Json]:
    tools = page.get("tools")
    return (tool for tool in (tools if isinstance(tools, list) else []) if isinstance(tool, dict))


def with_contracts(page: Json, overlay: Overlay) -> Json | None:
    """A page of `tools/list` whose tools advertise the contract, and whose output schemas admit a failure.

    Older clients check the structured content of a failure, too. None if the page can stay as it is.
    """
    changed = False
    tools: list[Any] = []
    for tool in page["tools"] if isinstance(page.get("tools"), list) else []:
        new = _with_contract(tool, overlay) if isinstance(tool, dict) else tool
        changed = changed or new is not tool
        tools.append(new)
    return {**page, "tools": tools} if changed else None


def _with_contract(tool: Json, overlay: Overlay) -> Json:
    changes: Json = {}
    schema = tool.get("outputSchema")
    if isinstance(schema, dict):
        admitting = quietly(lambda: schema if without_error(schema) is not schema else admitting_error(schema), schema)
        if admitting is not schema:
            changes["outputSchema"] = admitting
    contract: Contract[Any] = overlay.contract_of(tool.get("name"))
    if len(contract):
        meta = tool.get("_meta")
        meta = dict(meta) if isinstance(meta, dict) else {}
        own = meta.get(CONTRACT_META_KEY)
        # The server's own entries come first: where both declare a reason, the server knows better.
        own = own if isinstance(own, list) else []
        declared = {entry.get("reason") for entry in own if isinstance(entry, dict)}
        added = [entry for entry in contract.to_json() if isinstance(entry, dict) and entry["reason"] not in declared]
        if added:
            changes["_meta"] = {**meta, CONTRACT_META_KEY: [*own, *added]}
    return {**tool, **changes} if changes else tool
