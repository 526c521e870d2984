"""The parts of the engine that the ablation switches off, each with the functions that it replaces."""

from __future__ import annotations

from typing import Any, Final, NamedTuple


class Part(NamedTuple):
    """A part of the engine."""

    name: str
    does: str
    hooks: dict[str, Any]
    """Functions as `module:qualified.name` below `mcpcore_lint`, each with its result when switched off."""


PARTS: Final = (
    Part(
        "calls", "follows the functions that a handler calls", {"engine.flow.facts.callees:Callees.targets": ([], [])}
    ),
    Part(
        "decorators",
        "follows the project's own decorators",
        {"engine.flow.facts.guards:_wrapper_of_function": []},
    ),
    Part("stdout", "finds what writes to standard output", {"engine.flow.facts.stdout:written_by": None}),
    Part(
        "types",
        "infers the class of an expression",
        {"engine.semantics.types:Inference.of": [], "engine.semantics.types:Inference.name": []},
    ),
    Part("annotations", "reads classes from annotations", {"engine.semantics.types:Inference.annotation": []}),
    Part(
        "returned types", "reads classes from what functions return", {"engine.semantics.types:Inference.returned": []}
    ),
    Part("attribute types", "reads classes from attributes", {"engine.semantics.types:Inference.attribute_of": []}),
    Part(
        "passed functions",
        "follows functions passed to functions",
        {"engine.flow.facts.callees:Callees.functions_in": []},
    ),
    Part(
        "callbacks", "follows functions passed to libraries", {"engine.flow.facts.extract:Extractor._callbacks": None}
    ),
    Part(
        "doubts",
        "doubts errors that a clause raises again conditionally",
        {"engine.flow.facts.guards:Guards._doubts": ()},
    ),
    Part("exits", "doubts errors that an `__exit__` may stop", {"engine.flow.facts.guards:Guards._of_exit": []}),
    Part("generator guards", "reads the clauses around a `yield`", {"engine.flow.facts.guards:yield_guards": []}),
    Part(
        "guards",
        "reads the errors that `guard` raises instead",
        {"engine.flow.facts.guards:Guards.converting": []},
    ),
    Part("gathered", "reads `return_exceptions=True`", {"engine.flow.facts.guards:Guards.gathered": ()}),
    Part("groups", "reads errors in exception groups", {"engine.flow.bodies.raises:RaiseReader._group_members": []}),
    Part(
        "reaching", "finds the assignment that reaches a use of a name", {"engine.syntax.reaching:is_followed": False}
    ),
    Part("star imports", "follows `from x import *`", {"engine.semantics.evaluate:Resolver._starred": None}),
    Part(
        "class attributes",
        "reads class attributes and members of enums",
        {"engine.semantics.evaluate:Resolver._class_attribute": "unknown"},
    ),
)
