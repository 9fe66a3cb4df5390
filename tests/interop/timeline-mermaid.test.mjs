// The diagrams of duplex timeline, read by Mermaid.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import mermaid from "mermaid";
import { folder, run } from "./duplex.mjs";

const maker = join(process.env.SOURCE, "tests/timeline/make.py");

async function diagram(t, what, options = []) {
    const trace = join(folder(t), "talk.jsonl");
    writeFileSync(trace, execFileSync("python3", [maker, ...what], { maxBuffer: 1 << 28 }));
    const { code, out, err } = await run(["timeline", "--mermaid", ...options, trace]);
    assert.equal(code, 0, err);
    assert.deepEqual(await mermaid.parse(out), { diagramType: "sequence", config: {} });
    const { db } = await mermaid.mermaidAPI.getDiagramFromText(out);
    return { out, db };
}

// Mermaid marks entities while it reads; the browser turns them into characters.
const plain = (text) => text.replace(/ﬂ°°(\d+)¶ß/g, (_, code) => String.fromCodePoint(Number(code)));

test("an ordinary trace", async (t) => {
    const { db } = await diagram(t, ["talk", "600"]);
    const messages = db.getMessages(), names = [...db.getActors().values()].map((actor) => plain(actor.description));
    // 500, answers of requests among them, and a note that there are more.
    assert.ok(messages.length >= 501 && messages.length < 520, String(messages.length));
    assert.deepEqual(names, ["host", "clangd/1", "bash-language-server/1", "almanac/1", "almanac/2"]);
    assert.match(plain(messages.at(-1).message), /^\d+ more not shown$/);
    assert.ok(messages.some(({ message }) => /^textDocument\/hover: result \(id \d+\), [\d.]+ ms$/.test(plain(message))));
    assert.ok(messages.some(({ message }) => /error -32800 "request cancelled"/.test(plain(message))));
});

test("what would break it does not", async (t) => {
    const { out, db } = await diagram(t, ["hostile"]);
    const texts = db.getMessages().map(({ message }) => plain(message));
    assert.ok(texts.some((text) => text.startsWith("</script><script>alert(1)</script> (id ")), texts[0]);
    assert.ok(texts.some((text) => text.includes("𝄞 ﬂ°°60¶ß")));
    assert.doesNotMatch(out, /[\x00-\x09\x0b-\x1f\x7f\u0080-\u009f\u2028-\u202e]/);
});

test("as much as is asked for", async (t) => {
    const { db } = await diagram(t, ["talk", "600"], ["--max", "20"]);
    // Answers of requests that are there come on top.
    assert.ok(db.getMessages().length >= 21 && db.getMessages().length < 40);
});
