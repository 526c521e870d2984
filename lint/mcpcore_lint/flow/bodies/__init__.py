"""What the bodies of functions do: read layer by layer, each in a module of its own."""
