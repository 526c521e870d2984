// The text for the model of the TypeScript SDK 2.x, in both eras of the protocol.

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { answer, askEach } from "./common.mjs";

const inEra = (mode) => async (url) => {
  const client = new Client({ name: "reach", version: "1.0.0" }, { versionNegotiation: { mode } });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  await client.listTools();
  return askEach(client);
};

await answer({
  "TypeScript SDK 2 (2026-07-28)": inEra("auto"),
  "TypeScript SDK 2 (handshake)": inEra("legacy"),
});
