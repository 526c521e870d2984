// The text for the model of the TypeScript SDK 1.x, which also validates the structured content of failures.

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { answer, askEach } from "./common.mjs";

await answer({
  "TypeScript SDK 1": async (url) => {
    const client = new Client({ name: "reach", version: "1.0.0" });
    await client.connect(new StreamableHTTPClientTransport(new URL(url)));
    await client.listTools(); // from here on, results are validated against the schemas that the server advertises
    return askEach(client);
  },
});
