// What the drivers in JavaScript share: the calls to make, and how they answer. See common.py.

import { readFileSync } from "node:fs";

export const CASES = JSON.parse(readFileSync(new URL("cases.json", import.meta.url), "utf8"));

export const textOf = (result) =>
  result.content
    .filter((block) => block.type === "text")
    .map((block) => block.text)
    .join("\n");

/** Ask every server with each of `clients`, `{name: (url, cases) => texts}`, and print what reached the model. */
export async function answer(clients) {
  const texts = {};
  for (const [server, url] of Object.entries(JSON.parse(process.argv[2]))) {
    texts[server] = {};
    for (const [name, ask] of Object.entries(clients)) texts[server][name] = await ask(url);
  }
  console.log(JSON.stringify(texts));
}

/** The text of each case: of its result, or of the error of the protocol that the SDK throws. */
export async function askEach(client) {
  const texts = {};
  for (const [name, [tool, args]] of Object.entries(CASES)) {
    try {
      texts[name] = textOf(await client.callTool({ name: tool, arguments: args }));
    } catch (error) {
      texts[name] = error.message;
    }
  }
  await client.close();
  return texts;
}
