// A browser without a window. It has no network, and whatever tries to use one is remembered.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { pathToFileURL } from "node:url";
import puppeteer from "puppeteer-core";

const places = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

// The tests of a file that needs a browser are skipped as a whole where there is none.
export function needBrowser() {
    const found = places.find((place) => existsSync(place));
    if (!found) {
        console.log("there is no Chromium: ./dev test browser brings it");
        process.exit(77);
    }
    return found;
}

export async function openBrowser(t) {
    const browser = await puppeteer.launch({
        executablePath: needBrowser(),
        pipe: true,
        // The sandbox of Chromium cannot be had by root.
        args: process.getuid() === 0 ? ["--no-sandbox"] : [],
    });
    t.after(() => browser.close());
    return browser;
}

// Opens a file, with `said` for everything that a page should not do.
export async function openPage(browser, file, { scheme = "light", width = 1360, height = 820 } = {}) {
    const page = await browser.newPage();
    const said = [];
    page.on("dialog", (dialog) => { said.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
    page.on("pageerror", (error) => said.push(`error: ${error.message}`));
    page.on("console", (message) => said.push(`console: ${message.text()}`));
    page.on("request", (request) => { if (request.url() !== pathToFileURL(file).href) said.push(`request: ${request.url()}`); });
    page.on("popup", () => said.push("popup"));
    await page.setOfflineMode(true);
    await page.setViewport({ width, height });
    await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
    await page.goto(pathToFileURL(file).href, { waitUntil: "load" });
    return { page, said, quiet: () => assert.deepEqual(said, []) };
}
