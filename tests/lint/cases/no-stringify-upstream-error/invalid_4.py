# message: the text of the caught HTTPError
import json
import traceback
import httpx
import sqlite3 as sql
from mcpcore import Context, ErrorCode, FailureMode, service_unavailable as down, tool

@tool(errors=[FailureMode("down", ErrorCode.SERVICE_UNAVAILABLE, when="x", recovery="y")])
async def fetch(ctx: Context, a: str) -> str:
    try:
        response = httpx.get(a)
    except httpx.HTTPError as exc:
        raise ctx.fail("down", f"PubMed failed: {exc}") from exc  # here
    except sql.Error as exc:
        raise down("failed: " + str(exc)) from exc  # here
    except OSError as exc:
        message = "failed: {}".format(exc)
        raise down(message) from exc  # here
    except (KeyError, Exception) as exc:
        if a == "1":
            raise down(repr(exc)[:200]) from exc  # here
        if a == "2":
            raise down(exc.args[0]) from exc  # here
        if a == "3":
            raise down("%s: %s" % (a, exc)) from exc  # here
        if a == "4":
            raise down(traceback.format_exc()) from exc  # here
        if a == "5":
            error = down(str(exc) or "failed")  # here
            raise error from exc
        raise down(exc) from exc  # here
    if response.status_code == 500:
        raise down(f"PubMed said {response.text}")  # here
    if response.status_code == 501:
        raise down(json.dumps(response.json()))  # here
    if response.status_code == 502:
        raise down(message=(await response.aread()).decode())  # here
    return response.text
