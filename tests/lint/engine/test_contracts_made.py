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


@pytest.mark.parametrize("errors", UNKNOWN)
def test_a_contract_with_possible_further_entries_is_not_known(project, errors):
    """If part of a contract is unknown, no rule reports anything about the contract as a whole."""
    project.write(app=f"{HEAD}\n@tool(errors={errors})\ndef fetch(): ...\n")
    assert not project.tools()["fetch"].contract.known


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
    started = time.process_time()
    registered = project.tools()
    assert 9 == len(registered)
    assert not any(tool.contract.known for tool in registered.values())
    assert time.process_time() - started < 10
