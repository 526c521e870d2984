// Opens every page of a site on a phone, and some on a wide screen too, and prints what a reader would stumble over as JSON.
// node pages.mjs SITE < { pages, tablet, wide, pictures, unknown }
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { launch } from "./launch.mjs";
import { serve } from "./serve.mjs";

const site = process.argv[2];
const { pages, tablet = [], wide, pictures, unknown } = JSON.parse(readFileSync(0, "utf8"));
const axe = readFileSync(new URL("./node_modules/axe-core/axe.min.js", import.meta.url), "utf8");
const PHONE = 390, TABLET = 800, DESK = 1440, SMALLEST = 12; // pixels; the last is the size of a letter in a picture
const browser = await launch();
const server = await serve(site);
const problems = [];

// Runs in the page.
function faults() {
  const found = new Set();
  const excerpt = (text) => JSON.stringify(text.trim().replace(/\s+/g, " ").slice(0, 40));
  const content = document.querySelector(".md-content") ?? document.body;
  const shown = (part) => part.checkVisibility({ visibilityProperty: true });

  if (!document.title.trim()) found.add("has no title");
  const headings = [...content.querySelectorAll("h1")].filter((heading) => heading.textContent.trim());
  if (headings.length !== 1) found.add(`has ${headings.length} headings of the first level`);
  if (document.documentElement.scrollWidth > innerWidth) found.add(`scrolls sideways, to ${document.documentElement.scrollWidth} pixels`);

  // A part may be wider than the screen only inside a block that scrolls; one that hides what does not fit cuts it.
  for (const part of content.querySelectorAll("pre, code, table, img, p, li, h1, h2, h3, h4")) {
    const { right, width } = part.getBoundingClientRect();
    if (!width || !shown(part) || getComputedStyle(part).position === "absolute") continue;
    for (let around = part.parentElement; ; around = around.parentElement) {
      const style = around && getComputedStyle(around);
      const edge = around ? around.getBoundingClientRect().right : innerWidth;
      if (around && /auto|scroll/.test(style.overflowX)) break;
      if ((!around || /hidden|clip/.test(style.overflowX)) && right > edge + 1) {
        found.add(`<${part.localName}> reaches ${Math.round(right - edge)} pixels beyond its block: ${excerpt(part.textContent || part.src)}`);
        break;
      }
      if (!around) break;
    }
    if (part.localName === "pre" && part.scrollWidth > part.clientWidth + 1 && !/auto|scroll/.test(getComputedStyle(part).overflowX)) {
      found.add(`code leaves its block: ${excerpt(part.textContent)}`);
    }
  }

  for (const text of content.querySelectorAll(".columns .highlight > pre:first-child code")) {
    if (text.scrollWidth > text.clientWidth + 1) found.add(`hides a part of the text that an agent reads: ${excerpt(text.textContent)}`);
  }

  // A word of a table stands on one line.
  for (const cell of content.querySelectorAll("td, th")) {
    const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    for (let text = texts.nextNode(); text; text = texts.nextNode()) {
      const range = document.createRange();
      range.selectNodeContents(text);
      if (range.getClientRects().length < 2) continue;
      for (const word of text.data.matchAll(/[\p{L}\p{N}_]+/gu)) {
        range.setStart(text, word.index);
        range.setEnd(text, word.index + word[0].length);
        const tops = new Set([...range.getClientRects()].filter(({ width }) => width > 0.5).map(({ top }) => Math.round(top)));
        if (tops.size > 1) found.add(`a table breaks the word ${excerpt(word[0])}`);
      }
    }
  }

  for (const image of content.querySelectorAll("img")) {
    if (!image.alt.trim()) found.add(`a picture has no text: ${image.src}`);
    if (shown(image) && !image.naturalWidth) found.add(`a picture is missing: ${image.src}`);
  }
  return [...found];
}

// Runs in a page that has the picture as a part of itself, as wide as the column of a phone.
function cutLabels(smallest) {
  const found = [], picture = document.querySelector("svg");
  const box = picture.getBoundingClientRect(), scale = box.width / picture.viewBox.baseVal.width;
  for (const label of picture.querySelectorAll("text")) {
    const text = label.textContent, { left, right, top, bottom } = label.getBoundingClientRect();
    const clipped = label.closest("g[clip-path]");
    const frame = clipped && picture.querySelector(`${clipped.getAttribute("clip-path").slice(4, -1)} rect`).getBBox();
    const inside = frame ? label.getBBox().x + label.getBBox().width <= frame.width + 1 : right <= box.right + 1;
    if (!inside || left < box.left - 1 || top < box.top - 1 || bottom > box.bottom + 1 || text.trimEnd().endsWith("…")) found.push(`cuts the label ${JSON.stringify(text)}`);
    const size = parseFloat(getComputedStyle(label).fontSize) * scale;
    if (size < smallest) found.push(`writes in ${size.toFixed(1)} pixels: ${JSON.stringify(text)}`);
  }
  return [...new Set(found)];
}

async function open(width, scheme) {
  const context = await browser.createBrowserContext(); // the site remembers the scheme that a reader chose
  const tab = await context.newPage();
  await tab.setViewport({ width, height: 900 });
  await tab.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
  return tab;
}

async function visit(width, scheme, names, contrast) {
  const tab = await open(width, scheme);
  let noise = [];
  tab.on("console", (message) => { if (message.type() === "error") noise.push(`console: ${message.text()}`); });
  tab.on("pageerror", (error) => noise.push(String(error)));
  tab.on("request", (request) => { if (!/^(data|blob):/.test(request.url()) && !request.url().startsWith(server.address)) noise.push(`loads ${request.url()}`); });
  for (const name of names) {
    noise = [];
    await tab.goto(`${server.address}/${name}`, { waitUntil: "load" });
    const found = [...(await tab.evaluate(faults)), ...noise];
    if (contrast) {
      await tab.evaluate(axe);
      const { violations } = await tab.evaluate(() => axe.run(".md-content", { runOnly: ["color-contrast"] }));
      found.push(...violations.flatMap(({ nodes }) => nodes.map(({ html, any }) => `${any[0].message} ${html.slice(0, 60)}`)));
    }
    problems.push(...found.map((fault) => `${name}, ${width} pixels, ${scheme}: ${fault}`));
  }
  await tab.close();
}

async function look(paths) {
  const tab = await open(PHONE, "light");
  for (const path of paths) {
    await tab.setContent(`<body style="margin: 16px">${readFileSync(path, "utf8").replace("<svg ", '<svg style="width: 100%" ')}`);
    problems.push(...(await tab.evaluate(cutLabels, SMALLEST)).map((fault) => `${pathToFileURL(path).pathname.split("/").at(-1)}: ${fault}`));
  }
  await tab.close();
}

// The page for an address that does not exist, from wherever it is shown.
async function lost(address) {
  const tab = await open(DESK, "light");
  await tab.goto(address, { waitUntil: "load" });
  const links = await tab.$$eval(".md-content a", (all) => all.map(({ href }) => href));
  if (links.length < 4) problems.push(`${address}: has only ${links.length} links`);
  const unstyled = await tab.$eval(".md-header", (header) => getComputedStyle(header).position === "static");
  if (unstyled) problems.push(`${address}: has no style`);
  await tab.focus("[data-md-component=search-query]");
  await tab.keyboard.type("retry");
  const found = await tab.waitForSelector(".md-search-result__item a", { timeout: 20_000 }).then((link) => link.evaluate(({ href }) => href), () => "");
  for (const link of [...links, found]) {
    const response = link && (await tab.goto(link).catch(() => null));
    if (!response?.ok()) problems.push(`${address}: leads to ${link || "no result of a search"}`);
  }
  await tab.close();
}

const half = Math.ceil(pages.length / 2); // two tabs keep two cores busy
await Promise.all([
  visit(PHONE, "light", pages.slice(0, half)),
  visit(PHONE, "light", pages.slice(half)).then(() => look(pictures)),
]);
await Promise.all([visit(DESK, "light", wide, true), visit(DESK, "dark", wide, true)]);
await visit(PHONE, "dark", wide, true);
await visit(TABLET, "light", tablet);
for (const name of unknown) await lost(`${server.address}/${name}`);
if (unknown.length) await lost(pathToFileURL(join(site, "404.html")).href);
await browser.close();
server.close();
console.log(JSON.stringify(problems));
