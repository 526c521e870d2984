"""When and where figures were measured: every file in bench/results says so."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime


def conditions() -> dict[str, str]:
    """The date, the interpreter and the machine."""
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
    }
