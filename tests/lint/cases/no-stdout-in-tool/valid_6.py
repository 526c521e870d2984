import os
import subprocess
from mcpcore import tool

@tool
def build(a: str) -> str:
    os.system("make")
    subprocess.run(["make", a], check=True)
    return a
