from mcpcore import guard

@guard(errors={LookupError: "no_row"})
def load(a):
    return {}[a]
