"""A proxy for MCP servers without contracts: it relays all messages, and rewrites failures.

`child`, `sessions`, `http` and `forward` move messages; `conversation` decides which of them are looked into;
`answers`, `disguises` and `listings` rewrite them; `overlay` and `learning` handle the contract that a user writes for
a server.
"""
