"""Contract structure: what a contract says, before looking at the code that keeps it."""
