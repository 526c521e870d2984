"""How long hostile texts take to redact."""
