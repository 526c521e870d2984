"""Runs the linter: finds files, checks them in several processes, caches the results and fixes findings."""
