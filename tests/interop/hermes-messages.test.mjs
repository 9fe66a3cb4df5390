// Messages that nobody here wrote: those of other HL7 libraries, read, converted and edited, and each value compared
// with what one of those libraries reads.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { folder } from "./duplex.mjs";
import { messages } from "./hermes/packages.mjs";
import { host, runs, using } from "./hermes/peers.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const { Parser } = createRequire(import.meta.url)("simple-hl7");

const PACKAGES = ["simple-hl7", "hl7-standard", "nodehl7", "nodehl7-0", "hl7", "hl7-object-parser"];

// What simple-hl7 reads, in the form of our documents: parts that are empty are left out, but for the last one.
function object(values) {
    const kept = values.map((value, index) => [index + 1, value]).filter(([n, value]) => value !== "" || n === values.length);
    return Object.fromEntries(kept);
}

function component({ value: [value] }) {
    return Array.isArray(value) ? object(value) : value;
}

function repetition(components) {
    const [first] = components;
    return components.length === 1 && !Array.isArray(first.value[0]) ? component(first) : object(components.map(component));
}

function field({ value }) {
    if (Array.isArray(value[0])) return repetition(value[0]);
    return value.map((one) => repetition(one.value[0])).map((one) => (one === "" ? null : one));
}

function segment(name, fields, first) {
    const values = fields.map((one, index) => [index + first, field(one)]).filter(([, value]) => value !== "");
    return { segment: name, fields: Object.fromEntries(values) };
}

function read(text) {
    const { header, segments } = new Parser({ segmentSeperator: "\r" }).parse(text.replace(/[\r\n]+/g, "\r"));
    const msh = segment("MSH", header.fields, 3);
    msh.fields = { 1: "|", 2: text.slice(4).split(/[|\r\n]/)[0], ...msh.fields };
    return [msh, ...segments.map(({ name, fields }) => segment(name, fields, 1))];
}

test("the messages of other libraries come back to the byte, and are read as one of those reads them", async (t) => {
    const place = folder(t);
    const all = messages(...PACKAGES);
    assert.ok(all.length >= 80, `${all.length} messages`);
    // Each text as it stands, with each line ending, and with none at its end.
    const texts = [...new Set(all.flatMap((text) => [text, ...["\r", "\n", "\r\n"].flatMap((end) => {
        const other = text.trimEnd().replace(/[\r\n]+/g, end);
        return [other, other + end];
    })]))];
    writeFileSync(join(place, "texts.json"), JSON.stringify(texts));
    writeFileSync(join(place, "first.hl7"), all[0]);
    const command = [process.execPath, join(here, "hermes/leaves.mjs"), join(place, "texts.json")];
    const ended = await host([...using(command), ...runs("leaves/all"), "--settle", "3s", "--data", place, join(place, "first.hl7")], {
        limit: 120000,
    });
    assert.equal(ended.code, 0, ended.err);
    const results = readFileSync(join(place, "leaves.jsonl"), "utf8").trimEnd().split("\n").map((line) => JSON.parse(line));
    assert.equal(results.length, texts.length);
    let leaves = 0;
    for (const { text, document, wrong, ...more } of results) {
        assert.deepEqual(wrong, [], text);
        leaves += more.leaves;
        // It knows only the usual separators, and takes a line with blanks before it for a segment of that name.
        if (/^MSH\|\^~\\&\|/.test(text)) assert.deepEqual(document.segments, read(text), text);
    }
    t.diagnostic(`${all.length} messages, ${texts.length} texts, ${leaves} values`);
});
