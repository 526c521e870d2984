"""Reason coverage: records the reasons that tests raise, merges the records of all processes, and reports them."""
