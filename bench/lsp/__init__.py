"""How long an editor waits for the language server in a project of 1,000 files."""
