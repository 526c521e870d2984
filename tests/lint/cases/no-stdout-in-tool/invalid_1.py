# message: print() in fetch writes to standard output, which over stdio carries the protocol
import sys
from mcpcore import tool

@tool
def fetch(a: str) -> str:
    print(a)  # here
    print(a, file=None)
    sys.stdout.write(a)  # here
    sys.__stdout__.write(a)  # here
    sys.stdout.buffer.write(a.encode())  # here
    return input("Which?")  # here

@tool
def show(a: str) -> str:
    print(a, file=sys.stdout, flush=True)  # here
    return str(print(a, file=None))

@tool
def read(a: str) -> str:
    print(a, file=None)  # here
    return a
