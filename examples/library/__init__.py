"""A lending library: a server as it grows, with a database, an upstream service and tests."""
