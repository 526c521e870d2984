// Starts the Chromium that `make browser` installs.
import chromium from "@sparticuz/chromium";
import puppeteer from "puppeteer-core";

export async function launch() {
  return puppeteer.launch({
    executablePath: await chromium.executablePath(),
    headless: "shell",
    args: ["--no-sandbox", "--no-zygote"],
  });
}
