"""Programs of the whole grammar of Python."""

import importlib

from hypothesis import strategies as st

# What generates them takes a second to import, which only a test that runs needs.
any_program = st.deferred(lambda: importlib.import_module("hypothesmith").from_node())
