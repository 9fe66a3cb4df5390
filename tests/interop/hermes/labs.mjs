#!/usr/bin/env node
// An extension for results of a laboratory: Node without packages, written from the document of the
// protocol, in the manner of its samples, and from what is known of the real program. Questions go out side by side and are told apart by their
// ids. Against the sample, the buffer holds bytes: a chunk may end inside of a character. What came is
// kept in the data directory (labs-å中😀.jsonl).
import { appendFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";

class MessageReader {
    buffer = Buffer.alloc(0);
    contentLength = null;

    feed(chunk) {
        this.buffer = Buffer.concat([this.buffer, chunk]);
        const messages = [];
        while (true) {
            if (this.contentLength === null) {
                const headerEnd = this.buffer.indexOf("\r\n\r\n");
                if (headerEnd === -1) break;
                const match = this.buffer.toString("latin1", 0, headerEnd).match(/^Content-Length: *(\d+) *$/im);
                if (!match) throw new Error("Invalid header");
                this.contentLength = parseInt(match[1], 10);
                this.buffer = this.buffer.subarray(headerEnd + 4);
            }
            if (this.buffer.length < this.contentLength) break;
            messages.push(JSON.parse(this.buffer.toString("utf8", 0, this.contentLength)));
            this.buffer = this.buffer.subarray(this.contentLength);
            this.contentLength = null;
        }
        return messages;
    }
}

function writeMessage(message, then) {
    const content = Buffer.from(JSON.stringify({ jsonrpc: "2.0", ...message }), "utf8");
    process.stdout.write(Buffer.concat([Buffer.from(`Content-Length: ${content.length}\r\n\r\n`), content]), then);
}

const log = (text) => process.stderr.write(`${text}\n`);
const pending = new Map();
let asked = 0;
let journal = null;
let watching = false;
let page = null;

const note = (value) => journal && appendFileSync(journal, `${JSON.stringify(value)}\n`);

function ask(method, params) {
    const id = ++asked;
    return new Promise((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error(`${method}: no answer`)), 20000);
        pending.set(id, { method, resolve, reject, timer });
        writeMessage({ id, method, params });
    });
}

function answered(message) {
    const question = pending.get(message.id);
    if (!question) return log(`[ERROR] an answer that nobody asked for: ${JSON.stringify(message)}`);
    pending.delete(message.id);
    clearTimeout(question.timer);
    note({ asked: question.method, ...message });
    if (message.error) question.reject(new Error(`${question.method}: ${message.error.code} ${message.error.message}`));
    else question.resolve(message.result);
}

async function get(format) {
    return (await ask("editor/getMessage", { format })).message;
}

async function patch(patches) {
    const result = await ask("editor/patchMessage", { patches });
    log(`[INFO] patched ${result.patchesApplied} of ${patches.length}`);
    for (const { index, path, message } of result.errors ?? []) log(`[WARN] patch ${index} at ${path}: ${message}`);
}

// The flag of a number and its reference range: "70-99", "<105".
function flag(value, range = "") {
    const [, low, high] = range.match(/^(.+)-(.+)$/) ?? [null, -Infinity, range.startsWith("<") ? range.slice(1) : Infinity];
    return value < Number(low) ? "L" : value > Number(high) ? "H" : "N";
}

// The document's sample has segments as keys, the editor of today a list of them.
function all(document, name) {
    if (document.segments) return document.segments.filter(({ segment }) => segment === name).map(({ fields }) => fields);
    return name in document ? [document[name]].flat() : [];
}

function count(document) {
    return document.segments ? document.segments.length : Object.values(document).flat().length;
}

// Patches for the flags that are not what they should be.
function flags(document) {
    return all(document, "OBX")
        .map((fields, index) => ({ fields, path: `OBX[${index + 1}].8` }))
        .filter(({ fields }) => fields["2"] === "NM" && fields["8"] !== flag(Number(fields["5"]), fields["7"]))
        .map(({ fields, path }) => ({ path, value: flag(Number(fields["5"]), fields["7"]) }));
}

async function report() {
    const document = JSON.parse(await get("json"));
    const rows = all(document, "OBX").map((fields) => fields["3"]["2"]);
    const server = createServer((_, response) => {
        response.setHeader("Content-Type", "text/plain; charset=utf-8");
        response.end(`Svar – 結果 😀\n${rows.join("\n")}\n`);
    });
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${server.address().port}/report?id=1&x=%20;touch%20y`;
    const { windowId } = await ask("ui/openWindow", { url, title: "Svar – 結果 😀" });
    log(`[INFO] window ${windowId}`);
    page = { windowId, server };
}

async function many() {
    const text = await get("hl7");
    const order = [];
    const answers = Array.from({ length: 100 }, (_, index) => get("hl7").then((other) => order.push(index) && other === text));
    const same = (await Promise.all(answers)).filter(Boolean).length;
    log(`[INFO] ${same} the same, ${order.every((value, index) => value === index) ? "in" : "out of"} order`);
}

async function formats() {
    const [json, yaml, toml, hl7] = await Promise.all(["json", "yaml", "toml", "hl7"].map(get));
    for (const [message, format] of [[json, "json"], [yaml, "yaml"], [toml, "toml"]]) {
        const result = await ask("editor/setMessage", { message, format });
        const back = await get("hl7");
        const lines = (text) => text.split(/[\r\n]+/).filter(Boolean).join("\n");
        log(`[INFO] ${format}: ${result.success}, ${lines(back) === lines(hl7) ? "the same" : `another: ${JSON.stringify(back)}`}`);
    }
}

async function questions() {
    const tell = (name, result) => log(`[INFO] ${name}: ${JSON.stringify(result)}`);
    const filters = [{ name: "HL7 – メッセージ", extensions: ["hl7", "txt"] }];
    tell("message", await ask("ui/showMessage", { message: "Ferdig Å中😀", title: "Labs", kind: "warning" }));
    tell("confirm", await ask("ui/showConfirm", { message: "Slette?", buttons: "yesNo" }));
    tell("file", await ask("ui/openFile", { title: "Åpne", filters }));
    tell("files", await ask("ui/openFiles", { filters }));
    tell("save", await ask("ui/saveFile", { defaultName: "svar-å.hl7", filters }));
    tell("folder", await ask("ui/selectDirectory", {}));
}

const commands = {
    "labs/flag": async () => {
        const [json] = await Promise.all([get("json"), get("hl7")]);
        await patch(flags(JSON.parse(json)));
    },
    "labs/report": report,
    "labs/close": async () => log(`[INFO] close: ${JSON.stringify(await ask("ui/closeWindow", { windowId: page.windowId }))}`),
    "labs/many": many,
    "labs/formats": formats,
    "labs/questions": questions,
    "labs/watch": async () => {
        watching = true;
        log("[INFO] watching");
    },
    // Two lists of patches at once: the second is on its way before the first is answered.
    "labs/twice": () =>
        Promise.all([
            patch([{ path: "OBX[1].11", value: "C" }, { path: "NTE[2]", create: true }]),
            patch([{ path: "NTE[2].1", value: "2" }, { path: "NTE[2].3", value: "Å\r\n中 & 😀" }, { path: "OBX[99].5", value: "x" }]),
        ]),
    "labs/crash": () => process.exit(3),
    "both/stamp": () => patch([{ path: "MSH.8", value: "labs" }]),
};
// Only a button has this one.
const button = () => patch([{ path: "OBR.20", value: "knapp Å" }]);

async function execute(command) {
    const work = command === "labs/button" ? button : commands[command];
    if (!work) return log(`[ERROR] no such command: ${command}`);
    try {
        await work();
    } catch (error) {
        log(`[ERROR] ${command}: ${error.message}`);
    }
}

async function changed({ message, format }) {
    const document = JSON.parse(message);
    log(`[INFO] changed: ${count(document)} segments as ${format}`);
    const patches = watching ? flags(document) : [];
    if (patches.length) await patch(patches);
}

function closed({ windowId, reason }) {
    log(`[INFO] window closed by ${reason}: ${windowId === page?.windowId ? "mine" : "another"}`);
    page?.server.close();
    page?.server.closeAllConnections();
}

const notifications = {
    "command/execute": ({ command }) => execute(command),
    "message/changed": changed,
    "window/closed": closed,
};

const requests = {
    initialize: () => {
        const icon = '<svg viewBox="0 0 20 20"><circle cx="10" cy="10" r="8"/></svg>';
        return {
            name: "Labs Å中😀",
            version: "0.9.0",
            capabilities: {
                commands: Object.keys(commands),
                events: [
                    { name: "message/changed", options: { includeContent: true, format: "json" } },
                    { name: "message/opened" },
                    { name: "message/saved" },
                ],
            },
            toolbarButtons: [{ id: "knapp", label: "Knapp – ボタン", icon, command: "labs/button", group: "labs" }],
            schema: { segments: { PID: { fields: [{ field: 8, required: null, note: "性別" }] } } },
        };
    },
    shutdown: () => ({ success: true }),
};

function take(message) {
    if (!("method" in message)) return answered(message);
    const { id, method, params } = message;
    if (method === "initialize" && params?.dataDirectory) journal = join(params.dataDirectory, "labs-å中😀.jsonl");
    note({ came: message });
    if (id === undefined) return notifications[method]?.(params ?? {});
    if (!requests[method]) return writeMessage({ id, error: { code: -32601, message: "Method not found" } });
    writeMessage({ id, result: requests[method]() }, () => {
        if (method === "shutdown") process.exit(0);
    });
}

const reader = new MessageReader();
process.stdin.on("data", (chunk) => reader.feed(chunk).forEach(take));
process.stdin.on("end", () => process.exit(0));
