// leaves.mjs FILE: an extension that puts each message of FILE, a JSON array of texts, through the editor: through
// each format and back, and with every value that it was given set where it came from. What came out goes to
// leaves.jsonl in the data directory: the document, its values and what is not as it was.
import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";

let buffer = Buffer.alloc(0);
let lastId = 0;
const pending = new Map();

function write(message) {
    const body = JSON.stringify({ jsonrpc: "2.0", ...message });
    process.stdout.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
}

const ask = (method, params) =>
    new Promise((resolve, reject) => {
        pending.set(++lastId, { resolve, reject });
        write({ id: lastId, method, params });
    });
const get = async (format) => (await ask("editor/getMessage", { format })).message;
const set = (format, message) => ask("editor/setMessage", { format, message });

// Every string of a document with its path.
function* leaves({ segments }) {
    const counts = {};
    for (const { segment, fields } of segments) {
        counts[segment] = (counts[segment] ?? 0) + 1;
        if (/^[A-Z][A-Z0-9]{2}$/.test(segment)) yield* parts(`${segment}[${counts[segment]}]`, fields, 1);
    }
}

function* parts(path, value, level) {
    if (typeof value === "string") yield { path, value };
    else if (Array.isArray(value))
        for (const [index, item] of value.entries()) yield* parts(`${path}[${index + 1}]`, item ?? "", level);
    else for (const [key, item] of Object.entries(value)) yield* parts(`${path}.${key}`, item, level + 1);
}

// An escape character that begins no escape sequence. It stays while its value stays, and is escaped in a new value.
const isStray = (value) => value.replace(/\\([EFHNPRST]|[XCM][0-9A-F]+|Z\w*|\.[a-z]{2}[+-]?\d*)\\/gi, "").includes("\\");

const lines = (text) => text.trimEnd().split(/[\r\n]+/);
// The only message that is open while a document of another one is set: nothing of it may be taken from there.
const OTHER = "MSH|^~\\&|other\rZZZ|other\r";

async function check(text) {
    const wrong = [];
    const same = async (what) => (await get("hl7")) === text || wrong.push(what);
    const patch = async (patches) => {
        const { errors = [] } = await ask("editor/patchMessage", { patches });
        for (const { path, message } of errors) wrong.push(`${path}: ${message}`);
    };
    const put = await set("hl7", text);
    if (!put.success) return { text, wrong: [`set: ${put.error}`] };
    await same("the text");
    for (const format of ["json", "yaml", "toml"]) {
        const document = await get(format);
        const back = await set(format, document);
        if (!back.success) wrong.push(`${format}: ${back.error}`);
        await same(format);
        await set("hl7", OTHER);
        await set(format, document);
        // Empty fields at the end of a segment are not in a document.
        const full = (line) => (line.endsWith(text[3]) ? line.slice(0, line.length - 1) : line);
        const trimmed = (line) => (full(line) === line ? line : trimmed(full(line)));
        const [got, wanted] = [await get("hl7"), text].map((one) => lines(one).map(trimmed).join("\r"));
        if (got !== wanted) wrong.push(`${format}, into another message: ${got}`);
        await set("hl7", text);
    }
    const document = JSON.parse(await get("json"));
    const values = [...leaves(document)].filter(({ path }) => path !== "MSH[1].1");
    await patch(values);
    await same("after setting all values to what they are");
    // A value that is there already is not written, so each is written after another one was there. The separators and the
    // character set cannot be just anything.
    const written = values.filter(({ path, value }) => !/^MSH\[1\]\.(2|18)\b/.test(path) && !isStray(value));
    await patch(written.map(({ path, value }) => ({ path, value: `not ${value.length}` })));
    if (written.length && (await get("hl7")) === text) wrong.push("nothing was changed");
    await patch(written);
    await same("after setting all values again");
    return { text, document, leaves: values, written: written.map(({ path }) => path), wrong };
}

async function all() {
    const file = join(process.env.HERMES_DATA_DIR, "leaves.jsonl");
    for (const text of JSON.parse(readFileSync(process.argv[2], "utf8"))) {
        const result = await check(text).catch((error) => ({ text, wrong: [error.message] }));
        appendFileSync(file, `${JSON.stringify(result)}\n`);
    }
}

function on(message) {
    if (message.method === "initialize")
        write({ id: message.id, result: { name: "leaves", version: "1.0.0", capabilities: { commands: ["leaves/all"] } } });
    else if (message.method === "command/execute") all();
    else if (message.method === "shutdown") write({ id: message.id, result: { success: true } });
    else if (pending.has(message.id)) {
        const { resolve, reject } = pending.get(message.id);
        pending.delete(message.id);
        if (message.error) reject(new Error(`${message.error.message}: ${message.error.data}`));
        else resolve(message.result);
    }
}

process.stdin.on("data", (chunk) => {
    buffer = Buffer.concat([buffer, chunk]);
    for (;;) {
        const end = buffer.indexOf("\r\n\r\n");
        const length = end === -1 ? Infinity : Number(/Content-Length: (\d+)/.exec(buffer.subarray(0, end))[1]);
        if (buffer.length < end + 4 + length) return;
        const body = buffer.subarray(end + 4, end + 4 + length);
        buffer = buffer.subarray(end + 4 + length);
        on(JSON.parse(body));
    }
});
