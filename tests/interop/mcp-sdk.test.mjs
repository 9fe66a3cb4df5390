// Our echo plugin under the MCP SDK's stdio transport: line framing, its schema on every message; alone, and
// through duplex tap. And the SDKs among themselves: our documents find nothing wrong with what they say.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { clean, examples, folder, peers, until } from "./duplex.mjs";
import { connect, KINDS } from "./mcp/sdk.mjs";
import { server2 } from "./mcp/tour.mjs";

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

for (const kind of Object.keys(KINDS)) {
    test(`${kind} and a server of 2.x: our document finds nothing wrong`, async (t) => {
        const trace = join(folder(t), "trace.jsonl");
        const peer = await connect(kind, peers.tapped(trace, server2), {
            env: { ...process.env, TICK: "100" },
            answers: {
                "elicitation/create": ({ requestedSchema }) => ({
                    action: "accept",
                    content: requestedSchema?.properties.word ? { word: "ord" } : { name: "Åse", seats: 3 },
                }),
                "sampling/createMessage": () => ({ role: "assistant", model: "m", content: { type: "text", text: "sagt" } }),
                "roots/list": () => ({ roots: [{ uri: "file:///å" }] }),
            },
        });
        const { client, modern, version } = peer;
        const call = (name, args = {}, options = {}) =>
            client.callTool({ name, arguments: args }, ...(version === 1 ? [undefined, options] : [options]));
        let listening;
        if (modern) listening = await client.listen({ toolsListChanged: true, resourceSubscriptions: ["notes://one"] });
        else await client.subscribeResource({ uri: "notes://one" });
        const tools = (await client.listTools()).tools.filter(({ name }) => !name.startsWith("new-"));
        for (const { name } of tools) {
            const args = { add: { a: 1, b: 2 }, slow: { ms: 20, steps: 2 } }[name];
            await call(name, args, { onprogress() {} });
        }
        await assert.rejects(call("slow", { ms: 9000, steps: 1 }, { signal: AbortSignal.timeout(50) }));
        await client.readResource({ uri: "notes://one" });
        await client.getPrompt({ name: "personal" });
        await until(() => peer.of("notifications/resources/updated").length && peer.of("notifications/tools/list_changed").length);
        await listening?.close();
        await peer.close();
        await clean(modern ? "mcp@2026-07-28" : "mcp", trace);
    });
}
