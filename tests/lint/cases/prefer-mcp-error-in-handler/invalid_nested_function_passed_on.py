# message: fetch raises ValueError
from mcpcore import tool

def run(work):
    return work()

@tool
def fetch(a: str) -> str:
    def inner():
        raise ValueError(a)  # here
    return run(inner)
