# message: rich.print() in fetch
import asyncio
import csv
import logging
import os
import pprint
import subprocess
import sys
import traceback
from sys import stdout

import click
from fastmcp import FastMCP
from rich import print as show

mcp = FastMCP("x")

@mcp.tool
async def fetch(a: str) -> str:
    show(a)  # here
    pprint.pprint(a)  # here
    click.echo(a)  # here
    click.echo(a, err=True)
    traceback.print_exc(file=sys.stdout)  # here
    logging.basicConfig(stream=sys.stdout)  # here
    csv.writer(stdout)  # here
    os.system("make")  # here
    subprocess.run(["make"], check=True)  # here
    subprocess.Popen(["make"], stdout=None)  # here
    subprocess.call(["make"], stdout=sys.stdout)  # here
    await asyncio.create_subprocess_exec("make", a)  # here
    return a
