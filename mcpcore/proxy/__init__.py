"""A proxy for MCP servers without contracts: it relays all messages, and rewrites failures.

`lines`, `child`, `stdio`, `http` and `forward` move messages; `conversation` decides which of them are looked into;
`answers`, `disguises`, `arguments` and `listings` rewrite them; `overlay`, `matching`, `learning` and
`statistics` handle the contract that a user writes for a server.
"""
