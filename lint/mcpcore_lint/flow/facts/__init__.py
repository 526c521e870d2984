"""What one function does, as facts that the call graph joins: read layer by layer, each in a module of its own."""
