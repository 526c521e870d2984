"""Runs `drive.mjs` in the Chromium and the Node that `make browser` installs."""

from __future__ import annotations

import ctypes.util
import json
import os
import platform
import shutil
import subprocess
from pathlib import Path

HERE = Path(__file__).parent
MODULES = HERE / "node_modules"


def node():
    """The Node that is installed with the packages, else the one of the system."""
    system = {"Windows": "win", "Darwin": "darwin"}.get(platform.system(), "linux")
    machine = {"x86_64": "x64", "AMD64": "x64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
    found = MODULES / f"node-{system}-{machine}" / "bin" / "node"
    return str(found) if found.exists() else shutil.which("node")


def drive(page, hostile, *more):
    """What Chromium saw of two pages."""
    unpacked = MODULES / ".chromium"
    unpacked.mkdir(exist_ok=True)
    environment = {**os.environ, "TMPDIR": str(unpacked)}
    if ctypes.util.find_library("nss3") is None:
        # The package has the three libraries that Chromium needs, and uses them where it takes itself to be in a cloud.
        environment |= {"AWS_EXECUTION_ENV": "AWS_Lambda_nodejs22.x", "FONTCONFIG_PATH": "/etc/fonts"}
    done = subprocess.run(
        [node(), HERE / "drive.mjs", page, hostile, *more],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env=environment,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
