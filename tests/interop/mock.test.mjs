// duplex mock under the clients of others: vscode-jsonrpc, and the SDK of MCP.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { createMessageConnection, StreamMessageReader, StreamMessageWriter } from "vscode-jsonrpc/node";
import { duplex, examples, folder } from "./duplex.mjs";

function script(t, content) {
    const path = join(folder(t), "script.json");
    writeFileSync(path, JSON.stringify({ "duplex-mock": 1, ...content }));
    return path;
}

function connect(t, words) {
    const child = spawn(duplex, ["mock", ...words], { stdio: ["pipe", "pipe", "inherit"] });
    const connection = createMessageConnection(new StreamMessageReader(child.stdout), new StreamMessageWriter(child.stdin));
    const exit = new Promise((resolve) => child.on("exit", resolve));
    t.after(() => child.kill("SIGKILL"));
    const leave = () => {
        child.stdin.end();
        return exit;
    };
    return { connection, leave };
}

async function client(t, words) {
    const made = new Client({ name: "interop", version: "1" });
    await made.connect(new StdioClientTransport({ command: duplex, args: ["mock", ...words] }));
    t.after(() => made.close());
    return made;
}

test("a script answers vscode-jsonrpc, asks it, and goes on meanwhile", async (t) => {
    const { connection, leave } = connect(t, [
        script(t, {
            on: [
                { method: "slow", do: [{ delay: "200ms" }, { result: "${params.a}" }] },
                { method: "ask", do: { request: "up", params: ["${params.n}"], then: { result: { got: "${result}" } } } },
            ],
        }),
    ]);
    connection.onRequest("up", (n) => n + 1);
    connection.listen();
    const slow = connection.sendRequest("slow", { a: 1 });
    const order = [];
    await Promise.all([
        slow.then(() => order.push("slow")),
        connection.sendRequest("ask", { n: 41 }).then((answer) => {
            assert.deepEqual(answer, { got: 42 });
            order.push("ask");
        }),
    ]);
    assert.deepEqual(order, ["ask", "slow"]);
    assert.equal(await leave(), 0);
});

test("vscode-jsonrpc bears what is allowed", async (t) => {
    for (const fault of ["split", "glued", "header-form", "header-extra", "length-in-body", "nul", "id-equal", "writes-first"]) {
        const { connection, leave } = connect(t, ["--framing", "header", "--fault", fault]);
        connection.onRequest("mock/ask", () => null);
        connection.onNotification(() => {});
        connection.listen();
        const { note, ...answer } = await connection.sendRequest("echo", { fault });
        assert.deepEqual(answer, { fault }, fault);
        assert.equal(await leave(), 0, fault);
    }
});

test("the SDK of MCP shakes hands with a mock that was told nothing else", async (t) => {
    const sdk = await client(t, ["--protocol", "mcp"]);
    await sdk.ping();
});

test("the SDK of MCP cannot tell a trace from the server", async (t) => {
    const trace = join(folder(t), "trace.jsonl");
    const recorded = spawnSync(
        duplex,
        ["call", "-p", "mcp", "-o", trace, "tools/list", "--then", "tools/call", '{"name":"add","arguments":{"a":2,"b":40}}', "--", join(examples, "mcp-adder")],
        { encoding: "utf8" },
    );
    assert.equal(recorded.status, 0, recorded.stderr);
    const sdk = await client(t, ["--trace", trace]);
    assert.deepEqual((await sdk.listTools()).tools.map((tool) => tool.name), ["add", "count"]);
    const answer = await sdk.callTool({ name: "add", arguments: { a: 2, b: 40 } });
    assert.match(JSON.stringify(answer), /42/);
});
