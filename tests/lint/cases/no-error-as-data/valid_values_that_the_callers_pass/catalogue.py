def change(operation):
    return {"done": operation}


def run(operation):
    return change(operation)
