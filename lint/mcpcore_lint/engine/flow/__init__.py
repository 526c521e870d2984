"""Computes the errors that leave functions: their own and those of the functions that they call."""
