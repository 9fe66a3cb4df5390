// The page of duplex timeline in a real browser.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createReadStream, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { needBrowser, openBrowser, openPage } from "./browser.mjs";
import { folder, run } from "./duplex.mjs";

needBrowser();
const maker = join(process.env.SOURCE, "tests/timeline/make.py");
const pictures = join(process.env.BUILD, "timeline");
mkdirSync(pictures, { recursive: true });

async function make(t, what, options = []) {
    const place = folder(t), trace = join(place, "talk.jsonl"), file = join(place, "talk.html");
    writeFileSync(trace, execFileSync("python3", [maker, ...what], { maxBuffer: 1 << 30 }));
    const { code, err } = await run(["timeline", ...options, trace, "-o", file], { limit: 60000 });
    assert.equal(code, 0, err);
    return { trace, file };
}

const text = (page, selector) => page.$eval(selector, (element) => element.textContent);
// What is drawn is drawn with the next frame.
const drawn = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
// Where an item is on the screen.
const placeOf = (page, item) => page.evaluate(`(() => {
    const { picture } = page, box = picture.canvas.getBoundingClientRect(), place = picture.placeOf(${item});
    return { x: box.left + picture.x(page.data.time[${item}]) + 1, y: box.top + place.top + place.height / 2 - picture.scroll };
})()`);
const find = (page, condition) => page.evaluate(`[...page.data.items].find((i) => ${condition})`);

// The same counts, from the trace itself.
async function countTrace(trace) {
    const count = { messages: 0, requests: 0, notifications: 0, failed: 0 };
    for await (const line of createInterface({ input: createReadStream(trace) })) {
        const { message } = JSON.parse(line);
        if (!message) continue;
        count.messages++;
        if (message.method && message.id !== undefined) count.requests++;
        else if (message.method) count.notifications++;
    }
    return count;
}

test("a trace of 100,000 messages is drawn within 2 seconds, and all of it is there", async (t) => {
    const { trace, file } = await make(t, ["talk", "100000"]);
    const browser = await openBrowser(t);
    const times = [];
    // The first page of a browser pays for its start.
    for (let i = 0; i < 3; i++) {
        const { page, quiet } = await openPage(browser, file);
        times.push(await page.evaluate(() => performance.getEntriesByName("drawn")[0].startTime));
        quiet();
        if (i < 2) await page.close();
        else {
            const count = await countTrace(trace);
            assert.ok(count.messages >= 100000, `only ${count.messages}`);
            const numbers = await page.evaluate(() => Object.fromEntries([...document.querySelectorAll("#summary div")].map((one) => [one.querySelector("dt").textContent, one.querySelector("dd").textContent])));
            for (const word of ["messages", "requests", "notifications"]) assert.equal(numbers[word], count[word].toLocaleString("en"), word);
            const frame = await page.evaluate(() => { const start = performance.now(); page.picture.draw(); return performance.now() - start; });
            t.diagnostic(`drawn again within ${Math.round(frame)} ms`);
        }
    }
    t.diagnostic(`drawn ${times.map(Math.round).join(", ")} ms after the navigation began`);
    assert.ok(Math.min(...times) < 2000, `${times.map(Math.round)} ms`);
});

test("searching, filtering, zooming, choosing, by hand and by keys", async (t) => {
    const { file } = await make(t, ["talk", "900"]);
    const { page, quiet } = await openPage(await openBrowser(t), file);
    const items = await page.evaluate("page.data.items.length");

    // A bar that is clicked shows its messages, as they were.
    const item = await find(page, 'page.data.fate[i] === FAILED && page.data.end[i] - page.data.time[i] > 1000');
    await page.evaluate(`page.picture.showItem(${item}), page.picture.reveal(${item})`);
    await drawn(page);
    let { x, y } = await placeOf(page, item);
    await page.mouse.click(x + 5, y);
    assert.equal(await page.evaluate("page.detail.item"), item);
    const [question, answer] = await page.$$eval("#detail pre", (boxes) => boxes.map((box) => JSON.parse(box.textContent)));
    assert.equal(answer.id, question.id);
    assert.equal(await text(page, "#detail h2"), question.method);
    assert.equal(answer.error.code, -32603);
    assert.match(await text(page, ".facts"), /request, failed.*host.*took/s);
    await page.keyboard.press("Escape");
    assert.equal(await page.$eval("#detail", (box) => box.hidden), true);

    // The wheel zooms where the pointer is, dragging moves, keys and buttons do both.
    const span = () => page.evaluate("[page.picture.from, page.picture.to]");
    await page.click("#zoom-fit");
    await drawn(page);
    const all = await span();
    const box = await (await page.$("#lanes")).boundingBox();
    await page.mouse.move(box.x + 600, box.y + 100);
    const under = await page.evaluate("page.picture.timeAt(600)");
    await page.mouse.wheel({ deltaY: -600 });
    await drawn(page);
    const closer = await span();
    assert.ok(closer[1] - closer[0] < (all[1] - all[0]) / 2);
    assert.ok(Math.abs(await page.evaluate("page.picture.timeAt(600)") - under) < (closer[1] - closer[0]) / 100);
    await page.mouse.down();
    await page.mouse.move(box.x + 500, box.y + 100, { steps: 4 });
    await page.mouse.up();
    const moved = await span();
    assert.ok(moved[0] > closer[0] && Math.abs(moved[1] - moved[0] - closer[1] + closer[0]) < 1);
    await page.focus("#lanes");
    await page.keyboard.press("ArrowLeft");
    assert.ok((await span())[0] < moved[0]);
    await page.keyboard.press("-");
    assert.ok((await span())[1] - (await span())[0] > closer[1] - closer[0]);
    await page.keyboard.press("0");
    assert.deepEqual(await span(), all);
    // The map: choose a part of it.
    const map = await (await page.$("#map")).boundingBox();
    await page.mouse.move(map.x + map.width / 2, map.y + 20);
    await page.mouse.down();
    await page.mouse.move(map.x + map.width * 0.75, map.y + 20, { steps: 3 });
    await page.mouse.up();
    const part = await span();
    assert.ok(Math.abs((part[1] - part[0]) / (all[1] - all[0]) - 0.25) < 0.03, `${part}`);

    // Search: methods, texts, ids.
    await page.keyboard.press("0");
    await page.keyboard.press("/");
    await page.keyboard.type("NOT INDEXED");
    await page.waitForFunction(() => document.getElementById("hits").value !== "");
    const failed = await page.evaluate("[...page.data.items].filter((i) => page.data.fate[i] === FAILED).length");
    assert.equal(await page.evaluate("page.list.length"), failed);
    assert.ok(failed > 1);
    await page.keyboard.press("Enter");
    assert.match(await text(page, "#detail pre mark"), /not indexed/);
    await page.click("#clear");
    assert.equal(await page.evaluate("page.list.length"), items);
    await page.type("#search", "id:17");
    await page.waitForFunction(() => document.getElementById("hits").value !== "");
    for (const id of await page.evaluate("page.list.slice(0, 5), [...page.list].map((i) => idOf(page.data, i)).filter((id) => id)")) assert.equal(id, "17");
    await page.click("#clear");

    // Filters.
    await page.select("#kind", "notifications");
    assert.equal(await page.evaluate("page.list.length"), await page.evaluate("page.summary.notifications"));
    await page.select("#side", "2");
    assert.ok(await page.evaluate("page.list.every((i) => ((page.data.code[i] >> 4) & 3) === PLUGIN) && page.list.length > 0"));
    await page.click("#clear");
    await page.click("#errors");
    assert.ok(await page.evaluate("page.list.every((i) => page.data.fate[i] || (page.data.code[i] & 15) !== REQUEST) && page.list.length > 0"));
    await page.click("#errors");
    await page.click("#tab-methods");
    const row = await page.$eval("#methods tbody tr", (one) => [...one.children].map((cell) => cell.textContent));
    assert.equal(row.length, 9);
    await page.click("#methods tbody button");
    assert.equal(await page.evaluate("page.list.length"), Number(row[1]));
    await page.click("#clear");

    // The table: only a screen of rows exists; keys go through it.
    await page.click("#tab-table");
    assert.ok(await page.$$eval("#table .row", (rows) => rows.length) < 60);
    await page.focus("#table");
    await page.keyboard.press("End");
    await page.keyboard.press("ArrowUp");
    assert.equal(await page.$eval("#table .row[aria-selected=true]", (one) => Number(one.dataset.item)), await page.evaluate("page.table.list.at(-2)"));
    await page.click("#table-head [data-sort=took]");
    const took = await page.evaluate("[...page.table.list].slice(0, 20).map((i) => page.data.end[i] - page.data.time[i])");
    assert.deepEqual(took, [...took].sort((one, two) => two - one));
    quiet();
});

test("pictures, in both colour schemes", async (t) => {
    const { file } = await make(t, ["talk", "1500", "2200"]);
    const browser = await openBrowser(t);
    const grounds = [];
    for (const scheme of ["light", "dark"]) {
        const { page, quiet } = await openPage(browser, file, { scheme, width: 1440, height: 860 });
        grounds.push(await page.evaluate(() => getComputedStyle(document.body).backgroundColor));
        const item = await find(page, "page.data.fate[i] === FAILED && page.data.end[i] - page.data.time[i] > 8000 && page.data.lane[i] === 0");
        await page.evaluate(`page.choose(${item})`);
        await drawn(page);
        await page.evaluate(`page.picture.show(page.data.time[${item}] - 330000, page.data.time[${item}] + 230000)`);
        await drawn(page);
        await page.screenshot({ path: join(pictures, `${scheme}.png`) });
        // What is on the canvas is not of one colour.
        const colours = await page.evaluate(() => {
            const { canvas } = page.picture, bytes = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
            return new Set(new Uint32Array(bytes.buffer)).size;
        });
        assert.ok(colours > 20, `${colours} colours`);
        quiet();
        // A change of the scheme is taken without loading again.
        const before = await page.evaluate("page.picture.paint.ink");
        await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme === "light" ? "dark" : "light" }]);
        await drawn(page);
        assert.notEqual(await page.evaluate("page.picture.paint.ink"), before);
        await page.click("#tab-table");
        await page.screenshot({ path: join(pictures, `${scheme}-table.png`) });
        await page.click("#tab-methods");
        await page.screenshot({ path: join(pictures, `${scheme}-methods.png`) });
    }
    assert.notEqual(grounds[0], grounds[1]);
});

test("hostile texts stay texts", async (t) => {
    const { file } = await make(t, ["hostile"]);
    const { page, quiet } = await openPage(await openBrowser(t), file);
    const scripts = await page.evaluate(() => [...document.querySelectorAll("script:not([type])")].length);
    assert.equal(scripts, 1);
    assert.equal(await page.$$eval("img, iframe, object, embed, link, form[action]", (all) => all.length), 0);
    for (const view of ["lanes", "table", "methods"]) {
        await page.click("#tab-" + view);
        await drawn(page);
    }
    // Every item is looked at, in each view; the texts are those of the trace.
    const count = await page.evaluate("page.data.items.length");
    assert.ok(count > 70, `${count} items`);
    for (const view of ["lanes", "table"]) {
        await page.click("#tab-" + view);
        await page.evaluate(`for (const item of page.data.items) { page.choose(item); page.picture.showItem(item); page.picture.draw(); }`);
    }
    assert.equal(await page.$$eval("#detail img, #detail script, #table img, #methods img", (all) => all.length), 0);
    const shown = await page.evaluate('[...page.data.items].filter((i) => (page.data.code[i] & 15) === REQUEST).map((i) => textOf(page.data, i).text)');
    assert.ok(shown.includes('{"jsonrpc":"2.0","id":"</script><script>alert(1)</script>","method":"</script><script>alert(1)</script>","params":["</script><script>alert(1)</script>"]}'), shown[0]);
    assert.ok(shown.includes('{"jsonrpc":"2.0","id":"\\ud800","method":"\\ud800<b>"}'));
    await page.type("#search", "onerror=alert");
    await page.waitForFunction(() => document.getElementById("hits").value !== "");
    assert.ok(await page.evaluate("page.list.length") >= 2);
    // The browser itself forbids what was not built in.
    const ran = await page.evaluate(() => {
        const script = document.createElement("script");
        script.textContent = "window.ran = 1";
        document.body.append(script);
        return window.ran === 1;
    });
    assert.equal(ran, false);
    await new Promise((resolve) => setTimeout(resolve, 200));
    quietBut(quiet, /Content Security Policy/);
});

function quietBut(quiet, allowed) {
    try { quiet(); } catch (error) {
        const left = error.actual.filter((line) => !allowed.test(line));
        assert.deepEqual(left, []);
    }
}

test("a million messages can be looked at", async (t) => {
    const { file } = await make(t, ["talk", "1000000"]);
    const { page, quiet } = await openPage(await openBrowser(t), file);
    assert.ok(await page.evaluate("page.data.count") > 1000000);
    t.diagnostic(`drawn ${Math.round(await page.evaluate(() => performance.getEntriesByName("drawn")[0].startTime))} ms after the navigation began`);
    await page.click("#tab-table");
    await page.focus("#table");
    await page.keyboard.press("End");
    assert.equal(await page.evaluate("page.detail.item"), await page.evaluate("page.data.items.at(-1)"));
    assert.equal(await page.$eval("#table .row[aria-selected=true]", (one) => Number(one.getAttribute("aria-rowindex"))), await page.evaluate("page.data.items.length"));
    quiet();
});

test("so many conversations have lanes, and no more", async (t) => {
    for (const [count, notice] of [[2000, ""], [2001, "1 more conversations have no lanes; their items are in the table."]]) {
        const place = folder(t), trace = join(place, "many.jsonl"), file = join(place, "many.html");
        const lines = Array.from({ length: count }, (_, i) => JSON.stringify({ t: i, from: "host", peer: `p${i}`, message: { jsonrpc: "2.0", id: 1, method: "m" } }));
        writeFileSync(trace, ['{"duplex-trace":1,"time":"us","part":1}', ...lines, ""].join("\n"));
        assert.equal((await run(["timeline", trace, "-o", file])).code, 0);
        const { page, quiet } = await openPage(await openBrowser(t), file);
        assert.equal(await page.evaluate("page.picture.layout.talks.length"), 2000);
        const notices = await page.$$eval("#notices p", (all) => all.map((one) => one.textContent));
        assert.deepEqual(notices.filter((one) => one.includes("lanes")), notice ? [notice] : []);
        await page.evaluate(`page.choose(${count - 1})`);
        assert.equal(await text(page, "#detail h2"), "m");
        quiet();
    }
});

test("next to nothing can be shown, too", async (t) => {
    const place = folder(t), trace = join(place, "few.jsonl"), file = join(place, "few.html"), browser = await openBrowser(t);
    const lines = ['{"duplex-trace":1,"time":"us","part":1}', '{"t":1,"peer":"a","event":"start"}', '{"t":1,"from":"host","peer":"a","message":{"jsonrpc":"2.0","id":1,"method":"m"}}'];
    for (let count = 1; count <= lines.length; count++) {
        writeFileSync(trace, lines.slice(0, count).join("\n") + "\n");
        assert.equal((await run(["timeline", trace, "-o", file])).code, 0);
        const { page, quiet } = await openPage(browser, file);
        assert.equal(await page.evaluate("page.data.count"), count - 1);
        await page.evaluate(`for (const by of [1e-9, 1e12]) { page.picture.zoom(by); page.picture.draw(); }
            for (const view of ["table", "methods", "lanes"]) { page.open(view); page.step(1); }`);
        assert.ok(await page.evaluate("page.picture.to > page.picture.from"));
        if (count === 3) assert.equal(await page.evaluate("textOf(page.data, 0).text + textOf(page.data, 1).text"), '{"jsonrpc":"2.0","id":1,"method":"m"}');
        quiet();
    }
});

test("what is looked for is found, however it is written", async (t) => {
    const place = folder(t), trace = join(place, "few.jsonl"), file = join(place, "few.html");
    const messages = [
        '{"jsonrpc":"2.0","id":1,"method":"a","params":["caf\\u00e9 \\uD834\\udd1e","a\\/b \\"c\\" \\u003cd>"]}',
        '{"jsonrpc":"2.0","id":2,"method":"b","params":["CAFÉ 𝄞","a/b <d>",{"id":1}]}',
        '{"jsonrpc":"2.0","id":"\\u00e9","method":"c"}',
    ];
    writeFileSync(trace, ['{"duplex-trace":1,"time":"us","part":1}', ...messages.map((message, i) => `{"t":${i},"from":"host","message":${message}}`), ""].join("\n"));
    assert.equal((await run(["timeline", trace, "-o", file])).code, 0);
    const { page, quiet } = await openPage(await openBrowser(t), file);
    const found = { "café": [0, 1], "CAFÉ": [0, 1], "é 𝄞": [0, 1], "a/b": [0, 1], '"c"': [0, 2], "<D": [0, 1], "𝄠": [], "id:1": [0], "id:2": [1], "id:é": [2], "id:3": [] };
    for (const [query, items] of Object.entries(found)) {
        await page.evaluate((text) => { document.getElementById("search").value = text; page.filter(); }, query);
        assert.deepEqual(await page.evaluate("[...page.list]"), items, query);
    }
    await page.evaluate(() => { document.getElementById("search").value = "café"; page.filter(); page.choose(0); });
    assert.equal(await text(page, "#detail pre mark"), "caf\\u00e9");
    quiet();
});

test("a page that was cut off says so", async (t) => {
    const { file } = await make(t, ["talk", "900"]);
    const whole = readFileSync(file, "utf8"), script = whole.slice(whole.lastIndexOf("<script>"));
    writeFileSync(file, whole.slice(0, whole.indexOf('id="c0"') + 50) + "</script>" + script);
    const { page } = await openPage(await openBrowser(t), file);
    assert.match(await text(page, "#notices"), /may be incomplete/);
});
