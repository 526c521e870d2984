from mcpcore import conflict

def load(a):
    raise conflict('x')
