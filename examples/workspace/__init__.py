"""A server on a folder: list, read, write, search and patch text files."""
