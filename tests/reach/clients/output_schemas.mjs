// What the TypeScript SDKs make of a tool with each shape of an output schema: `node output_schemas.mjs '{shape: command}'`
// prints what they show of a success and of a failure, and null for both if they cannot list the tool.

import { Client as Client1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as Transport1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { Client as Client2 } from "@modelcontextprotocol/client";
import { StdioClientTransport as Transport2 } from "@modelcontextprotocol/client/stdio";
import { textOf } from "./common.mjs";

const CLIENTS = {
  "TypeScript SDK 1": [Client1, Transport1],
  "TypeScript SDK 2 (handshake)": [Client2, Transport2],
};

async function shown(client, shape) {
  try {
    await client.listTools(); // from here on, results are validated against the schemas that the server advertises
  } catch {
    return [null, null];
  }
  const texts = [];
  for (const lost of [false, true]) {
    try {
      texts.push(textOf(await client.callTool({ name: `find_${shape}`, arguments: { lost } })));
    } catch (error) {
      texts.push(error.message);
    }
  }
  return texts;
}

const answers = {};
for (const [name, [Client, Transport]] of Object.entries(CLIENTS)) {
  answers[name] = {};
  for (const [shape, [command, ...args]] of Object.entries(JSON.parse(process.argv[2]))) {
    const client = new Client({ name: "reach", version: "1.0.0" });
    await client.connect(new Transport({ command, args }));
    answers[name][shape] = await shown(client, shape);
    await client.close();
  }
}
console.log(JSON.stringify(answers));
