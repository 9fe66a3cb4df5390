// Our servers with clients that we did not write: the SDKs 1.x and 2.x, in both eras, and the Inspector.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { writeFileSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { clean, duplex, examples, folder, until } from "./duplex.mjs";
import { connect, KINDS } from "./mcp/sdk.mjs";
import { write } from "./mcp/tour.mjs";

const example = [join(examples, "mcp-conformance")];
const LOG_LEVEL = "io.modelcontextprotocol/logLevel";

// It ends with one of these errors.
const refused = (promise, ...codes) => assert.rejects(promise, ({ code }) => codes.includes(code));

const FORM = {
    name: "Åse 中😀", username: "ase", email: "ase@example.org", ok: true, color: "blå", context: "her",
    untitledSingle: "option1", titledSingle: "value2", legacyEnum: "opt3", untitledMulti: ["option2"], titledMulti: ["value1", "value3"],
    age: 31, score: 1.5, status: "pending", verified: false,
};

// Fills in what a form asks for.
function fill({ requestedSchema }) {
    const content = Object.fromEntries(Object.keys(requestedSchema.properties).map((key) => [key, FORM[key]]));
    return { action: "accept", content };
}

const answers = {
    "elicitation/create": fill,
    "sampling/createMessage": ({ messages }) => ({
        role: "assistant",
        model: "none",
        content: { type: "text", text: `svar på ${messages.at(-1).content.text}` },
    }),
    "roots/list": () => ({ roots: [{ uri: "file:///å", name: "Å" }] }),
};

const all = (result) => result.content.map((item) => item.text ?? "").join("\n");
const kinds = (result) => result.content.map(({ type }) => type);
const has = (...wanted) => (result) => {
    for (const one of wanted) assert.ok(all(result).includes(one), `${one} is not in ${all(result)}`);
};
// A tool that asks: how often, and what it then says.
const asks = (count, ...wanted) => ({ see: has(...wanted), count });

// Every tool of the example. One that is not here makes the tour fail.
const TOOLS = {
    test_simple_text: { see: (result) => assert.equal(all(result), "This is a simple text response for testing.") },
    test_image_content: { see: (result) => assert.deepEqual(kinds(result), ["image"]) },
    test_audio_content: { see: (result) => assert.deepEqual(kinds(result), ["audio"]) },
    test_embedded_resource: { see: (result) => assert.equal(result.content[0].resource.uri, "test://embedded-resource") },
    test_multiple_content_types: { see: (result) => assert.deepEqual(kinds(result), ["text", "image", "resource"]) },
    test_error_handling: { see: (result) => assert.equal(result.isError, true) },
    test_tool_with_logging: {
        logs: true,
        see(result, peer) {
            const told = peer.of("notifications/message").map(({ params }) => params.data);
            assert.deepEqual(told.slice(-3), ["Tool execution started", "Tool processing data", "Tool execution completed"]);
        },
    },
    test_logging_tool: { see: (result, peer) => peer.modern && assert.equal(peer.of("notifications/message").length, 3) },
    test_tool_with_progress: {
        see(result, peer, progress) {
            const steps = [[0, 100], [50, 100], [100, 100]];
            const said = peer.all
                .filter(({ from }) => from === "plugin")
                .map(({ text }) => JSON.parse(text))
                .filter(({ method }) => method === "notifications/progress")
                .map(({ params }) => [params.progress, params.total]);
            assert.deepEqual(said, steps);
            // The SDKs lose what comes together with the answer, on a busy machine all of it.
            assert.deepEqual(progress.map((one) => [one.progress, one.total]), steps.slice(0, progress.length));
        },
    },
    test_reconnection: { see: has("") },
    json_schema_2020_12_tool: { arguments: { name: "Å", contactMethod: "phone", phone: "1" }, see: has("") },
    test_sampling: { arguments: { prompt: "hva?" }, ...asks(1, "LLM response: svar på hva?") },
    test_elicitation: { arguments: { message: "hvem?" }, ...asks(1, "ase@example.org") },
    test_elicitation_sep1034_defaults: asks(1, '"age":31', '"verified":false'),
    test_elicitation_sep1330_enums: asks(1, '"titledMulti":["value1","value3"]'),
    test_missing_capability: asks(1, "svar på What is the capital of France?"),
    test_streaming_elicitation: asks(1, "Åse 中😀"),
    test_input_required_result_elicitation: asks(1, "Åse 中😀"),
    test_input_required_result_sampling: asks(1, "svar på What is the capital of France?"),
    test_input_required_result_list_roots: asks(1, "file:///å"),
    test_input_required_result_request_state: asks(1, "state-ok"),
    test_input_required_result_tampered_state: asks(1, ""),
    test_input_required_result_multiple_inputs: asks(3, "Åse 中😀", "svar på Generate a greeting", "file:///å"),
    test_input_required_result_multi_round: asks(2, "Åse 中😀", "blå"),
    test_input_required_result_capabilities: asks(3, "Åse 中😀"),
    test_trigger_tool_change: { see: has("") },
    test_trigger_prompt_change: { see: has("") },
    test_touch_watched_resource: { see: has("") },
};

// callTool() of 1.x has a schema between.
const call = (peer, name, args = {}, options = {}, _meta = undefined) => {
    const params = { name, arguments: args, ...(_meta && { _meta }) };
    return peer.version === 1 ? peer.client.callTool(params, undefined, options) : peer.client.callTool(params, options);
};

function slowly(tools) {
    const found = tools.find(({ name }) => /slow|sleep/.test(name));
    assert.ok(found, "the example has no tool that takes long");
    return found.name;
}

for (const kind of Object.keys(KINDS)) {
    // The protocol's document finds nothing wrong with what was said.
    const open = async (t, argv = example, options = { answers }) => {
        let peer;
        let trace;
        // Before the folder is gone.
        t.after(async () => {
            if (!peer) return;
            await peer.close();
            write(trace, peer.all);
            // The SDKs trip over progress that comes together with the answer.
            assert.deepEqual(peer.errors.map(String).filter((error) => !error.includes("unknown token")), []);
            await clean(peer.modern ? "mcp@2026-07-28" : "mcp", trace);
        });
        trace = join(folder(t), "trace.jsonl");
        peer = await connect(kind, argv, options);
        return peer;
    };

    describe(`${kind} with our example server`, { concurrency: 4 }, () => {
        test("every tool", async (t) => {
            const peer = await open(t);
            const { tools } = await peer.client.listTools();
            const slow = slowly(tools);
            const names = tools.map(({ name }) => name).filter((name) => name !== slow && !/task/.test(name));
            assert.deepEqual(names.sort(), Object.keys(TOOLS).sort());
            for (const [name, plan] of Object.entries(TOOLS)) {
                const progress = [];
                const before = peer.asked.length;
                const options = name.includes("progress") ? { onprogress: (one) => progress.push(one) } : {};
                const meta = peer.modern && plan.logs ? { [LOG_LEVEL]: "info" } : undefined;
                const result = await call(peer, name, plan.arguments, options, meta);
                assert.equal(result.isError ?? false, name === "test_error_handling", `${name}: ${all(result)}`);
                plan.see(result, peer, progress);
                assert.equal(peer.asked.length - before, plan.count ?? 0, `${name}: questions`);
            }
        });

        test("arguments that do not fit, and a tool that is not there", async (t) => {
            const peer = await open(t);
            const result = await call(peer, "test_sampling", { prompt: 1 });
            assert.equal(result.isError, true);
            await refused(call(peer, "nobody"), -32602);
        });

        test("a method that is not there", async (t) => {
            const peer = await connect(kind, example);
            t.after(() => peer.close());
            await refused(peer.ask("nobody/knows", {}), -32601);
        });

        test("resources, a template, prompts, completions", async (t) => {
            const peer = await open(t);
            const { client } = peer;
            const { resources } = await client.listResources();
            const { resourceTemplates } = await client.listResourceTemplates();
            const { prompts } = await client.listPrompts();
            for (const { uri, mimeType } of resources) {
                const { contents } = await client.readResource({ uri });
                assert.equal(contents[0].uri, uri);
                assert.equal(contents[0].mimeType, mimeType);
            }
            assert.deepEqual(resourceTemplates.map(({ uriTemplate }) => uriTemplate), ["test://template/{id}/data"]);
            const { contents } = await client.readResource({ uri: "test://template/%C3%A51/data" });
            assert.deepEqual(JSON.parse(contents[0].text), { id: "å1", templateTest: true, data: "Data for ID: å1" });
            // 2.x tells both as the modern one.
            await refused(client.readResource({ uri: "test://nothing" }), peer.version === 1 ? -32002 : -32602);
            const words = { arg1: "hei", arg2: "中😀", resourceUri: "test://example-resource" };
            for (const { name, arguments: wanted = [] } of prompts) {
                const args = Object.fromEntries(wanted.map((one) => [one.name, words[one.name]]));
                const { messages } = await client.getPrompt({ name, arguments: args });
                assert.ok(messages.length >= 1, name);
            }
            const filled = await client.getPrompt({ name: "test_prompt_with_arguments", arguments: { arg1: "hei", arg2: "中😀" } });
            assert.equal(filled.messages[0].content.text, "Prompt with arguments: arg1='hei', arg2='中😀'");
            await refused(client.getPrompt({ name: "test_prompt_with_arguments", arguments: {} }), -32602);
            const ref = { type: "ref/prompt", name: "test_prompt_with_arguments" };
            const { completion } = await client.complete({ ref, argument: { name: "arg1", value: "par" } });
            assert.deepEqual(completion.values, ["paris", "park", "party"]);
            const template = { type: "ref/resource", uri: "test://template/{id}/data" };
            const second = await client.complete({ ref: template, argument: { name: "id", value: "12" } });
            assert.deepEqual(second.completion.values, ["12", "123"]);
        });

        test("what changes is told", async (t) => {
            const peer = await open(t);
            const uri = "test://watched-resource";
            let subscription;
            if (peer.modern) {
                subscription = await peer.client.listen({ toolsListChanged: true, promptsListChanged: true, resourceSubscriptions: [uri] });
            } else {
                await peer.client.subscribeResource({ uri });
            }
            await call(peer, "test_trigger_tool_change");
            await call(peer, "test_trigger_prompt_change");
            await call(peer, "test_touch_watched_resource");
            const came = (method) => until(() => peer.of(method).length);
            assert.equal(await came("notifications/tools/list_changed"), 1);
            assert.equal(await came("notifications/prompts/list_changed"), 1);
            assert.equal(await came("notifications/resources/updated"), 1);
            assert.equal(peer.of("notifications/resources/updated")[0].params.uri, uri);
            const { tools } = await peer.client.listTools();
            assert.ok(tools.some(({ name }) => name === "test_extra"));
            if (peer.modern) await subscription.close();
            else await peer.client.unsubscribeResource({ uri });
            await call(peer, "test_touch_watched_resource");
            await sleep(50);
            assert.equal(peer.of("notifications/resources/updated").length, 1);
        });

        test("log levels", async (t) => {
            const peer = await open(t);
            if (peer.modern) {
                await call(peer, "test_tool_with_logging");
                assert.equal(peer.of("notifications/message").length, 0);
                await call(peer, "test_tool_with_logging", {}, {}, { [LOG_LEVEL]: "warning" });
                assert.equal(peer.of("notifications/message").length, 0);
                await call(peer, "test_tool_with_logging", {}, {}, { [LOG_LEVEL]: "debug" });
                assert.equal(peer.of("notifications/message").length, 3);
                return;
            }
            await peer.client.setLoggingLevel("warning");
            await call(peer, "test_tool_with_logging");
            assert.equal(peer.of("notifications/message").length, 0);
            await peer.client.setLoggingLevel("info");
            await call(peer, "test_tool_with_logging");
            assert.equal(peer.of("notifications/message").length, 3);
        });

        test("a call is cancelled, by the user and by a timeout", async (t) => {
            const peer = await open(t);
            const slow = slowly((await peer.client.listTools()).tools);
            const stop = new AbortController();
            const running = call(peer, slow, { ms: 20000 }, { signal: stop.signal });
            setTimeout(() => stop.abort("ikke mer"), 100);
            await assert.rejects(running, /ikke mer|[Aa]bort/);
            await assert.rejects(call(peer, slow, { ms: 20000 }, { timeout: 200 }), /[Tt]imed? ?out/);
            await until(() => peer.stderr().split("cancelled").length === 3);
        });

        test("a client that is asked, and declines or fails", async (t) => {
            const peer = await open(t, example, {
                answers: {
                    "elicitation/create": () => ({ action: "decline" }),
                    "sampling/createMessage": () => {
                        throw new Error("ingen modell");
                    },
                },
            });
            has("decline")(await call(peer, "test_elicitation", { message: "hvem?" }));
            const failed = await call(peer, "test_sampling", { prompt: "hva?" }).catch((error) => error);
            assert.ok(failed.isError || failed instanceof Error);
        });

        test("a client that cannot be asked", async (t) => {
            const peer = await open(t, example, {});
            if (peer.modern) await refused(call(peer, "test_missing_capability"), -32021);
            else assert.equal((await call(peer, "test_missing_capability")).isError, true);
            assert.equal(peer.asked.length, 0);
        });

        test("other calls, and it leaves at once, while one runs", async (t) => {
            const peer = await connect(kind, example, { answers });
            t.after(() => peer.close());
            const slow = slowly((await peer.client.listTools()).tools);
            const running = call(peer, slow, { ms: 20000 }).catch((error) => error);
            await call(peer, "test_simple_text");
            const took = await peer.close();
            assert.ok(took < 500, `${took} ms`);
            assert.ok((await running) instanceof Error);
        });
    });

    describe(`${kind} with duplex mcp serve files`, { concurrency: 4 }, () => {
        test("files are listed and read, and changes are told", async (t) => {
            const path = folder(t);
            mkdirSync(join(path, "sub"));
            writeFileSync(join(path, "å 中😀.txt"), "hei 😀\n");
            writeFileSync(join(path, "sub/bytes.bin"), Buffer.from([0, 255, 1]));
            const peer = await open(t, [duplex, "mcp", "serve", "files", path], {});
            const { client } = peer;
            const { resources } = await client.listResources();
            const texts = resources.filter(({ uri }) => decodeURIComponent(uri).endsWith("å 中😀.txt"));
            const bytes = resources.filter(({ uri }) => uri.endsWith("bytes.bin"));
            assert.equal(texts.length, 1, JSON.stringify(resources));
            assert.equal(bytes.length, 1, JSON.stringify(resources));
            const { contents: [text] } = await client.readResource({ uri: texts[0].uri });
            assert.equal(text.text, "hei 😀\n");
            const { contents: [blob] } = await client.readResource({ uri: bytes[0].uri });
            assert.equal(blob.blob, "AP8B");
            await refused(client.readResource({ uri: "file:///etc/passwd" }), -32002, -32602);
            const { uri } = texts[0];
            let listening;
            if (peer.modern) listening = await client.listen({ resourceSubscriptions: [uri] });
            else await client.subscribeResource({ uri });
            writeFileSync(join(path, "å 中😀.txt"), "annet\n");
            await until(() => peer.of("notifications/resources/updated").some(({ params }) => params.uri === uri));
            const { contents: [after] } = await client.readResource({ uri }, peer.version === 2 ? { cacheMode: "refresh" } : {});
            assert.equal(after.text, "annet\n");
            await listening?.close();
        });

        test("its tools", async (t) => {
            const path = folder(t);
            mkdirSync(join(path, "sub"));
            writeFileSync(join(path, "one.txt"), "first\nneedle Å中😀\nlast\n");
            writeFileSync(join(path, "sub/two.md"), "no such thing\n");
            const peer = await open(t, [duplex, "mcp", "serve", "files", path], {});
            const { tools } = await peer.client.listTools();
            assert.deepEqual(tools.map(({ name }) => name).sort(), ["list_files", "read_file", "search"]);
            assert.ok(tools.every(({ annotations }) => annotations.readOnlyHint === true));
            const read = await call(peer, "read_file", { path: "one.txt", offset: 2, limit: 1 });
            assert.ok(all(read).includes("needle Å中😀") && !all(read).includes("first"), all(read));
            const list = all(await call(peer, "list_files", { glob: "*.md" }));
            assert.ok(list.includes("two.md") && !list.includes("one.txt"), list);
            for (const how of [{ pattern: "NEEDLE", case: false }, { pattern: "n[Ee]{2}dle Å", regex: true }]) {
                const found = all(await call(peer, "search", how));
                assert.ok(found.includes("one.txt") && !found.includes("two.md"), found);
            }
            for (const outside of ["../x", "/etc/passwd", "sub/../../x"]) {
                assert.equal((await call(peer, "read_file", { path: outside })).isError, true);
            }
        });

        // They close the connection when more than 10 MiB wait. The other kinds share this.
        const skip = /legacy|auto/.test(kind);
        test("every response fits into the client's buffer", { skip }, async (t) => {
            const path = folder(t);
            const most = 9961472; // bytes of JSON in what a response tells
            const sizes = { x: 1, '"': 2, "\u0001": 6 };
            const write = (name, unit, bytes) => writeFileSync(join(path, name), unit.repeat(bytes / sizes[unit]));
            const peer = await connect(kind, [duplex, "mcp", "serve", "files", path]);
            t.after(() => peer.close());
            const read = async (name) => {
                const uri = `file://${path}/${name}`;
                const asked = peer.client.readResource({ uri }).catch((error) => error);
                return { file: await call(peer, "read_file", { path: name }), resource: await asked };
            };
            for (const unit of Object.keys(sizes)) {
                write("fits.txt", unit, most / 2 - 2 - ((most / 2 - 2) % sizes[unit]));
                const { file, resource } = await read("fits.txt");
                assert.equal(file.structuredContent.text, file.content[0].text);
                assert.equal(resource.contents[0].text, file.content[0].text);
                write("fits.txt", unit, most / 2 - 2 + sizes[unit]);
                const more = await read("fits.txt");
                assert.match(all(more.file), /^fits.txt: line 1 takes \d+ bytes in a response, the limit is 9961472 \(--max-size\)/);
                assert.equal(more.resource.contents[0].text.length, Math.floor((most / 2 - 2) / sizes[unit]) + 1);
                write("large.txt", unit, most - 600 - ((most - 600) % sizes[unit]));
                assert.equal((await read("large.txt")).resource.contents[0].text[0], unit);
                write("large.txt", unit, most);
                assert.match((await read("large.txt")).resource.message, /the limit is 9961472 \(--max-size\): read parts of it with the tool read_file/);
            }
            writeFileSync(join(path, "bytes.bin"), Buffer.alloc(((most - 600) / 4) * 3));
            assert.equal((await read("bytes.bin")).resource.contents[0].blob.length, most - 600);
            writeFileSync(join(path, "bytes.bin"), Buffer.alloc((most / 4) * 3));
            assert.match((await read("bytes.bin")).resource.message, /the limit is 9961472 \(--max-size\)$/);
            writeFileSync(join(path, "lines.txt"), `${"x".repeat(93)}\n`.repeat(100000));
            const part = await call(peer, "read_file", { path: "lines.txt" });
            assert.equal(part.structuredContent.lines, 2000);
            assert.match(part.content[1].text, /^\[Lines 1 to 2000 of 100000\. Read on with offset 2001,/);
            const whole = await call(peer, "read_file", { path: "lines.txt", limit: 100000 });
            assert.match(all(whole), /lines 1 to 100000 take \d+ bytes .* with offset and limit$/);
            const second = await call(peer, "read_file", { path: "lines.txt", limit: 50000, offset: 50001 });
            assert.equal(second.structuredContent.lines, 50000);
            // Every byte of a match or of a name may take 13: "\u0001" in the result, "\\u0001" in its text.
            writeFileSync(join(path, "search.txt"), `!${"\u0001".repeat(400)}\n`.repeat(10000));
            const found = (await call(peer, "search", { pattern: "!", max_results: 10000 })).structuredContent;
            assert.ok(found.truncated && found.matches.length > 1500, `${found.matches.length} of 10000`);
            const deep = join(path, ...Array(14).fill("\u0001".repeat(250)));
            mkdirSync(deep, { recursive: true });
            for (let i = 0; i < 300; i++) writeFileSync(join(deep, String(i)), "");
            const listed = (await call(peer, "list_files")).structuredContent;
            assert.ok(listed.truncated && listed.entries.length > 200, `${listed.entries.length} of 300`);
            const pages = [];
            for (let cursor; pages.length < 10; ) {
                const page = await peer.client.listResources(cursor ? { cursor } : {});
                pages.push(page.resources.length);
                cursor = page.nextCursor;
                if (!cursor) break;
            }
            assert.ok(pages.includes(100) || pages[0] > 300, String(pages));
            const longest = Math.max(...peer.all.map(({ text }) => Buffer.byteLength(text)));
            assert.ok(longest < 10 * 1024 * 1024 - 65536 && longest > most, String(longest));
            assert.deepEqual(peer.errors, []);
        });
    });
}

test("SDK 1.x: a tool as a task", async (t) => {
    const peer = await connect("SDK 1.x", example, { answers });
    t.after(() => peer.close());
    const { tools } = await peer.client.listTools();
    const { name, execution } = tools.find((tool) => tool.name === slowly(tools));
    assert.equal(execution.taskSupport, "optional");
    const stream = (ms) => peer.client.experimental.tasks.callToolStream({ name, arguments: { ms } }, undefined, { task: { ttl: 60000 } });
    const came = [];
    for await (const message of stream(300)) came.push(message);
    assert.equal(came[0].type, "taskCreated");
    assert.equal(came.at(-1).type, "result", JSON.stringify(came));
    assert.equal(came.at(-1).result.content[0].type, "text");
    const { tasks } = peer.client.experimental;
    const { taskId } = came[0].task;
    assert.equal((await tasks.getTask(taskId)).status, "completed");
    assert.ok((await tasks.listTasks()).tasks.some((task) => task.taskId === taskId));
    await refused(tasks.cancelTask(taskId), -32602);
    for await (const message of stream(20000)) {
        if (message.type !== "taskCreated") continue;
        assert.equal((await tasks.cancelTask(message.task.taskId)).status, "cancelled");
        break;
    }
    await until(() => peer.stderr().includes("cancelled"));
});

// What an SDK would not send.
test("SDK 2.x, modern: a state that was changed anywhere, or belongs to another tool, is refused", async (t) => {
    const peer = await connect("SDK 2.x, modern", example, { answers, rounds: false });
    t.after(() => peer.close());
    const name = "test_input_required_result_request_state";
    const ask = (more, tool = name) =>
        peer.client.callTool({ name: tool, arguments: {}, ...more }, { allowInputRequired: true });
    const inputResponses = { confirm: { action: "accept", content: { ok: true } } };
    const { requestState } = await ask({});
    assert.ok(requestState.length > 16);
    for (let at = 0; at < requestState.length; at++) {
        const other = requestState[at] === "A" ? "B" : "A";
        const changed = requestState.slice(0, at) + other + requestState.slice(at + 1);
        await refused(ask({ inputResponses, requestState: changed }), -32602);
    }
    await refused(ask({ inputResponses, requestState: requestState.slice(0, -1) }), -32602);
    await refused(ask({ inputResponses, requestState }, "test_input_required_result_tampered_state"), -32602);
    has("state-ok")(await ask({ inputResponses, requestState }));
});

// On a machine that is busy it may take longer now and then, so the median counts, and there are several goes.
test("ping is answered within 10 ms while a tool of 5 s runs", async (t) => {
    const peer = await connect("SDK 1.x", example, { answers });
    t.after(() => peer.close());
    const slow = slowly((await peer.client.listTools()).tools);
    const medians = [];
    while (medians.length < 5 && !medians.some((ms) => ms < 10)) {
        const stop = new AbortController();
        let ended = false;
        const running = call(peer, slow, { ms: 5000 }, { signal: stop.signal }).finally(() => (ended = true));
        running.catch(() => {});
        const took = [];
        for (let i = 0; i < 25; i++) {
            const at = performance.now();
            await peer.client.ping();
            took.push(performance.now() - at);
            await sleep(10);
        }
        assert.equal(ended, false, "the tool was running all the time");
        medians.push(took.sort((a, b) => a - b)[12]);
        stop.abort("enough");
        await assert.rejects(running);
    }
    assert.ok(medians.at(-1) < 10, `${medians} ms`);
});

const inspector = join(dirname(fileURLToPath(import.meta.url)), "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js");

// The Inspector's command: its exit code and the JSON that it prints.
const inspect = (home, argv, ...words) =>
    new Promise((resolve) => {
        const env = { ...process.env, HOME: home, PATH: `${dirname(process.execPath)}:${process.env.PATH}` };
        execFile(process.execPath, [inspector, "--cli", ...argv, "--format", "json", ...words], { env, timeout: 30000 }, (error, out, err) =>
            resolve({ code: error?.code ?? 0, out, err, value: out ? JSON.parse(out).result : undefined }),
        );
    });

describe("the Inspector's command", { concurrency: 4 }, () => {
    for (const era of ["legacy", "modern"]) {
        test(`lists and calls, ${era}`, async (t) => {
            const home = folder(t);
            const ask = async (method, ...words) => {
                const { code, value, err, out } = await inspect(home, example, "--protocol-era", era, "--method", method, ...words);
                assert.equal(code, 0, `${method}: ${err}${out}`);
                return value;
            };
            const [tools, called, resources, read, templates, prompts, got] = await Promise.all([
                ask("tools/list", "--strict"),
                ask("tools/call", "--tool-name", "test_simple_text"),
                ask("resources/list"),
                ask("resources/read", "--uri", "test://static-text"),
                ask("resources/templates/list"),
                ask("prompts/list"),
                ask("prompts/get", "--prompt-name", "test_prompt_with_arguments", "--prompt-args", "arg1=a", "arg2=b"),
            ]);
            assert.ok(tools.tools.length >= Object.keys(TOOLS).length);
            assert.equal(all(called), "This is a simple text response for testing.");
            assert.ok(resources.resources.some(({ uri }) => uri === "test://static-text"));
            assert.equal(read.contents[0].text, "This is the content of the static text resource.");
            assert.equal(templates.resourceTemplates.length, 1);
            assert.ok(prompts.prompts.length >= 4);
            assert.match(got.messages[0].content.text, /arg1='a', arg2='b'/);
        });
    }

    test("fails when a tool does", async (t) => {
        const { code, out } = await inspect(folder(t), example, "--method", "tools/call", "--tool-name", "test_error_handling");
        assert.ok(code !== 0 || JSON.parse(out).result.isError, out);
    });
});
