"""Readers for the bodies of functions, one module for each aspect."""
