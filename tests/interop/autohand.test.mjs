// duplex autohand and peers that know nothing of it. A Node client in the manner of the protocol's document drives our agent with
// the document's own command line, autohand --rpc; vscode-jsonrpc does it in header framing, as the document's example for VS Code;
// our client drives an agent in Node. The model behind our agent is an HTTP endpoint.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { createMessageConnection, StreamMessageReader, StreamMessageWriter } from "vscode-jsonrpc/node";
import { Client } from "./autohand/client.mjs";
import { clean, duplex, folder, results, run } from "./duplex.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const python = existsSync("/usr/bin/python3") ? "/usr/bin/python3" : "python3";
const quoted = (word) => `'${word.replaceAll("'", "'\\''")}'`;

const HELLO = { name: "write_file", args: { path: "hello.js", contents: "function hello() {}\n" } };
const RUN = { name: "run_command", args: { command: "sh", args: ["-c", "echo out; echo err >&2"] } };
// It prints, and waits until somebody has seen that.
const PATIENT = "echo out; echo err >&2; for i in $(seq 300); do [ -e seen ] && exit; sleep 0.1; done; exit 1";
const WAIT = { name: "run_command", args: { command: "sh", args: ["-c", PATIENT] } };
const STEPS = [
    { match: "hello world", text: "I write a function. ", toolCalls: [HELLO] },
    { match: "run", toolCalls: [RUN] },
    { match: "wait", toolCalls: [WAIT] },
    { match: "slow", text: "late", delayMs: 20000 },
    { role: "tool", text: "Done: ✓ 世界.", repeat: true },
    { text: "Hi.", repeat: true },
];

// An endpoint that speaks OpenAI's chat completions; where it is.
async function model(t, root) {
    const script = join(root, "steps.jsonl");
    writeFileSync(script, STEPS.map((step) => `${JSON.stringify({ tokens: 10, ...step })}\n`).join(""));
    const child = spawn(python, [join(here, "..", "autohand", "fake_model.py"), "--script", script], { stdio: ["pipe", "pipe", "inherit"] });
    t.after(() => child.kill("SIGKILL"));
    const port = await new Promise((resolve) => child.stdout.once("data", resolve));
    return `http://127.0.0.1:${Number(port)}/v1`;
}

// A workspace, and a PATH whose first folder has "autohand": our agent with that model.
async function place(t, ...words) {
    const root = realpathSync(folder(t));
    const workspace = join(root, "ws");
    for (const name of ["ws", "bin"]) mkdirSync(join(root, name));
    const command = [duplex, "autohand", "agent", "--home", join(root, "home"), "--url", await model(t, root), "--model", "fake", ...words];
    writeFileSync(join(root, "bin", "autohand"), `#!/bin/sh\nexec ${command.map(quoted).join(" ")} "$@"\n`);
    chmodSync(join(root, "bin", "autohand"), 0o755);
    return { root, workspace, command, path: `${join(root, "bin")}${delimiter}${process.env.PATH}` };
}

async function start(t, ...words) {
    const where = await place(t, ...words);
    const client = new Client({ path: where.path, cwd: where.workspace });
    t.after(() => client.autohand.kill("SIGKILL"));
    return { client, ...where };
}

const allow = (client, allowed = true) =>
    client.on("permissionRequest", async ({ requestId }) => {
        assert.deepEqual(await client.sendRequest("autohand.permissionAcknowledged", { requestId }), { success: true });
        assert.deepEqual(await client.sendRequest("autohand.permissionResponse", { requestId, allowed }), { success: true });
    });

describe("a Node client and our agent", { concurrency: 4 }, () => {
    test("the document's own example: the state, a prompt, a file", async (t) => {
        const { client, workspace } = await start(t);
        const started = await client.once("agentStart");
        const state = await client.sendRequest("autohand.getState");
        assert.equal(state.sessionId, started.sessionId);
        assert.deepEqual({ ...state, sessionId: null, contextPercent: null },
            { status: "idle", sessionId: null, model: "fake", workspace, contextPercent: null, messageCount: 1 });
        allow(client);
        assert.deepEqual(await client.sendRequest("autohand.prompt", { message: "Create a hello world function" }), { success: true });
        assert.deepEqual(client.log, ["Tool started: write_file", "Tool ended: write_file (success)"]);
        const end = client.notifications.find(({ method }) => method === "autohand.messageEnd").params;
        assert.equal(end.content, "I write a function. Done: ✓ 世界.");
        assert.deepEqual(end.toolCalls.map(({ name, args }) => [name, args]), [[HELLO.name, HELLO.args]]);
        const { batchId, change } = client.notifications.find(({ method }) => method === "autohand.changesBatchUpdate").params;
        assert.deepEqual([change.changeType, change.filePath, change.proposedContent], ["create", "hello.js", HELLO.args.contents]);
        assert.ok(!existsSync(join(workspace, "hello.js")));
        assert.deepEqual(await client.sendRequest("autohand.changesDecision", { batchId, action: "accept_all" }),
            { success: true, appliedCount: 1, skippedCount: 0 });
        assert.equal(readFileSync(join(workspace, "hello.js"), "utf8"), HELLO.args.contents);
        assert.equal(client.log.at(-1), "File create: hello.js");
        assert.equal(await client.leave(), 0);
        assert.equal(client.notifications.at(-1).method, "autohand.agentEnd");
    });

    test("a client that knows nothing of questions: they are denied, and the prompt is answered", async (t) => {
        const { client, workspace } = await start(t, "--ack-timeout", "300ms");
        assert.deepEqual(await client.sendRequest("autohand.prompt", { message: "Create a hello world function" }), { success: true });
        assert.deepEqual(client.log, []);
        assert.equal(client.notifications.find(({ method }) => method === "autohand.error").params.code, -32002);
        assert.ok(!existsSync(join(workspace, "hello.js")));
        assert.equal(await client.leave(), 0);
    });

    test("the output of a command comes as it is printed", async (t) => {
        const { client, workspace } = await start(t);
        allow(client);
        const updates = [];
        client.on("toolUpdate", ({ toolId, stream, output }) => {
            if (updates.push([stream, output, toolId]) === 2) writeFileSync(join(workspace, "seen"), "");
        });
        const started = client.once("toolStart");
        assert.deepEqual(await client.sendRequest("autohand.prompt", { message: "wait for me" }), { success: true });
        const { toolId } = await started;
        assert.deepEqual(updates.sort(), [["stderr", "err\n", toolId], ["stdout", "out\n", toolId]]);
        assert.deepEqual(client.log, ["Tool started: run_command", "Tool ended: run_command (success)"]);
        assert.equal(await client.leave(), 0);
    });

    test("busy is -32003, aborted -32004, and the next prompt works", async (t) => {
        const { client } = await start(t);
        const turnStart = client.once("turnStart");
        const slow = client.sendRequest("autohand.prompt", { message: "slow" });
        slow.catch(() => {});
        await turnStart;
        await assert.rejects(client.sendRequest("autohand.prompt", { message: "another" }), (error) => error.code === -32003);
        assert.equal((await client.sendRequest("autohand.getState")).status, "processing");
        assert.deepEqual(await client.sendRequest("autohand.abort"), { success: true });
        await assert.rejects(slow, (error) => error.code === -32004);
        assert.deepEqual(await client.sendRequest("autohand.prompt", { message: "hello?" }), { success: true });
        const ends = client.notifications.filter(({ method }) => method === "autohand.turnEnd");
        assert.deepEqual(ends.map(({ params }) => params.reason), ["aborted", "completed"]);
        await assert.rejects(client.sendRequest("autohand.nope"), (error) => error.code === -32601);
        assert.equal(await client.leave(), 0);
    });

    test("what is said can be linted: nothing is against the document", async (t) => {
        const { root, workspace, command, path } = await place(t);
        const trace = join(root, "trace.jsonl");
        writeFileSync(join(root, "bin", "autohand"), `#!/bin/sh\nexec ${[duplex, "tap", "-o", trace, "--", ...command].map(quoted).join(" ")} "$@"\n`);
        const client = new Client({ path, cwd: workspace });
        t.after(() => client.autohand.kill("SIGKILL"));
        allow(client);
        await client.sendRequest("autohand.prompt", { message: "Create a hello world function" });
        await client.sendRequest("autohand.prompt", { message: "run it" });
        await client.sendRequest("autohand.getMessages", { limit: 3 });
        await client.sendRequest("autohand.reset");
        assert.equal(await client.leave(), 0);
        await clean("autohand", trace);
    });
});

describe("vscode-jsonrpc and our agent", { concurrency: 4 }, () => {
    // As a language client starts it: the command and its args, then initialize.
    async function connect(t, late = 0) {
        const where = await place(t);
        const child = spawn("autohand", ["--rpc"], { stdio: ["pipe", "pipe", "inherit"], cwd: where.workspace, env: { ...process.env, PATH: where.path } });
        t.after(() => child.kill("SIGKILL"));
        const exit = new Promise((resolve) => child.on("exit", (code, signal) => resolve(signal ?? code)));
        const connection = createMessageConnection(new StreamMessageReader(child.stdout), new StreamMessageWriter(child.stdin));
        const seen = [];
        connection.onNotification((method, params) => seen.push([method, params]));
        connection.onError(([error]) => seen.push(["error", error]));
        connection.listen();
        await new Promise((resolve) => setTimeout(resolve, late));
        const result = await connection.sendRequest("initialize", { processId: process.pid, rootUri: null, capabilities: {} });
        assert.deepEqual(result.capabilities, {});
        assert.equal(typeof result.serverInfo.name, "string");
        await connection.sendNotification("initialized", {});
        return { connection, child, exit, seen, ...where };
    }

    test("initialize, hooks as the document's extension listens to them, a turn, shutdown and exit", async (t) => {
        const { connection, exit, seen, workspace } = await connect(t);
        const status = [];
        connection.onNotification("autohand.hook.preTool", (params) => status.push(`Running: ${params.toolName}`));
        const modified = new Promise((resolve) => connection.onNotification("autohand.hook.fileModified", resolve));
        const batches = [];
        connection.onNotification("autohand.changesBatchStart", ({ batchId }) => batches.push(batchId));
        connection.onNotification("autohand.permissionRequest", ({ requestId }) =>
            connection.sendRequest("autohand.permissionResponse", { requestId, allowed: true }));
        assert.deepEqual(await connection.sendRequest("autohand.prompt", { message: "Create a hello world function" }), { success: true });
        assert.deepEqual(status, ["Running: write_file"]);
        await connection.sendRequest("autohand.changesDecision", { batchId: batches[0], action: "accept_all" });
        assert.equal((await modified).filePath, "hello.js");
        assert.equal(readFileSync(join(workspace, "hello.js"), "utf8"), HELLO.args.contents);
        assert.equal(seen[0][0], "autohand.agentStart");
        assert.equal(await connection.sendRequest("shutdown"), null);
        await connection.sendNotification("exit");
        assert.equal(await exit, 0);
    });

    // It has been spoken to in lines by then.
    test("a client that takes its time before it begins", async (t) => {
        const { connection, exit, seen } = await connect(t, 700);
        const end = new Promise((resolve) => connection.onNotification("autohand.agentEnd", resolve));
        assert.deepEqual(await connection.sendRequest("autohand.prompt", { message: "äöü" }), { success: true });
        assert.deepEqual(seen.slice(0, 2).map(([method]) => method), ["autohand.agentStart", "autohand.turnStart"]);
        assert.equal(await connection.sendRequest("shutdown"), null);
        await connection.sendNotification("exit");
        assert.equal(await exit, 0);
        assert.equal((await end).reason, "completed");
    });

    test("errors keep their codes, texts beyond ASCII their length; the end of the input is the end", async (t) => {
        const { connection, child, exit } = await connect(t);
        await assert.rejects(connection.sendRequest("autohand.prompt", {}), (error) => error.code === -32602);
        await assert.rejects(connection.sendRequest("autohand.nope", {}), (error) => error.code === -32601);
        const text = "äöü漢字😀".repeat(20000);
        assert.deepEqual(await connection.sendRequest("autohand.prompt", { message: text }), { success: true });
        const { messages } = await connection.sendRequest("autohand.getMessages", { limit: 2 });
        assert.equal(messages[0].content, text);
        child.stdin.end();
        assert.equal(await exit, 0);
    });
});

describe("our client and an agent in Node", { concurrency: 4 }, () => {
    const agent = (root) => [process.execPath, join(here, "autohand", "agent.mjs"), join(root, "journal")];
    const journal = (root) => readFileSync(join(root, "journal"), "utf8").trim().split("\n").map((line) => JSON.parse(line));

    for (const [option, allowed] of [["--yes", true], ["--no", false]])
        test(`prompt ${option}`, async (t) => {
            const root = realpathSync(folder(t));
            const ended = await run(["autohand", "prompt", option, "--cwd", root, "please write note.txt", "--", ...agent(root)]);
            assert.equal(ended.code, 0, ended.err);
            assert.equal(ended.out, "I write. Done.\n");
            assert.equal(existsSync(join(root, "note.txt")), allowed);
            const said = journal(root);
            assert.deepEqual(said.find(({ method }) => method === "autohand.permissionResponse").params, { requestId: "p1", allowed });
            assert.ok(said.some(({ method, params }) => method === "autohand.permissionAcknowledged" && params.requestId === "p1"));
            assert.deepEqual(said.filter(({ method }) => method === "autohand.changesDecision").map(({ params }) => params.action), allowed ? ["accept_all"] : []);
        });

    test("each event is a line with --json", async (t) => {
        const root = realpathSync(folder(t));
        const ended = await run(["autohand", "prompt", "--json", "--yes", "--cwd", root, "please write note.txt", "--", ...agent(root)]);
        assert.equal(ended.code, 0, ended.err);
        const events = results(ended);
        assert.deepEqual(events.filter(({ event }) => event === "text").map(({ text }) => text), ["I write. ", "Done."]);
        assert.deepEqual(events.filter(({ event }) => event === "tool-output").map(({ text }) => text), ["writing"]);
        const turn = events.find(({ event }) => event === "turn");
        assert.deepEqual([turn.success, turn.content, turn.tokens, turn.toolCalls], [true, "I write. Done.", 7, 1]);
        assert.deepEqual(events.filter(({ event }) => event === "decision").map(({ applied }) => applied), [1]);
    });
});
