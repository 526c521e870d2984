// Serves a folder of files on a free port of this machine.
import { createReadStream, statSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";

const TYPES = {
  ".css": "text/css", ".html": "text/html", ".js": "text/javascript", ".json": "application/json", ".png": "image/png",
  ".svg": "image/svg+xml", ".txt": "text/plain", ".xml": "application/xml",
};

export async function serve(folder) {
  const server = createServer((request, response) => {
    let path = join(folder, normalize(decodeURIComponent(new URL(request.url, "http://localhost").pathname)));
    let file = statSync(path, { throwIfNoEntry: false });
    if (file?.isDirectory()) file = statSync((path = join(path, "index.html")), { throwIfNoEntry: false });
    const status = file ? 200 : 404;
    if (!file) path = join(folder, "404.html");
    response.writeHead(status, {
      "Cache-Control": "max-age=600",
      "Content-Type": TYPES[extname(path)] ?? "application/octet-stream",
    });
    createReadStream(path).pipe(response);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { address: `http://127.0.0.1:${server.address().port}`, close: () => { server.close(); server.closeAllConnections(); } };
}
