"""The envelope of a failure: built from an error, written for clients, read back from any server's answer.

It may import `classification`, `contract` and `values`. Begin with `envelope`; `envelope_builder` makes one,
`envelope_text` writes and reads its text, `dialects` its other forms, `redaction` hides secrets in logs and records.
"""
