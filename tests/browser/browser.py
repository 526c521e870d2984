"""Runs a script of this folder in the Chromium that `make browser` installs."""

from __future__ import annotations

import ctypes.util
import json
import os
import subprocess
from pathlib import Path

from tests.reach.drivers import NODE

HERE = Path(__file__).parent
MODULES = HERE / "node_modules"


def drive(script, *arguments, job=None):
    """What Chromium saw of pages, as the script says. `job` is JSON for its standard input."""
    unpacked = MODULES / ".chromium"
    unpacked.mkdir(exist_ok=True)
    environment = {**os.environ, "TMPDIR": str(unpacked)}
    if ctypes.util.find_library("nss3") is None:
        # The package has the three libraries that Chromium needs, and uses them where it takes itself to be in a cloud.
        environment |= {"AWS_EXECUTION_ENV": "AWS_Lambda_nodejs22.x", "FONTCONFIG_PATH": "/etc/fonts"}
    done = subprocess.run(
        [NODE, HERE / script, *arguments],
        input=job and json.dumps(job),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env=environment,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
