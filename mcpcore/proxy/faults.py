"""Failures on demand behind the proxy: those that the overlay declares, for tests of agents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mcpcore.boundary.faults import ALL, INSTRUCTIONS, Fault, FaultError, ToolFaults
from mcpcore.client.schemas import sample_data
from mcpcore.contract.failure_modes import FailureMode
from mcpcore.proxy.messages import Json
from mcpcore.proxy.overlay import ANY, Overlay
from mcpcore.values.untrusted import object_in


class OverlayFaults:
    """The faults of the tools of one server, made when a tool is first called: the overlay may speak of all tools."""

    def __init__(self, overlay: Overlay, wanted: Mapping[str, Sequence[str]], *, seed: int) -> None:
        """Check what is wanted against `overlay`.

        Raises:
            FaultError: If a fault is misspelt, names a tool or a reason that the overlay does not have, or has data
                that cannot be made up.
        """
        self._overlay, self._wanted, self._seed = overlay, wanted, seed
        self._faults: dict[str, ToolFaults] = {}
        contracts = overlay.tools.contracts
        if not contracts:
            raise FaultError("no overlay says how the tools fail, so none can fail on demand; name one with --overlay")
        for name in wanted:
            if name != ALL and not len(overlay.tools.contract_of(name)):
                raise FaultError(f"the contract has no tool {name!r}; it has {', '.join(map(repr, contracts))}")
        for name in contracts if ALL in wanted else wanted:
            for entry in self._of(name).entries:
                sample_data(name, entry, {})  # before any call

    def _of(self, name: str) -> ToolFaults:
        faults = self._faults.get(name)
        if faults is None:
            contract = self._overlay.tools.contract_of(name)
            texts = [*self._wanted.get(name, ()), *(self._wanted.get(ALL, ()) if len(contract) and name != ANY else ())]
            faults = self._faults[name] = ToolFaults(name, contract, texts, seed=self._seed)
        return faults

    def take(self, name: str) -> tuple[Fault, FailureMode[Any]] | None:
        """The fault for the next call of a tool; None if the call goes to the server."""
        is_wanted = ALL in self._wanted or name in self._wanted
        return self._of(name).take() if is_wanted else None

    @staticmethod
    def announced(response: Json) -> Json:
        """The answer to a handshake, with instructions that say that failures are injected."""
        result = object_in(response, "result")
        own = result.get("instructions")
        texts = [own, INSTRUCTIONS] if isinstance(own, str) and own else [INSTRUCTIONS]
        return {**response, "result": {**result, "instructions": "\n\n".join(texts)}}
