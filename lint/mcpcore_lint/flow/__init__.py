"""What comes out of functions: their own errors, and those of all that they call."""
