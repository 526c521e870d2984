from server import server as app

async def main(read, write):
    await app.run(read, write, app.create_initialization_options())
