from mcp.server.fastmcp import FastMCP

mcp = FastMCP("scales")
_calls = 0
_scales = None
_other = None

class Scales:
    def weigh(self, thing: str) -> int:
        print("weighing", thing)  # here
        return len(thing)

class Quiet:
    def weigh(self, thing: str) -> int:
        return len(thing)

def get_scales():
    global _calls, _scales
    _calls += 1
    if _scales is not None:
        return _scales
    _scales = Scales()
    return _scales

def get_other():
    return _other

def unrelated():
    _other = Scales()  # another variable
    return len([_other])

def set_other():
    global _other
    _other = Quiet()

@mcp.tool()
def weigh(thing: str) -> int:
    """Weigh a thing."""
    scales = get_scales()
    return scales.weigh(thing)

@mcp.tool()
def guess(thing: str) -> int:
    """Guess the weight of a thing."""
    return get_other().weigh(thing)

if __name__ == "__main__":
    mcp.run()
