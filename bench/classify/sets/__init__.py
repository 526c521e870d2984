"""The labelled set, in parts: each label stood beside its case before any answer was looked at."""
