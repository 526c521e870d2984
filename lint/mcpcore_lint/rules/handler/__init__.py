"""Handler body: how a handler raises, catches and returns failures."""
