// What the Inspector's command line shows, which is where an author looks at a server: the text of the result, or the
// message of its error. Each call is a process.

import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { answer, CASES, textOf } from "./common.mjs";

const launcher = fileURLToPath(import.meta.resolve("@modelcontextprotocol/inspector/package.json"))
  .replace(/package\.json$/, "clients/launcher/build/index.js");

/** The text that one call shows. The process ends with a status for a failed tool, which is no error here. */
const run = (url, tool, args) =>
  new Promise((resolve, reject) => {
    const options = ["--cli", url, "--transport", "http", "--protocol-era", "auto", "--method", "tools/call"];
    const call = ["--tool-name", tool, "--tool-args-json", JSON.stringify(args), "--format", "json", "--quiet"];
    execFile(process.execPath, [launcher, ...options, ...call], (error, stdout, stderr) => {
      const shown = stdout.trim() || stderr.trim();
      if (!shown) return reject(error);
      const { result, error: refused } = JSON.parse(shown);
      resolve(result ? textOf(result) : refused.message);
    });
  });

await answer({
  "Inspector (command line)": async (url) =>
    Object.fromEntries(
      await Promise.all(
        Object.entries(CASES).map(async ([name, [tool, args]]) => [name, await run(url, tool, args)]),
      ),
    ),
});
