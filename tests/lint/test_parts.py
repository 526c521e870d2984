"""The parts that the ablation switches off."""

from __future__ import annotations

import importlib
from functools import reduce

import pytest

from bench.lint.parts import PARTS


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.name)
def test_a_part_names_functions_of_the_engine(part):
    """Each hook is a function that exists, so that a renamed one cannot leave the ablation."""
    for hook in part.hooks:
        module, _, path = hook.partition(":")
        assert callable(reduce(getattr, path.split("."), importlib.import_module(f"mcpcore_lint.{module}")))
