def load(a):
    print(a)
    return a
