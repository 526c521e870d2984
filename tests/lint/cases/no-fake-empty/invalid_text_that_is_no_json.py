# message: first_cells() returns
import asyncio
import json
from json import JSONDecodeError

class Database:
    async def __aenter__(self):
        return self

    async def query(self, sql):
        return await asyncio.to_thread(self._query, sql)

    async def file(self, path):
        return path.read_text() if path else json.dumps([])

    def _query(self, sql):
        if sql:
            return json.dumps([{"name": sql}])
        return json.dumps({"changed": 0}, default=str)

def first_names(text):
    if not text:
        return []
    try:
        rows = json.loads(text)
    except json.JSONDecodeError:
        return []
    return [row["name"] for row in rows]

def first_cells(text):
    try:
        rows = json.loads(text)
    except JSONDecodeError:
        return []  # here
    return [row["name"] for row in rows]

@mcp.tool
async def names():
    async with Database() as database:
        result = await database.query("select name")
    return first_names(result)

@mcp.tool
async def cells(path: str):
    async with Database() as database:
        result = await database.file(path)
    return first_cells(result)

@mcp.tool
def copy(rows: list):
    text = json.dumps(rows)
    try:
        return json.loads(text)
    except JSONDecodeError:
        return []

@mcp.tool
def read(text: str):
    text = text or json.dumps([])
    try:
        return json.loads(text)
    except JSONDecodeError:
        return []  # here

@mcp.tool
def every(rows: list):
    try:
        return json.loads(json.dumps(rows))
    except (JSONDecodeError, RecursionError):
        return []  # here

def rows_of(text):
    try:
        return json.loads(text)
    except JSONDecodeError:
        return []  # here

@mcp.tool
def copied(rows: list):
    return rows_of(json.dumps(rows))

@mcp.tool
async def read_rows(text: str):
    return await asyncio.to_thread(rows_of, text)
