// Our example plugins under vscode-jsonrpc's client: header framing, both directions.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { test } from "node:test";
import {
    CancellationTokenSource,
    createMessageConnection,
    StreamMessageReader,
    StreamMessageWriter,
} from "vscode-jsonrpc/node";

const build = process.env.BUILD;

function start(t, example) {
    const child = spawn(`${build}/examples/${example}`, ["header"], {
        stdio: ["pipe", "pipe", "inherit"],
    });
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

test("a thousand requests at once get their own answers", async (t) => {
    const { connection, leave } = start(t, "echo");
    const answers = await Promise.all(
        Array.from({ length: 1000 }, (_, i) => connection.sendRequest("echo", { i, text: "Grüße ✓" })),
    );
    answers.forEach((answer, i) => assert.deepEqual(answer, { i, text: "Grüße ✓" }));
    assert.equal(await leave(), 0);
});

test("a megabyte of text beyond ASCII comes back whole", async (t) => {
    const { connection, leave } = start(t, "echo");
    const text = "äöü漢字😀".repeat(60000);
    assert.deepEqual(await connection.sendRequest("echo", { text }), { text });
    assert.equal(await leave(), 0);
});

test("an unknown method is refused with its code, a notification is ignored", async (t) => {
    const { connection, leave } = start(t, "echo");
    await connection.sendNotification("nobody/listens", {});
    await assert.rejects(connection.sendRequest("no/such", {}), (error) => error.code === -32601);
    assert.deepEqual(await connection.sendRequest("echo", { one: 1 }), { one: 1 });
    assert.equal(await leave(), 0);
});

test("a cancellation that comes too late does no harm", async (t) => {
    const { connection, leave } = start(t, "echo");
    const source = new CancellationTokenSource();
    const answer = connection.sendRequest("echo", { x: 1 }, source.token);
    source.cancel();
    assert.deepEqual(await answer, { x: 1 });
    assert.equal(await leave(), 0);
});

test("a plugin that asks back is answered and then answers", async (t) => {
    const { connection, leave } = start(t, "poll");
    connection.onRequest("user/name", () => "Ada");
    const answers = await Promise.all([1, 2, 3].map(() => connection.sendRequest("greet", {})));
    for (const answer of answers) assert.deepEqual(answer, { greeting: "hello", name: "Ada" });
    assert.equal(await leave(), 0);
});
