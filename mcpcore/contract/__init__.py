"""What an author declares, and what follows from it: codes, failure modes, contracts, errors, retry advice, effects.

It may import `values`. Begin with `failure_modes`, whose `FailureMode` is the heart of the package, then read `errors`:
a `CodedError` is a failure that happened. `codes` holds the table of codes, `effects` decides which advice is sent.
"""
