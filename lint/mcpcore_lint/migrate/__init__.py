"""Turns the tools of plain SDK and FastMCP servers into tools with contracts; the codemods of `mcpcore migrate`.

Each module makes one part of the change. `server` and `strings` rename what version 2 of the SDK calls differently,
`failures` finds the places where a tool fails, `catching` decides which of them may be raised instead of returned, and
`contracts` writes them together with the contract. `plan` puts the parts together for one file. `ast` judges, libcst
and text edits write. A second run finds nothing to change, since converted places no longer match.
"""
