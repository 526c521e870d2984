"""The rate of loading a store, and the time of its queries beside the same questions to the files."""
