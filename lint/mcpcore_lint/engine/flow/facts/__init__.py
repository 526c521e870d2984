"""Extracts the facts of single functions, which the call graph combines."""
