// leaves.mjs FILE: an extension that puts each message of FILE, a JSON array of texts, through the editor: through
// each format and back, and with every value that it was given set where it came from. What came out goes to
// leaves.jsonl in the data directory: the document and what is not as it was.
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

async function check(text) {
    const wrong = [];
    const same = async (what) => (await get("hl7")) === text || wrong.push(what);
    const put = await set("hl7", text);
    if (!put.success) return { text, wrong: [`set: ${put.error}`] };
    await same("the text");
    for (const format of ["json", "yaml", "toml"]) {
        const back = await set(format, await get(format));
        if (!back.success) wrong.push(`${format}: ${back.error}`);
        await same(format);
    }
    const document = JSON.parse(await get("json"));
    const patches = [...leaves(document)].filter(({ path }) => path !== "MSH[1].1");
    const { errors = [] } = await ask("editor/patchMessage", { patches });
    for (const { path, message } of errors) wrong.push(`${path}: ${message}`);
    await same("after setting all values");
    return { text, document, leaves: patches.length, wrong };
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
