"""What files say: their text, their syntax, and the names that they bind and import."""
