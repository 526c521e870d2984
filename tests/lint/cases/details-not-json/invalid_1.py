# message: a set
import math
from mcpcore import Context, ErrorCode, FailureMode, not_found, tool

LIMIT = float("nan")

def helper(): ...

@tool(errors=[FailureMode("gone", ErrorCode.NOT_FOUND, when="x", recovery="y")])
def fetch(ctx: Context, a: str) -> str:
    if a == "1":
        raise ctx.fail("gone", data={"ids": {"1", "2"}})  # here
    if a == "2":
        raise ctx.fail("gone", "x", {"n": LIMIT})  # here
    if a == "3":
        raise ctx.fail("gone", "x", {1: "x"})  # here
    if a == "3.5":
        raise ctx.fail("gone", "x", {(1, a): "x"})  # here
    if a == "4":
        raise ctx.fail("gone", "x", dict(f=helper))  # here
    if a == "5":
        raise ctx.fail("gone", "x", {"a": [{"b": 1j}]})  # here
    if a == "6":
        raise ctx.fail("gone", "x", {"a": math.inf if a else 1})  # here
    if a == "7":
        raise not_found("x", {"a": (x for x in a)})  # here
    if a == "8":
        raise not_found("x", {"a": {x for x in a}})  # here
    if a == "9":
        raise not_found("x", {"b": lambda: 1})  # here
    ids = set(a)
    try:
        error = not_found("x", data={"ids": ids})  # here
    except KeyError as exc:
        raise not_found("x", data={"cause": exc}) from exc  # here
    raise error
