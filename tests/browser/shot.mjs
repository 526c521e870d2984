// Takes a screenshot of a page that is a file.
// node shot.mjs PAGE PICTURE SCHEME
import { pathToFileURL } from "node:url";
import { launch } from "./launch.mjs";

const [page, path, scheme] = process.argv.slice(2);
const browser = await launch();
const tab = await browser.newPage();
await tab.setViewport({ width: 400, height: 540, deviceScaleFactor: 2 });
await tab.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
await tab.goto(pathToFileURL(page).href, { waitUntil: "load" });
await tab.screenshot({ path });
await browser.close();
console.log(JSON.stringify(null));
