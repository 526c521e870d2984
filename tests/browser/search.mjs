// Types queries into the search of the built site, and prints the pages that it lists for each of them as JSON.
// node search.mjs SITE < QUERIES
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { launch } from "./launch.mjs";
import { serve } from "./serve.mjs";

const site = process.argv[2];
const { queries, opened } = JSON.parse(readFileSync(0, "utf8"));
const browser = await launch();
const server = await serve(site);

async function search(address, words) {
  const tab = await browser.newPage();
  await tab.goto(`${address}/reference/codes.html`, { waitUntil: "load" });
  const found = {};
  for (const query of words) {
    await tab.evaluate((text) => {
      const box = document.querySelector("[data-md-component=search-query]");
      document.querySelector(".md-search-result__list").replaceChildren();
      document.querySelector(".md-search-result__meta").textContent = "";
      box.focus();
      box.value = text;
      box.dispatchEvent(new KeyboardEvent("keyup", { bubbles: true }));
    }, query);
    await tab.waitForFunction(() => /document|result/.test(document.querySelector(".md-search-result__meta").textContent));
    found[query] = await tab.$$eval(
      ".md-search-result__item",
      (items, root) => items.map((item) => decodeURI(item.querySelector("a").href.split(/[?#]/)[0].slice(root.length + 1))),
      address,
    );
  }
  await tab.close();
  return found;
}

const seen = {
  served: await search(server.address, queries),
  opened: await search(pathToFileURL(join(site)).href.replace(/\/$/, ""), opened),
};
await browser.close();
server.close();
console.log(JSON.stringify(seen));
