// Messages that nobody here wrote: those of other HL7 libraries, as they are and with escape sequences in their values.
// They are read, converted and edited, and each value is compared with what two of those libraries read.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { folder } from "./duplex.mjs";
import { messages } from "./hermes/packages.mjs";
import { host, runs, using, words } from "./hermes/peers.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const require = createRequire(import.meta.url);
const { Parser } = require("simple-hl7");
const { unEscapeString } = require("@redoxengine/redox-hl7-v2/lib/escape");

// Of two versions of a package, the second has what is only in the older one. A message that several packages have counts
// for the first of them.
const PACKAGES = [
    "simple-hl7", "simple-hl7-1", "hl7-standard", "nodehl7", "nodehl7-0", "hl7", "hl7-object-parser",
    "@rimiti/hl7-object-parser", "@redoxengine/redox-hl7-v2", "L7", "hl7js", "hl7parser", "mllp-node", "tiny-hl7",
];

// Formatted text, characters that need an escape, and what is not quite right, but stays as it is. A slash is a backslash.
const VALUES = [
    "one/.br/two", "/H/bold/N/", "a/X09/b/X0D0A/", "/F/ /S/ /T/ /R/ /E/", "a/T/b/F/", "/E/H/E/", "/Zxx/", "/.sp3//.in+2/",
    "/C2842//M2d4a/", "/.br//.br//T/", "Åse 中 😀", "C:/temp/new", "/",
].map((value) => value.replaceAll("/", "\\"));

// The separators as redox-hl7-v2 calls them. Some real messages have lost the escape character, or have a blank there.
function separators(text) {
    const [field, component, repetition, ...others] = text.slice(3, text.indexOf(text[3], 4));
    const [escape, subComponent] = others.length > 1 ? others : [null, ...others];
    return { field, component, repetition, escape: escape === " " ? null : escape, subComponent };
}

// The same message with escape sequences in its values: each of VALUES once or twice, after what a leaf has already; if
// there are not enough leaves, the last one gets the rest.
function escaped(text) {
    const { field, component, repetition, subComponent } = separators(text);
    const leaf = new RegExp(`[^\\${component}\\${repetition}\\${subComponent}]+`, "g");
    // Not the separators, and not the character set.
    const isHeader = (line, index) => index === 0 || (line.startsWith("MSH") && (index === 1 || index === 17));
    const each = (replace) =>
        text.replace(/^[A-Z][A-Z0-9]{2}[^\w\s].*/gm, (line) =>
            line.split(field).map((part, index) => (isHeader(line, index) ? part : part.replace(leaf, replace))).join(field),
        );
    let count = 0;
    each(() => count++);
    if (!count) return text.replace(/[\r\n]*$/, (end) => VALUES.join(" ") + end);
    const step = Math.ceil(count / (2 * VALUES.length));
    const used = [];
    let at = 0;
    return each((value) => {
        const isLast = ++at === count;
        if (at % step && !isLast) return value;
        used.push(VALUES[used.length % VALUES.length]);
        const rest = isLast ? VALUES.filter((one) => !used.includes(one)) : [];
        return [value, used.at(-1), ...rest].join(" ");
    });
}

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
    const marks = separators(text);
    const parser = new Parser({ segmentSeperator: "\r" });
    // It knows only the usual separators, and has to be told others.
    Object.assign(parser.delimiters, {
        fieldSeperator: marks.field, componentSeperator: marks.component, repititionCharacter: marks.repetition,
        subcomponentSeperator: marks.subComponent,
    });
    const { header, segments } = parser.parse(text.replace(/[\r\n]+/g, "\r"));
    const msh = segment("MSH", header.fields, 3);
    msh.fields = { 1: marks.field, 2: text.slice(4).split(marks.field)[0], ...msh.fields };
    return [msh, ...segments.map(({ name, fields }) => segment(name, fields, 1))];
}

const readLines = (file) => readFileSync(file, "utf8").split("\n").slice(0, -1);

// With a console: each value that `get` prints is set where it came from, after another one was there, and the message is
// saved.
async function getAndSet(place, results) {
    const name = (index, end = "") => join(place, `${index}${end}.hl7`);
    const console = async (script) => {
        const ended = await host(["--encoding", "UTF-8"], { input: script.flat(2).map((line) => `${line}\n`).join("") });
        assert.equal(ended.code, 0, ended.err);
        return ended.out.split("\n").slice(0, -1);
    };
    results.forEach(({ text }, index) => writeFileSync(name(index), text));
    const printed = await console(
        results.map(({ leaves }, index) => [`open ${words([name(index)])}`, leaves.map(({ path }) => `get ${path}`)]),
    );
    assert.equal(printed.length, results.flatMap(({ leaves }) => leaves).length);
    let at = 0;
    const sets = results.map(({ text, leaves, written }, index) => {
        const marks = separators(text);
        return [
            `open ${words([name(index)])}`,
            leaves.map(({ path, value }) => {
                const got = printed[at++];
                // redox-hl7-v2 would make a backslash of \E\, which `get` keeps.
                const parts = marks.escape ? value.split("\\E\\").map((one) => unEscapeString(marks, one)) : [value];
                assert.equal(got, parts.join("\\E\\"), `${path} of ${text}`);
                const set = `set ${path} ${words([got])}`;
                return written.includes(path) ? [`set ${path} -`, set] : [set];
            }).flat(),
            `save ${words([name(index, "-saved")])}`,
        ];
    });
    await console(sets);
    results.forEach(({ text }, index) => assert.equal(readFileSync(name(index, "-saved"), "utf8"), text));
}

test("the messages of other libraries come back to the byte, and are read as those read them", async (t) => {
    const place = folder(t);
    const all = messages(...PACKAGES);
    assert.ok(all.length >= 80, `${all.length} different messages`);
    const originals = all.map(({ text }) => text);
    const changed = originals.map(escaped);
    for (const text of changed)
        for (const value of VALUES) assert.ok(text.includes(value), `${value} is not in ${text}`);
    // Each text as it stands, with each line ending, and with none at its end.
    const texts = [...new Set([...originals, ...changed].flatMap((text) => [text, ...["\r", "\n", "\r\n"].flatMap((end) => {
        const other = text.trimEnd().replace(/[\r\n]+/g, end);
        return [other, other + end];
    })]))];
    writeFileSync(join(place, "texts.json"), JSON.stringify(texts));
    writeFileSync(join(place, "first.hl7"), originals[0]);
    const command = [process.execPath, join(here, "hermes/leaves.mjs"), join(place, "texts.json")];
    const ended = await host([...using(command), ...runs("leaves/all"), "--settle", "3s", "--data", place, join(place, "first.hl7")], {
        limit: 120000,
    });
    assert.equal(ended.code, 0, ended.err);
    const results = readLines(join(place, "leaves.jsonl")).map((line) => JSON.parse(line));
    assert.equal(results.length, texts.length);
    for (const { text, document, wrong } of results) {
        assert.deepEqual(wrong, [], text);
        assert.deepEqual(document.segments, read(text), text);
    }
    const stands = new Set([...originals, ...changed]);
    await getAndSet(place, results.filter(({ text }) => stands.has(text)));
    for (const name of PACKAGES) t.diagnostic(`${name}: ${all.filter((one) => one.name === name).length}`);
    const leaves = results.flatMap((one) => one.leaves).length;
    t.diagnostic(`${all.length} different messages, ${texts.length} texts, ${leaves} values`);
});
