PAIRS = []
TABLE = {}

def pair(name):
    def decorate(fn):
        PAIRS.append((name, fn))
        return fn
    return decorate

def entry(fn):
    TABLE[fn.__name__] = fn
    return fn
