"""Other people's libraries, one module each; a module imports its library only when it is used."""
