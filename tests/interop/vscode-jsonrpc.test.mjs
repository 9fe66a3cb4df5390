// Our example plugins under vscode-jsonrpc's client: header framing, both directions; alone, and through
// duplex tap.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import {
    CancellationTokenSource,
    createMessageConnection,
    StreamMessageReader,
    StreamMessageWriter,
} from "vscode-jsonrpc/node";
import { clean, examples, folder, peers } from "./duplex.mjs";

// The same with nobody in between, and through duplex tap, whose trace is sound.
function both(name, body) {
    test(name, (t) => body((example) => start(t, [join(examples, example), "header"])));
    test(`${name}; through duplex tap`, async (t) => {
        const trace = join(folder(t), "trace.jsonl");
        await body((example) => start(t, peers.tapped(trace, [join(examples, example), "header"])));
        await clean("jsonrpc", trace);
    });
}

function start(t, [command, ...words]) {
    const child = spawn(command, words, { stdio: ["pipe", "pipe", "inherit"] });
    const connection = createMessageConnection(
        new StreamMessageReader(child.stdout),
        new StreamMessageWriter(child.stdin),
    );
    const exit = new Promise((resolve) => child.on("exit", (code) => resolve(code)));
    connection.listen();
    t.after(() => child.kill("SIGKILL"));
    return {
        connection,
        leave: () => {
            child.stdin.end();
            return exit;
        },
    };
}

both("a thousand requests at once get their own answers", async (open) => {
    const { connection, leave } = open("echo");
    const answers = await Promise.all(
        Array.from({ length: 1000 }, (_, i) => connection.sendRequest("echo", { i, text: "Grüße ✓" })),
    );
    answers.forEach((answer, i) => assert.deepEqual(answer, { i, text: "Grüße ✓" }));
    assert.equal(await leave(), 0);
});

both("a megabyte of text beyond ASCII comes back whole", async (open) => {
    const { connection, leave } = open("echo");
    const text = "äöü漢字😀".repeat(60000);
    assert.deepEqual(await connection.sendRequest("echo", { text }), { text });
    assert.equal(await leave(), 0);
});

both("an unknown method is refused with its code, a notification is ignored", async (open) => {
    const { connection, leave } = open("echo");
    await connection.sendNotification("nobody/listens", {});
    await assert.rejects(connection.sendRequest("no/such", {}), (error) => error.code === -32601);
    assert.deepEqual(await connection.sendRequest("echo", { one: 1 }), { one: 1 });
    assert.equal(await leave(), 0);
});

both("a cancellation that comes too late does no harm", async (open) => {
    const { connection, leave } = open("echo");
    const source = new CancellationTokenSource();
    const answer = connection.sendRequest("echo", { x: 1 }, source.token);
    source.cancel();
    assert.deepEqual(await answer, { x: 1 });
    assert.equal(await leave(), 0);
});

both("a plugin that asks back is answered and then answers", async (open) => {
    const { connection, leave } = open("poll");
    connection.onRequest("user/name", () => "Ada");
    const answers = await Promise.all([1, 2, 3].map(() => connection.sendRequest("greet", {})));
    for (const answer of answers) assert.deepEqual(answer, { greeting: "hello", name: "Ada" });
    assert.equal(await leave(), 0);
});
