def sort(order: str) -> dict:
    if order == "title":
        return {"by": "title"}
    elif order == "year":
        return {"by": "year"}
    return {"error": f"no such order: {order}"}


def change(operation, title):
    if operation == "lend":
        return {"lent": title}
    elif operation == "renew":
        return {"renewed": title}
    else:
        return {"error": f"not supported: {operation}"}
