"""How much an installation takes on the disk, without extras and with the extra `cli`."""
