// duplex tap between clients and servers that we wrote neither of: nobody notices it, and duplex lint finds
// nothing wrong with what it recorded.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { createMessageConnection, StreamMessageReader, StreamMessageWriter } from "vscode-jsonrpc/node";
import { clean, folder, peers, results, run, running, until } from "./duplex.mjs";

const records = (trace) => readFileSync(trace, "utf8").trim().split("\n").map((line) => JSON.parse(line));

// What an editor does: opens a document, asks about it, leaves. Everything that the server said is in the
// answer, except what differs from run to run.
async function edit(t, [command, ...words], text, languageId, asked) {
    const child = spawn(command, words, { stdio: ["pipe", "pipe", "ignore"] });
    t.after(() => child.kill("SIGKILL"));
    const exit = new Promise((resolve) => child.on("exit", (code, signal) => resolve(signal ?? code)));
    const connection = createMessageConnection(
        new StreamMessageReader(child.stdout),
        new StreamMessageWriter(child.stdin),
    );
    connection.onRequest(() => null);
    connection.listen();
    const uri = `file:///duplex-interop/${languageId}`;
    const answers = [];
    const ask = async (...words) => answers.push(await connection.sendRequest(...words));
    await ask("initialize", { processId: process.pid, rootUri: null, capabilities: {} });
    await connection.sendNotification("initialized", {});
    await connection.sendNotification("textDocument/didOpen", {
        textDocument: { uri, languageId, version: 1, text },
    });
    for (const [method, params] of asked) await ask(method, { textDocument: { uri }, ...params });
    await assert.rejects(connection.sendRequest("no/such", {}), (error) => error.code === -32601);
    await ask("shutdown");
    await connection.sendNotification("exit");
    const code = await exit;
    connection.dispose();
    return { answers, code };
}

const servers = {
    clangd: [
        peers.clangd,
        "int answer(void) { return 42; }\nint main(void) { return answer(); }\n",
        "c",
        [
            ["textDocument/documentSymbol", {}],
            ["textDocument/hover", { position: { line: 1, character: 27 } }],
            ["textDocument/definition", { position: { line: 1, character: 27 } }],
        ],
    ],
    "bash-language-server": [
        peers.bash,
        "greet() { echo hi; }\ngreet\n",
        "shellscript",
        [
            ["textDocument/documentSymbol", {}],
            ["textDocument/definition", { position: { line: 1, character: 1 } }],
        ],
    ],
};

const methods = (trace) => [...new Set(records(trace).map(({ message }) => message?.method))].filter(Boolean);

// What was heard is listed, and described with its name and an example.
async function described(protocol, trace, expected) {
    const names = (await run(["list", "--names", protocol])).out.split("\n");
    const heard = methods(trace);
    for (const method of expected) {
        assert.ok(heard.includes(method), `${method} was not said`);
        assert.ok(names.includes(method), `${method} is not listed`);
        const { code, out, err } = await run(["describe", protocol, method]);
        assert.equal(code, 0, err);
        assert.ok(out.includes(`"method":"${method}"`), out);
    }
}

for (const [name, [peer, ...document]] of Object.entries(servers))
    test(`vscode-jsonrpc's client and ${name}`, async (t) => {
        const trace = join(folder(t), "trace.jsonl");
        const plain = await edit(t, peer, ...document);
        const tapped = await edit(t, peers.tapped(trace, peer), ...document);
        assert.deepEqual(tapped.answers, plain.answers);
        assert.equal(plain.code, 0);
        assert.equal(tapped.code, 0);
        const text = readFileSync(trace, "utf8");
        for (const word of ["initialize", "textDocument/didOpen", "textDocument/documentSymbol", "no/such", "exit"])
            assert.ok(text.includes(word), word);
        assert.ok(records(trace).length > 10);
        await clean("lsp", trace);
        await described("lsp", trace, ["initialize", "initialized", "shutdown", "exit"]);
    });

// What an agent does: lists, calls tools, waits for progress.
async function work([command, ...args]) {
    const transport = new StdioClientTransport({ command, args, stderr: "ignore" });
    const client = new Client({ name: "duplex-interop", version: "1" });
    const answers = [];
    const progress = [];
    await client.connect(transport);
    answers.push(client.getServerVersion(), client.getServerCapabilities());
    answers.push(await client.listTools(), await client.listResources(), await client.listPrompts());
    answers.push(await client.callTool({ name: "echo", arguments: { message: "Grüße ✓" } }));
    answers.push(await client.callTool({ name: "get-sum", arguments: { a: 2, b: 40 } }));
    answers.push(await client.getPrompt({ name: "args-prompt", arguments: { city: "Rome" } }));
    answers.push(
        await client.callTool(
            { name: "trigger-long-running-operation", arguments: { duration: 0.3, steps: 3 } },
            undefined,
            { onprogress: (one) => progress.push(one) },
        ),
    );
    await assert.rejects(client.readResource({ uri: "no://such" }));
    await client.close();
    assert.ok(progress.length > 0); // the client drops what comes together with the answer
    return answers;
}

test("the MCP SDK's client and server-everything", async (t) => {
    const trace = join(folder(t), "trace.jsonl");
    const plain = await work(peers.everything);
    const tapped = await work(peers.tapped(trace, peers.everything));
    assert.deepEqual(tapped, plain);
    const text = readFileSync(trace, "utf8");
    for (const word of ["initialize", "tools/call", "notifications/progress"]) assert.ok(text.includes(word), word);
    await clean("mcp", trace);
    await described("mcp", trace, methods(trace));
    await until(() => running(trace).length === 0); // the tap leaves with its peer
});

test("plugin.py, known by a document of its own", async (t) => {
    const home = folder(t);
    const [trace, document] = [join(home, "trace.jsonl"), join(home, "toy.openrpc.json")];
    const method = (name, more) => ({ name, summary: `Does ${name}.`, params: [], ...more });
    const text = { type: "object", required: ["text"], properties: { text: { type: "string" } } };
    writeFileSync(
        document,
        JSON.stringify({
            openrpc: "1.3.2",
            info: { title: "Toy", version: "1" },
            "x-duplex": { name: "toy", framing: "header" },
            methods: [
                method("echo", {
                    params: [{ name: "text", required: true, schema: { type: "string" } }],
                    result: { name: "text", schema: text },
                    "x-duplex": { from: "host", params: text },
                }),
                method("ask", { "x-duplex": { from: "host" } }),
                method("user/name", { "x-duplex": { from: "plugin" } }),
            ],
        }),
    );
    const call = await run([
        ...["call", "-p", document, "echo", "text=Grüße", "--then", "ask"],
        ...["--", ...peers.tapped(trace, peers.python("header"))],
    ]);
    assert.equal(call.code, 0, call.err);
    assert.deepEqual(results(call)[0], { text: "Grüße" });
    await clean(document, trace);
    await described(document, trace, ["echo", "ask", "user/name"]);
    const wrong = await run(["call", "-p", document, "echo", "text:=7", "--", ...peers.python("header")]);
    assert.equal(wrong.code, 7);
    assert.match(wrong.err, /\/text: expected string, found number/);
});
