# message: swallows every OSError
import os
from contextlib import suppress
from pathlib import Path
from mcpcore import tool

@tool
def save(path: str, text: str) -> str:
    try:
        Path(path).write_text(text)
    except OSError:  # here
        pass
    with suppress(IOError):  # here
        index(path)
    try:
        os.chmod(path, 0o600)
    except OSError:
        pass
    size = 0
    try:
        size = Path(path).stat().st_size
    except OSError:
        pass
    try:
        index(path)
    except (ConnectionError, FileNotFoundError):
        pass
    with suppress(OSError):
        os.unlink(path)
    return f"{size} bytes"
