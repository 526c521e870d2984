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
        index(path)
    except (ConnectionError, FileNotFoundError):
        pass
    with suppress(OSError):
        os.unlink(path)
    return "saved"
