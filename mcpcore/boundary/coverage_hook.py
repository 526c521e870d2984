"""The observer of declarations and failures, which is None except under `pytest --reason-coverage`."""

from __future__ import annotations

import os

from mcpcore import provided

TYPE_CHECKING = False  # importing typing costs more than this whole module
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Final, Protocol

    from mcpcore.contract.failure_modes import Contract

    class Observer(Protocol):
        """Sees each declaration and each failure of this process. Its methods must not raise."""

        def declared(self, noun: str, name: str, function: Callable[..., Any], contract: Contract[Any]) -> None:
            """See a tool, a resource or a prompt that is declared in `function`."""

        def failed(
            self, surface: str, name: str | None, contract: Contract[Any], code: str, reason: str | None
        ) -> None:
            """See a failure under `contract`; one of the framework's own is not shown."""


REASONS_VARIABLE: Final = "MCPCORE_REASON_COVERAGE"
"""The environment variable that names the folder for the reasons that are raised in this process."""


def _from_environment() -> Observer | None:
    folder = os.environ.get(REASONS_VARIABLE)
    if not folder:
        return None
    observer: Observer = provided("reason_recorder")(folder)
    return observer


observer: Observer | None = _from_environment()
"""Read at each use, as a name of this module, since the plugin of pytest sets it."""
