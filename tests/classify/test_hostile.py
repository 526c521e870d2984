"""Exceptions made to hurt: classify answers, quickly, and never raises."""

from __future__ import annotations

import gc
import time
import types
import unittest.mock

import pytest
from hypothesis import given, settings, strategies as st

from mcpcore.classification import Explanation, explain
from mcpcore.classification.engine import _PLANS, classify
from mcpcore.contract.codes import ErrorCode, is_code
from mcpcore.contract.errors import CodedError
from tests.boundaries import chain

C = ErrorCode


class Bomb(BaseException):
    pass


class RaisingStrError(Exception):
    def __str__(self) -> str:
        raise Bomb


class RaisingAttributesError(Exception):
    def __getattr__(self, name: str) -> object:
        raise Bomb

    @property
    def response(self) -> object:
        raise SystemExit

    @property
    def __cause__(self) -> object:  # type: ignore[override]
        raise Bomb


class EndlessPropertyError(Exception):
    @property
    def status_code(self) -> object:
        return self.status_code


class LiarError(Exception):
    __class__ = property(lambda self: 1 / 0)  # type: ignore[assignment]
    __module__ = 5  # type: ignore[assignment]


class LyingGroup(ExceptionGroup):
    exceptions = property(lambda self: 1 / 0)  # type: ignore[assignment]


class UnhashableMeta(type):
    def __hash__(cls) -> int:
        raise Bomb


class UnhashableError(Exception, metaclass=UnhashableMeta):
    pass


class ClosedMeta(type):
    def __getattribute__(cls, name: str) -> object:
        raise Bomb


class NamedMeta(type):
    """Raises for those classes that say so: a derived class need not be as odd as its base."""

    def __hash__(cls) -> int:
        if cls.__dict__.get("unhashable"):
            raise Bomb
        return type.__hash__(cls)


class UnhashableBaseError(Exception, metaclass=NamedMeta):
    unhashable = True


class HashableError(UnhashableBaseError):
    pass


class CodedConflictError(CodedError):
    def __init__(self, text: object) -> None:
        super().__init__(C.CONFLICT, str.__str__(str(text)))


class OddModule:
    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        raise Bomb


def _closed() -> Exception:
    # Made where it is used: merely collecting such a class would break the test run.
    return ClosedMeta("Closed", (Exception,), {})("user not found")  # type: ignore[return-value]


class OddStr(str):
    __slots__ = ()

    def __len__(self) -> int:
        raise Bomb

    def lower(self) -> str:
        raise Bomb


class OddInt(int):
    def __le__(self, other: object) -> bool:
        raise Bomb

    __ge__ = __le__


def _with(**facts: object) -> Exception:
    exc = Exception("user not found")
    vars(exc).update(facts)
    return exc


def _cycle() -> Exception:
    first, second = RuntimeError("one"), RuntimeError("user not found")
    first.__cause__, second.__cause__ = second, first
    return first


def _deep_chain() -> Exception:
    return chain(TimeoutError(), *(RuntimeError("user not found") for _ in range(20_000)))


def _deep_group() -> Exception:
    exc: Exception = RuntimeError("user not found")
    for _ in range(20_000):
        exc = ExceptionGroup("x", [exc])
    return exc


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (lambda: RaisingStrError("x"), C.INTERNAL_ERROR),
        (lambda: RaisingAttributesError("user not found"), C.NOT_FOUND),
        (lambda: EndlessPropertyError("user not found"), C.NOT_FOUND),
        (lambda: LiarError("user not found"), C.NOT_FOUND),
        (lambda: LyingGroup("x", [TimeoutError()]), C.TIMEOUT),
        (lambda: UnhashableError("x"), C.INTERNAL_ERROR),
        (lambda: HashableError("user not found"), C.NOT_FOUND),
        (lambda: _odd((HashableError, CodedConflictError), "user not found"), C.CONFLICT),
        (lambda: _odd((KeyError,), "user not found", module=OddModule()), C.NOT_FOUND),
        (_closed, C.NOT_FOUND),
        (lambda: RuntimeError(OddStr("user not found")), None),
        (lambda: _with(status_code=OddInt(404)), C.NOT_FOUND),
        (lambda: _with(response=unittest.mock.MagicMock(), code=unittest.mock.MagicMock()), C.NOT_FOUND),
        (lambda: _with(code=lambda: 1 / 0, args=None), C.NOT_FOUND),
        (_cycle, C.NOT_FOUND),
        (_deep_chain, C.NOT_FOUND),
        (_deep_group, C.INTERNAL_ERROR),
        (lambda: RuntimeError("\ud800 user not found"), C.NOT_FOUND),
        (lambda: RuntimeError("access " * 100_000), C.INTERNAL_ERROR),
        (lambda: RuntimeError("not " * 300 + "-_ " * 300), C.INTERNAL_ERROR),
        (lambda: RuntimeError("expected " * 170), C.INTERNAL_ERROR),
        (lambda: RuntimeError("a" * 10_000_000, ["x"] * 1_000_000), C.INTERNAL_ERROR),
        (lambda: ExceptionGroup("x", [RuntimeError("user not found")] * 50_000), C.INTERNAL_ERROR),
        (lambda: ExceptionGroup("x", [TimeoutError() for _ in range(50_000)]), C.TIMEOUT),
        (lambda: None, C.INTERNAL_ERROR),
        (lambda: "text", C.INTERNAL_ERROR),
        (lambda: unittest.mock.MagicMock(spec=Exception), C.INTERNAL_ERROR),
    ],
)
def test_a_hostile_exception_is_classified_all_the_same(make: object, code: ErrorCode | None) -> None:
    """Nothing that an exception does makes classify raise, hang or read without bounds."""
    exc = make()  # type: ignore[operator]
    started = time.process_time()
    classified = classify(exc)
    explained = explain(exc)
    assert time.process_time() - started < 1
    assert is_code(classified)
    assert classified is explained.code
    assert code in {None, classified}


def _chained(outer: BaseException, inner: BaseException) -> BaseException:
    BaseException.__dict__["__cause__"].__set__(outer, inner)
    return outer


def _odd(bases: tuple[type[BaseException], ...], text: object, **facts: object) -> BaseException:
    namespace = {"__module__": facts.pop("module", "acme"), **facts}
    try:
        return types.new_class("OddError", bases, {}, lambda space: space.update(namespace))(text)
    except (TypeError, Bomb):  # these bases have no common layout or metaclass, or cannot be bases
        return bases[0](text)


BASES: list[type[BaseException]] = [
    HashableError, UnhashableError, UnhashableBaseError, RaisingStrError, RaisingAttributesError, EndlessPropertyError,
    LiarError, TimeoutError, KeyError, ValueError, TypeError, RuntimeError, OSError, Exception, KeyboardInterrupt,
    CodedConflictError,
]  # fmt: skip
TEXTS = st.sampled_from(["user not found", "timed out", "rate limit exceeded, retry in 3 s", "x", ""]) | st.text()
odd_exceptions = st.builds(
    # By their numbers, as not each of them can be hashed.
    lambda bases, text, facts: _odd(tuple(BASES[number] for number in bases), text, **facts),
    st.lists(st.integers(0, len(BASES) - 1), min_size=1, max_size=3, unique=True),
    TEXTS | TEXTS.map(OddStr),
    st.fixed_dictionaries(
        {},
        optional={
            "module": st.sampled_from(["builtins", "acme", 5, OddModule()]),
            "unhashable": st.booleans(),
            "status_code": st.sampled_from([404, "503", OddInt(429), True, None]),
            "code": st.sampled_from([404, "Throttling", OddInt(3), lambda: 1 / 0, C.CONFLICT]),
            "errno": st.sampled_from([2, 13, OddInt(2), "2"]),
            "response": st.sampled_from([{"Error": {"Code": "NoSuchKey"}}, {}, OddStr("x")]),
            "retry": st.sampled_from([None, 5]),
        },
    ),
)
exceptions = st.recursive(
    odd_exceptions
    | st.builds(
        lambda kind, text: kind(text),
        st.sampled_from([TimeoutError, KeyError, ValueError, RuntimeError, OSError]),
        TEXTS,
    ),
    lambda inner: st.one_of(
        st.builds(_chained, odd_exceptions | st.builds(RuntimeError, TEXTS), inner),
        st.builds(lambda exc: RuntimeError("failed", exc), inner),
        st.builds(lambda members: BaseExceptionGroup("x", members), st.lists(inner, min_size=1, max_size=3)),
    ),
    max_leaves=8,
)


@given(exceptions, st.booleans())
@settings(max_examples=300, deadline=None)
def test_classify_and_explain_agree(exc: BaseException, first: bool) -> None:
    """Whatever the classes and the shape of a chain, both give one code, whichever is asked first."""
    before = classify(exc) if first else None
    explanation = explain(exc)
    assert before in {None, explanation.code}
    assert isinstance(explanation, Explanation)
    assert explanation.code is classify(exc)
    assert isinstance(explanation.matched.exception, BaseException)


def test_classes_made_on_the_fly_do_not_pile_up() -> None:
    """The cache by class is bounded, so a program that makes classes keeps its memory."""
    for number in range(10_000):
        classify(type(f"E{number}", (Exception,), {})("x"))
    gc.collect()
    assert len(_PLANS) <= 4_096
