"""What expressions mean: values, classes, and what an object is an instance of."""
