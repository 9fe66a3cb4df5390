// duplex check finds faults that are planted into copies of what others wrote (the MCP SDK, vscode-jsonrpc), each by
// one changed line, and finds nothing new in what is not changed.
import assert from "node:assert/strict";
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { folder, run } from "./duplex.mjs";

const modules = join(dirname(fileURLToPath(import.meta.url)), "node_modules");

const servers = {
    mcp: {
        package: "@modelcontextprotocol/sdk",
        text: `import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
const server = new McpServer({ name: "check", version: "1" });
server.registerTool("add", { description: "adds" }, () => ({ content: [{ type: "text", text: "3" }] }));
server.registerResource("one", "check://one", {}, () => ({ contents: [] }));
await server.connect(new StdioServerTransport());
`,
        // It does not answer params that are a string: so it is, unchanged.
        known: ["request.params-type"],
    },
    lsp: {
        package: "vscode-jsonrpc",
        text: `import rpc from "vscode-jsonrpc/node";
const connection = rpc.createMessageConnection(
    new rpc.StreamMessageReader(process.stdin), new rpc.StreamMessageWriter(process.stdout));
let open = false;
connection.onRequest("initialize", () => { open = true; return { capabilities: {} }; });
connection.onRequest((method) => new rpc.ResponseError(open ? -32601 : -32002, "no such method " + method));
connection.onRequest("shutdown", () => null);
connection.onNotification("exit", () => process.exit(0));
connection.onClose(() => process.exit(0));
connection.listen();
`,
        known: [],
    },
};

// A folder with a copy of the package, in which one line is another, and links to the others.
function plant(t, which, file, from, to) {
    const { package: name, text } = servers[which];
    const place = folder(t);
    const own = join(place, "node_modules");
    const scope = name.startsWith("@") ? name.split("/")[0] : null;
    mkdirSync(scope ? join(own, scope) : own, { recursive: true });
    for (const entry of readdirSync(modules)) {
        if (entry !== name && entry !== scope && !entry.startsWith(".")) symlinkSync(join(modules, entry), join(own, entry));
    }
    cpSync(join(modules, name), join(own, name), { recursive: true });
    const server = join(place, "server.mjs");
    writeFileSync(server, text);
    if (file) {
        const path = file === "server.mjs" ? server : join(own, name, file);
        const before = readFileSync(path, "utf8");
        const after = before.replace(from, to);
        assert.notEqual(after, before, `${file}: nothing was changed`);
        writeFileSync(path, after);
    }
    return server;
}

async function check(which, server) {
    const words = ["check", "-p", which, "--json", "-t", "2500ms", "--start-timeout", "15s", "--stop-timeout", "2500ms"];
    const { code, out, err } = await run([...words, "--", process.execPath, server], { limit: 60000 });
    const rows = out.trim().split("\n").map((line) => JSON.parse(line)).filter((row) => row.check);
    assert.ok(rows.length > 80, `${code} ${out} ${err}`);
    return rows.filter((row) => row.outcome === "fail");
}

const protocol = "dist/esm/shared/protocol.js";
const stdio = "dist/esm/server/stdio.js";
const connection = "lib/common/connection.js";
const writer = "lib/common/messageWriter.js";
const faults = [
    ["mcp", "another id", protocol, "jsonrpc: '2.0',\n                id: request.id\n", "jsonrpc: '2.0',\n                id: String(request.id) + 'x'\n", ["id.known", "id.echoed"]],
    ["mcp", "a lost answer", stdio, "const json = serializeMessage(message);", "if ((globalThis.n = (globalThis.n ?? 0) + 1) % 7 === 6) return resolve();\nconst json = serializeMessage(message);", ["answer.given", "many.answered"]],
    ["mcp", "a notification is answered", protocol, "if (handler === undefined) {\n            return;", "if (handler === undefined) {\n            this._transport.send({ jsonrpc: '2.0', id: null, error: { code: -32601, message: 'no' } });\n            return;", ["notification.silent"]],
    ["mcp", "a log on the standard output", stdio, "this._readBuffer.append(chunk);", "this._readBuffer.append(chunk); console.log('got', chunk.length);", ["framing.stray"]],
    ["mcp", "no version", protocol, "                result,\n                jsonrpc: '2.0',", "                result,", ["envelope.version"]],
    ["mcp", "answers swapped", stdio, "const json = serializeMessage(message);", "if (message.id !== undefined) { const last = globalThis.last; globalThis.last = message.id; if (last > 4 && message.result) message = { ...message, id: last }; }\nconst json = serializeMessage(message);", ["id.once", "schema.result", "id.known"]],
    ["mcp", "another code for what does not exist", protocol, "code: ErrorCode.MethodNotFound", "code: ErrorCode.InternalError", ["request.unknown-method"]],
    ["mcp", "the end of the input is ignored", stdio, "this._started = true;", "this._started = true; setInterval(() => {}, 1000);", ["end.eof"]],
    ["mcp", "many lines", "dist/esm/shared/stdio.js", "JSON.stringify(message) + '\\n'", "JSON.stringify(message, null, 2) + '\\n'", ["json.valid", "framing.stray", "start.answered"]],
    ["mcp", "an error that is a text", protocol, "error: {\n                    code: Number.isSafeInteger", "error: 'oops', x: {\n                    code: Number.isSafeInteger", ["envelope.error"]],
    ["mcp", "the last answer waits for the next", stdio, "const json = serializeMessage(message);", "const json = globalThis.kept ?? ''; globalThis.kept = serializeMessage(message); if (message.result?.serverInfo) { this._stdout.write(globalThis.kept); globalThis.kept = ''; }", ["answer.flushed"]],
    ["mcp", "a result that does not fit", "dist/esm/server/mcp.js", "tools: Object.entries(this._registeredTools)", "tools: {}, more: Object.entries(this._registeredTools)", ["schema.result"]],
    ["mcp", "text is read chunk by chunk", "dist/esm/shared/stdio.js", "this._buffer = this._buffer ?", "chunk = Buffer.from(chunk.toString('utf8')); this._buffer = this._buffer ?", ["input.pieces"]],
    ["mcp", "long lines are dropped", "dist/esm/shared/stdio.js", "return deserializeMessage(line);", "return line.length > 65536 ? this.readMessage() : deserializeMessage(line);", ["input.large"]],
    ["mcp", "methods are looked up in an object", protocol, "this._requestHandlers.get(request.method) ??", "this._requestHandlers.get(request.method) ?? ({})[request.method] ??", ["request.method-name"]],
    ["mcp", "progress after the answer", protocol, "await capturedTransport?.send(response);", "await capturedTransport?.send(response); const progressToken = request.params?._meta?.progressToken; if (progressToken) await capturedTransport.send({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken, progress: 1 } });", ["progress.asked"]],
    ["lsp", "characters for bytes", writer, "buffer.byteLength.toString()", "String(Buffer.from(buffer).toString('utf8').length)", ["framing.length"]],
    ["lsp", "lines that end with LF", writer, "const CRLF = '\\r\\n';", "const CRLF = '\\n';", ["framing.line-end"]],
    ["lsp", "answered twice", connection, "return messageWriter.write(message);\n        }\n        function replyError", "messageWriter.write(message); return messageWriter.write(message);\n        }\n        function replyError", ["id.once"]],
    ["lsp", "both a result and an error", connection, "message.error = resultOrError.toJson();", "message.error = resultOrError.toJson(); message.result = null;", ["envelope.answer"]],
    ["lsp", "SIGTERM is ignored", "server.mjs", "let open", "process.on('SIGTERM', () => {});\nlet open", ["end.term"]],
    ["lsp", "served before the handshake", "server.mjs", 'new rpc.ResponseError(open ? -32601 : -32002, "no such method " + method)', 'open ? new rpc.ResponseError(-32601, "no") : method', ["start.early"]],
    ["lsp", "a process is left behind", "server.mjs", "let open", "import('node:child_process').then((m) => m.spawn('sleep', ['30'], { stdio: 'ignore' }));\nlet open", ["end.processes"]],
];

// Two at once: most of the time goes into starting Node.
describe("duplex check", { concurrency: 2 }, () => {
    for (const which of ["mcp", "lsp"]) {
        test(`${which}, unchanged: nothing but what is known`, async (t) => {
            const found = await check(which, plant(t, which));
            assert.deepEqual(found.map((row) => row.check).sort(), [...servers[which].known].sort(), JSON.stringify(found));
        });
    }

    for (const [which, what, file, from, to, ids] of faults) {
        test(`${which}: ${what}`, async (t) => {
            const found = await check(which, plant(t, which, file, from, to));
            const names = found.map((row) => row.check).filter((name) => !servers[which].known.includes(name));
            const all = found.map((row) => row.check);
            assert.ok(ids.some((id) => all.includes(id)), `expected ${ids}, found ${names}: ${JSON.stringify(found).slice(0, 3000)}`);
            // Whoever reads it is to see the fault, not a hundred things.
            assert.ok(names.length <= 12, `${names}`);
        });
    }
});
