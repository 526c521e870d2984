"""Real servers, each with its tests, and the demonstration that shows them to people."""
