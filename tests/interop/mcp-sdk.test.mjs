// Our echo plugin under the MCP SDK's stdio transport: line framing, its schema on every message; alone, and
// through duplex tap.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { clean, examples, folder, peers } from "./duplex.mjs";

const echo = [join(examples, "echo"), "line"];

// The same with nobody in between, and through duplex tap, whose trace is sound.
function both(name, body) {
    test(name, () => body(echo));
    test(`${name}; through duplex tap`, async (t) => {
        const trace = join(folder(t), "trace.jsonl");
        await body(peers.tapped(trace, echo));
        await clean("jsonrpc", trace);
    });
}

both("messages pass through the SDK's transport unharmed, in order", async ([command, ...args]) => {
    const transport = new StdioClientTransport({ command, args });
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

both("an error arrives as an error", async ([command, ...args]) => {
    const transport = new StdioClientTransport({ command, args });
    const first = new Promise((resolve) => (transport.onmessage = resolve));
    await transport.start();
    await transport.send({ jsonrpc: "2.0", id: 1, method: "tools/list" });
    const message = await first;
    assert.equal(message.id, 1);
    assert.equal(message.error.code, -32601);
    await transport.close();
});
