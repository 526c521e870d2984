# message: the text of the caught CalledProcessError
import subprocess
from mcpcore import service_unavailable, tool

@tool
def run(a: str) -> str:
    try:
        return subprocess.check_output([a]).decode()
    except subprocess.CalledProcessError as error:
        raise service_unavailable(error.stderr.decode()) from error  # here
