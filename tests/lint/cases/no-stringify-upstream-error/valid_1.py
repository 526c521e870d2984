import json
import subprocess
import httpx
from mcpcore import service_unavailable, tool, validation_error

class Mine(Exception): ...

def parse(a): ...

@tool
def fetch(a: str) -> str:
    try:
        return httpx.get(a).text
    except httpx.HTTPStatusError as error:
        raise service_unavailable(f"status {error.response.status_code}", data={"url": a}) from error
    except httpx.HTTPError as error:
        raise service_unavailable(f"no answer: {type(error).__name__}") from error
    except Mine as error:
        raise validation_error(str(error)) from error
    try:
        return json.loads(a)
    except json.JSONDecodeError as error:
        raise validation_error(f"not JSON: {error}") from error
    try:
        return parse(a)
    except ValueError as error:
        raise validation_error(str(error)) from error
    try:
        return int(a)
    except (ValueError, TypeError) as error:
        raise validation_error(f"not a number: {error}") from error
    try:
        return parse(a)
    except Exception as error:
        raise validation_error(f"no: {redacted(error)}") from error
    try:
        return subprocess.check_output([a]).decode()
    except subprocess.CalledProcessError as error:
        raise service_unavailable(f"it ended with {error.returncode}") from error
