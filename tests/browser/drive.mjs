// Opens pages in Chromium, uses them as a reader would, and prints what it saw as JSON.
// node drive.mjs PAGE HOSTILE_PAGE [SCREENSHOTS]
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { launch } from "./launch.mjs";

const [page, hostile, screenshots] = process.argv.slice(2);
const axe = readFileSync(new URL("./node_modules/axe-core/axe.min.js", import.meta.url), "utf8");
const browser = await launch();

async function open(path, { scheme = "light", width = 1280, hash = "" } = {}) {
  const tab = await browser.newPage();
  await tab.setViewport({ width, height: 900 });
  await tab.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
  const noise = [];
  tab.on("console", (message) => noise.push(message.text()));
  tab.on("pageerror", (error) => noise.push(String(error)));
  tab.on("dialog", async (dialog) => { noise.push(`dialog ${dialog.message()}`); await dialog.dismiss(); });
  tab.on("request", (request) => { if (!request.url().startsWith("file:")) noise.push(`request ${request.url()}`); });
  await tab.goto(pathToFileURL(path).href + hash, { waitUntil: "load" });
  return { tab, noise };
}

// axe is evaluated by the debugger, which the page's policy does not bind.
async function violations(tab) {
  await tab.evaluate(axe);
  const found = await tab.evaluate(() => axe.run(document, { resultTypes: ["violations"] }));
  return found.violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.target.join(" ")).slice(0, 3).join(", ")}`);
}

const visible = (tab, selector) => tab.$$eval(selector, (all) => all.filter((one) => one.checkVisibility()).map((one) => one.id));
const count = (tab) => tab.$eval("#count", (output) => output.value);
const focused = (tab) => tab.evaluate(() => document.activeElement.id);
const seen = { axe: {}, noise: [] };

for (const [name, path] of [["page", page], ["hostile", hostile]]) {
  for (const scheme of ["light", "dark"]) {
    for (const width of name === "page" || screenshots ? [1280, 390] : [390]) {
      const { tab, noise } = await open(path, { scheme, width });
      seen.axe[`${name} ${scheme} ${width}`] = await violations(tab);
      seen.noise.push(...noise);
      seen.overflow = seen.overflow || await tab.evaluate(() => document.documentElement.scrollWidth > innerWidth);
      if (screenshots) await tab.screenshot({ path: join(screenshots, `${name}-${scheme}-${width}.png`) });
      if (name === "hostile") seen.taken = seen.taken || await tab.evaluate(() => "pwned" in window);
      await tab.close();
    }
  }
}

{
  const { tab, noise } = await open(page);
  const all = await visible(tab, ".failure[id]");
  seen.all = { count: await count(tab), failures: all };
  await tab.keyboard.press("/");
  seen.slash = await focused(tab);
  await tab.keyboard.type("stock");
  seen.search = { count: await count(tab), failures: await visible(tab, ".failure[id]"), items: await visible(tab, ".item") };
  await tab.keyboard.press("Escape");
  seen.escape = await count(tab);
  await tab.select("#code", "NOT_FOUND");
  seen.code = { failures: await visible(tab, ".failure[id]"), links: (await visible(tab, "nav a")).length };
  await tab.select("#reason", "shipped");
  seen.nothing = await tab.$eval("#empty", (part) => part.checkVisibility());
  await tab.evaluate((id) => { location.hash = id; }, all.at(-1));
  await tab.waitForFunction(() => document.querySelector("#code").value === "");
  seen.linked = await tab.$eval(":target", (part) => part.id);
  const background = () => tab.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const before = await background();
  await tab.click("#theme");
  seen.theme = before !== await background();
  seen.dark = await violations(tab);
  // Everything that can be clicked can be reached with the Tab key, in the order of the document.
  seen.tabbable = await tab.$$eval("a[href], button, input, select", (all) => all.every((one) => one.tabIndex === 0));
  const tree = await tab.accessibility.snapshot({ interestingOnly: false });
  const roles = new Set();
  (function walk(node) { roles.add(node.role); (node.children || []).forEach(walk); })(tree);
  seen.roles = ["banner", "navigation", "main", "search", "article", "heading"].filter((role) => roles.has(role));
  seen.noise.push(...noise);
  await tab.close();
}

{
  const { tab } = await open(page);
  await tab.keyboard.press("Tab");
  seen.first = await tab.evaluate(() => document.activeElement.className);
  await tab.keyboard.press("Enter");
  seen.skipped = await focused(tab);
  await tab.close();
}

{
  const { tab, noise } = await open(page, { hash: `#${seen.all.failures.at(-1)}` });
  seen.deep = await (await tab.waitForFunction(() => {
    const target = document.querySelector(":target"), { top } = target.getBoundingClientRect();
    return top >= 0 && top < innerHeight && target.id;
  })).jsonValue();
  seen.noise.push(...noise);
  await tab.close();
}

await browser.close();
console.log(JSON.stringify(seen));
