"""Runs: which files, in which processes, from which cache, and what becomes of the findings."""
