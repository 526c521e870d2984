# message: `day`
from mcpcore import Context, ErrorCode, FailureMode, not_found, tool

class Tools:
    @tool(errors=[FailureMode("gone", ErrorCode.NOT_FOUND, when="x", recovery="y")])
    def fetch(self, ctx: Context, pmid: str, day: int, item) -> str:
        if pmid == "1":
            raise ctx.fail("gone", f"no {pmid} on {day}", data={"pmid": pmid})  # here
        if pmid == "2":
            raise ctx.fail("gone", f"no {pmid}")  # here
        if pmid == "3":
            raise not_found("no {}".format(pmid.upper()), {"other": 1})  # here
        if pmid == "4":
            raise ctx.fail("gone", "no %s" % item.id)  # here
        if pmid == "5":
            raise ctx.fail("gone", "no " + str(pmid))  # here
