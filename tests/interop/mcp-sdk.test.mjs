// Our echo plugin under the MCP SDK's stdio transport: line framing, its schema on every message.
import assert from "node:assert/strict";
import { test } from "node:test";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

test("messages pass through the SDK's transport unharmed, in order", async () => {
    const transport = new StdioClientTransport({
        command: `${process.env.BUILD}/examples/echo`,
        args: ["line"],
    });
    const count = 500;
    const seen = [];
    let fail;
    const all = new Promise((resolve, reject) => {
        fail = reject;
        transport.onmessage = (message) => {
            seen.push(message);
            if (seen.length === count) resolve();
        };
    });
    transport.onerror = fail;
    await transport.start();
    for (let i = 0; i < count; i++) {
        const params = { i, text: `line ${i}\nnext\u2028` };
        await transport.send({ jsonrpc: "2.0", id: `req_${i}`, method: "echo", params });
    }
    await all;
    seen.forEach((message, i) => {
        assert.equal(message.id, `req_${i}`);
        assert.deepEqual(message.result, { i, text: `line ${i}\nnext\u2028` });
    });
    await transport.close();
});

test("an error arrives as an error", async () => {
    const transport = new StdioClientTransport({
        command: `${process.env.BUILD}/examples/echo`,
        args: ["line"],
    });
    const first = new Promise((resolve) => (transport.onmessage = resolve));
    await transport.start();
    await transport.send({ jsonrpc: "2.0", id: 1, method: "tools/list" });
    const message = await first;
    assert.equal(message.id, 1);
    assert.equal(message.error.code, -32601);
    await transport.close();
});
