from datetime import datetime
from decimal import Decimal
from pathlib import Path
from mcpcore import not_found, tool

@tool
def fetch(a: str, ids: set[str], n: float) -> str:
    seen = {"1", "2"}
    raise not_found(
        "x",
        data={
            "a": sorted(seen), "b": datetime.now(), "c": Path(a), "d": Decimal("1"), "e": list({1, 2}), "f": n,
            "g": b"x", "h": (1, 2), "i": {"k": None}, "j": ids, "k": [x for x in a], "l": str(seen),
            **{"m": 1},
        },
    )
