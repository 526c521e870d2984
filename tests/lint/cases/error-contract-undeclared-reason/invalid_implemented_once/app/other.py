class Cache:
    def load(self, name):
        return name
