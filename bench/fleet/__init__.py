"""The rate of loading a store, and the time of its queries, compared with the same questions to the files."""
