"""Conformance: how the errors that a handler raises compare with the contract of its tool."""
