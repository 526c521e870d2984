// What the Inspector's command line shows, which is where an author looks at a server: the text of the result, or the
// message of its error. All calls run in this process, as starting Node.js for each takes ten times as long as the call.

import { fileURLToPath } from "node:url";
import { answer, CASES, textOf } from "./common.mjs";

const cli = fileURLToPath(import.meta.resolve("@modelcontextprotocol/inspector/package.json"))
  .replace(/package\.json$/, "clients/cli/build/index.js");
const { runCli, handleError } = await import(cli);

/** Run the command line with the words of one call, as its launcher does, and return what it writes to each stream. */
async function shown(words) {
  const written = { stdout: "", stderr: "" };
  const kept = { stdout: process.stdout.write, stderr: process.stderr.write, exit: process.exit };
  for (const name of ["stdout", "stderr"]) {
    process[name].write = (text, ...rest) => {
      written[name] += text;
      rest.find((word) => typeof word === "function")?.();
      return true;
    };
  }
  process.exit = () => {};
  try {
    await runCli([process.execPath, "mcp-inspector", ...words]);
  } catch (error) {
    await handleError(error); // prints the error, and ends the process with a status for each kind
  } finally {
    for (const name of ["stdout", "stderr"]) process[name].write = kept[name];
    process.exit = kept.exit;
  }
  return written;
}

/** The text that one call shows. */
async function run(url, tool, args) {
  const options = [url, "--transport", "http", "--protocol-era", "auto", "--method", "tools/call"];
  const call = ["--tool-name", tool, "--tool-args-json", JSON.stringify(args), "--format", "json", "--quiet"];
  const { stdout, stderr } = await shown([...options, ...call]);
  const { result, error } = JSON.parse(stdout.trim() || stderr.trim());
  return result ? textOf(result) : error.message;
}

await answer({
  "Inspector (command line)": async (url) => {
    const texts = {};
    for (const [name, [tool, args]] of Object.entries(CASES)) texts[name] = await run(url, tool, args);
    return texts;
  },
});
