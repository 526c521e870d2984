"""Declaring handlers: the options of the decorators, the contracts and the signatures."""
