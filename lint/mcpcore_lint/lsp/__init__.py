"""The language server: `mcpcore lint --lsp` on standard input and output, for editors."""
