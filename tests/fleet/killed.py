"""Loads a trail in batches of 20 records, and dies by SIGKILL after some of them: `killed.py BATCHES TRAIL STORE`."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from mcpcore.fleet import load
from mcpcore.fleet.address import parse
from mcpcore.fleet.store import open_store

if __name__ == "__main__":
    load.BATCH_ROWS = 20

    def progress(records: int) -> None:
        if records >= 20 * int(sys.argv[1]):
            os.kill(os.getpid(), signal.SIGKILL)

    with open_store(parse(sys.argv[3]), create=True) as store:
        load.load(store, [Path(sys.argv[2])], progress=progress)
