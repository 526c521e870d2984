"""How fast the linter is, beside Fixit, flake8, pylint and ruff on the same files in the same run."""
