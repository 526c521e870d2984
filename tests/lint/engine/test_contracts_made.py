"""Contracts built by functions and comprehensions are evaluated, and never guessed."""

from __future__ import annotations

import time
from typing import Final

import pytest

HEAD: Final = '''
from dataclasses import dataclass
from typing import ClassVar
from mcpcore import Contract, ErrorCode, FailureMode, tool

def entry(reason, code=ErrorCode.NOT_FOUND, *, hint="Ask the user what should be done."):
    """One entry."""
    return FailureMode(reason, code, when=f"It is {reason}.", recovery=hint)

@dataclass(frozen=True)
class Held:
    SECOND: ClassVar[FailureMode] = entry("se" + "-".join(["co", "nd"]).replace("-", ""), ErrorCode.FORBIDDEN)
    first: FailureMode = entry("held", ErrorCode.CONFLICT)

HELD = Held()

def common(*more):
    own = [entry("lost")]
    return [*own, *more]

def both(first, **options):
    return Contract([entry(first, **options), entry("late")])

def grown(more):
    found = [entry("lost")]
    found.append(more)
    return found

def either(strict):
    if strict:
        return [entry("lost")]
    return [entry("late")]

def around(*more):
    return around(*more)

class Maker:
    def errors(self):
        return [entry("lost")]

PAIRS = [("lost", ErrorCode.NOT_FOUND), ("taken", ErrorCode.CONFLICT)]
TABLE = {"lost": ErrorCode.NOT_FOUND, "taken": ErrorCode.CONFLICT}
'''

MADE: Final[dict[str, tuple[str, dict[str, str]]]] = {
    "a function with entries": ("common()", {"lost": "NOT_FOUND"}),
    "a function that is given more": (
        'common(entry("late", ErrorCode.CONFLICT), FailureMode("odd", ErrorCode.FORBIDDEN, when="x", recovery="y"))',
        {"lost": "NOT_FOUND", "late": "CONFLICT", "odd": "FORBIDDEN"},
    ),
    "unpacked and added": (
        '[*common(), entry("late")] + common(entry("odd"))',
        {"lost": "NOT_FOUND", "late": "NOT_FOUND", "odd": "NOT_FOUND"},
    ),
    "a contract by keywords": (
        'both("gone", code=ErrorCode.CONFLICT)',
        {"gone": "CONFLICT", "late": "NOT_FOUND"},
    ),
    "a comprehension over pairs": (
        '[FailureMode(r, c, when="x", recovery="y") for r, c in PAIRS]',
        {"lost": "NOT_FOUND", "taken": "CONFLICT"},
    ),
    "a comprehension over a table": (
        "[entry(reason, code) for reason, code in TABLE.items()]",
        {"lost": "NOT_FOUND", "taken": "CONFLICT"},
    ),
    "a part of a list": ("[entry(each) for each in TABLE][1:]", {"taken": "NOT_FOUND"}),
}

UNKNOWN: Final = (
    'grown(entry("late"))',
    "either(True)",
    "around()",
    "Maker().errors()",
    "common(*given())",
    'both("gone", **given())',
    '[entry(each) for each in TABLE if each != "lost"]',
    "[entry(each) for each in given()]",
)


@pytest.mark.parametrize("case", MADE)
def test_a_computed_contract_is_known(project, case):
    """The reasons and codes are those that the function or comprehension produces."""
    errors, expected = MADE[case]
    project.write(app=f"{HEAD}\n@tool(errors={errors})\ndef fetch(): ...\n")
    contract = project.tools()["fetch"].contract
    assert contract.known
    assert expected == {reason: entry.code_value.name for reason, entry in contract.by_reason.items()}


@pytest.mark.parametrize("errors", UNKNOWN)
def test_a_contract_with_possible_further_entries_is_not_known(project, errors):
    """If part of a contract is unknown, no rule reports anything about the contract as a whole."""
    project.write(app=f"{HEAD}\n@tool(errors={errors})\ndef fetch(): ...\n")
    assert not project.tools()["fetch"].contract.known


def test_a_computed_entry_is_reported_at_the_call_and_not_fixed(project):
    """The finding for an entry that a function returns is at the call; a fix leaves the function unchanged."""
    text = f'{HEAD}\n@tool(errors=[entry("Lost One", hint="no"), *common()])\ndef fetch(): ...\n'
    project.write(app=text)
    run = project.run(select=frozenset({"contract"}))
    path = str(project.root / "app.py")
    found = run.check(path, run.project.read(path)).diagnostics
    line = text.count("\n", 0, text.index("@tool")) + 1
    rules = {each.rule for each in found if each.span.line == line}
    assert {"error-contract-reason-format", "error-contract-recovery-min-words"} <= rules
    edits = [edit for each in found if each.fix is not None for edit in each.fix.edits]
    assert all(text.index("@tool") < edit.start for edit in edits)


HOSTILE: Final = """
def again(a="x", *, b=None): return [*again(a), *again(b), again]
def there(a): return back(a)
def back(a): return [*there(a), *there(a)]
T = [T for T in T]
U = [[V for V in U] for V in V]
V = {W: W for W in V.items()}
def made(n=made()): return n
class A:
    CODE = A.CODE
    def __init__(self): self.CODE = self.CODE.CODE; self.X = type(self).X
    def x(self): return [self.CODE, self.X]
"""


def test_self_referential_contracts_end(project):
    """Functions, comprehensions and attributes that refer back to themselves quickly evaluate to unknown."""
    doubled = "".join(f"def f{i}(): return [*f{i + 1}(), *f{i + 1}()]\nA{i} = A{i + 1} + A{i + 1}\n" for i in range(60))
    tools = "".join(
        f"@tool(errors={errors})\ndef t{number}(): ...\n"
        for number, errors in enumerate(("again()", "[*there(1)]", "T", "U", "V", "made()", "A().x()", "f0()", "A0"))
    )
    project.write(app=f"{HEAD}{HOSTILE}{doubled}def f60(): return [1]\nA60 = [1]\n{tools}")
    started = time.monotonic()
    found = project.tools()
    assert 9 == len(found)
    assert not any(each.contract.known for each in found.values())
    assert time.monotonic() - started < 10
