# message: no function is found behind `spec.run`
import importlib
import os
from dataclasses import dataclass

from fastmcp import FastMCP

@dataclass
class Spec:
    name: str
    run: object

def register(app, specs: list[Spec]) -> None:
    for spec in specs:
        app.tool(name=spec.name)(spec.run)

def spec_of(name: str) -> Spec:
    return Spec(name, importlib.import_module(f"acme.tools.{name}").run)

register(FastMCP("acme"), [spec_of(name) for name in os.listdir("tools")])  # here
