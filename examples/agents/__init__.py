"""Agents of four frameworks on one server; the model is a script, so nothing is sent anywhere."""
