"""Definitions: the names and descriptions by which a model chooses and calls tools."""
