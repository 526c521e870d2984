"""How often `classify` finds the code that an engineer would, on real exceptions of real libraries."""
