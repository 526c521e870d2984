"""A server that answers with lines of a file, and writes what it reads to another: `scripted.py ANSWERS SEEN`.

Each line of ANSWERS is sent after the next line was read; a line `*` sends nothing.
"""

from __future__ import annotations

import sys
from pathlib import Path

answers = Path(sys.argv[1]).read_bytes().split(b"\n")
with Path(sys.argv[2]).open("ab") as seen:
    for line in sys.stdin.buffer:
        seen.write(line)
        seen.flush()
        answer = answers.pop(0) if answers else b"*"
        if answer != b"*":
            sys.stdout.buffer.write(answer + b"\n")
            sys.stdout.buffer.flush()
