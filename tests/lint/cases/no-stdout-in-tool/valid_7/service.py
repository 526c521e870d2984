class Service:
    def fetch(self, a):
        return a

    def dump(self):
        print(self)
