from mcpcore import guard

by_name = guard("store", errors={TimeoutError: "no_items"})

@guard("load", errors={KeyError: "no_itm"})
def load(a):
    return {}[a]

@guard("shared", errors={KeyError: "for_another_tool"})
def shared(a):
    return {}[a]
