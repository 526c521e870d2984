class NoSuchRoom(Exception):
    pass
