# message: find returns {"error": ...}; the client sees a successful call
from fastapi import FastAPI, HTTPException, Response
from fastapi.responses import JSONResponse
from fastmcp import FastMCP

app = FastAPI()


@app.get("/find")
def find(q: str):
    print("looking")
    return {"error": f"no book {q}"}  # here


@app.get("/lend")
def lend(q: str, response: Response):
    if not q:
        response.status_code = 404
        return {"error": f"no book {q}"}
    raise HTTPException(status_code=500, detail="not today")


@app.get("/read")
def read(q: str):
    return JSONResponse(status_code=404, content={"error": f"no book {q}"})


mcp = FastMCP.from_fastapi(app)
