// duplex mcp with a server of the SDK 2.x, which speaks both eras.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { folder, start, until } from "./duplex.mjs";
import { LEVELS, mcp, server2, texts } from "./mcp/tour.mjs";

const MODERN = "2026-07-28";
const VERSION = "io.modelcontextprotocol/protocolVersion";
const SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId";
const root = "/";
const OFFERED = ["--root", root, "--sample", "sagt 中😀", "--sample", "sagt igjen"];
const NAME = ["-a", "name='Åse 中😀' seats:=3"];

// With each mode: its words, what it is, and which document describes its traffic. What differs little from another
// one is not toured as a whole.
const MODES = {
    legacy: { words: ["--mode", "legacy"], modern: false, revision: "mcp" },
    "2025-06-18": { words: ["--revision", "2025-06-18"], modern: false, revision: "mcp@2025-06-18", few: true },
    modern: { words: ["--mode", "modern"], modern: true, revision: `mcp@${MODERN}` },
    auto: { words: ["--mode", "auto"], modern: true, revision: `mcp@${MODERN}`, few: true },
};

const TOOLS = {
    add: {
        words: ["a:=2", "b:=40"],
        see: ({ value }) => assert.deepEqual([value.structuredContent, texts(value)], [{ sum: 42 }, ["42"]]),
    },
    fail: { code: 1, see: ({ value }) => assert.deepEqual([value.isError, texts(value)], [true, ["on purpose Å"]]) },
    throw: { code: 1, see: ({ value }) => assert.match(texts(value)[0], /thrown on purpose/) },
    speak: {
        words: ["--level", "notice"],
        see(asked) {
            const told = asked.of("notifications/message");
            assert.deepEqual(told.map(({ level }) => level), LEVELS.slice(2));
            assert.deepEqual(told[0], { ...told[0], logger: "server2", data: { said: "notice Å中😀" } });
            assert.match(asked.err, /emergency/);
        },
    },
    slow: {
        words: ["ms:=100", "steps:=4", "--progress"],
        see(asked) {
            assert.deepEqual(asked.of("notifications/progress").map(({ progress }) => progress), [1, 2, 3, 4]);
            assert.match(asked.err, /4 of 4: step 4/);
        },
    },
    change: { see: ({ value }) => assert.deepEqual(texts(value), ["changed"]) },
    ask_name: {
        words: NAME,
        asks: ["name"],
        see: ({ value }) => {
            const [, content] = texts(value)[0].match(/^accept (.*)$/);
            assert.deepEqual(JSON.parse(content), { name: "Åse 中😀", seats: 3, kind: "aisle" });
        },
    },
    ask_model: { asks: ["model"], see: ({ value }) => assert.match(texts(value)[0], /: sagt 中😀$/) },
    ask_roots: { asks: ["roots"], see: ({ value }) => assert.ok(texts(value)[0].startsWith(`file://${root}`)) },
    ask_page: {
        words: ["-a", "accept"],
        asks: ["page"],
        see: ({ value }) => assert.match(texts(value)[0], /^accept/),
    },
    ask_all: {
        words: NAME,
        asks: ["name", "model", "roots"],
        see: ({ value }) => assert.deepEqual(texts(value).length, 3),
    },
    wizard: {
        words: ["-a", "word=første", "-a", "word=annet"],
        asks: ["first", "second"],
        rounds: 2,
        see: ({ value }) => assert.deepEqual(texts(value), ["første annet"]),
    },
};

const QUESTIONS = ["elicitation/create", "sampling/createMessage", "roots/list"];

// Legacy: the server asked. Modern: it answered that it needs something, and was asked again.
function rounds({ modern }, { asks = [], rounds: count = asks.length ? 1 : 0 }, asked) {
    const questions = QUESTIONS.flatMap((method) => asked.of(method, "plugin"));
    const calls = asked.all.filter(({ message }) => message.method === "tools/call").map(({ message }) => message);
    if (!modern) {
        assert.equal(questions.length, asks.length);
        assert.equal(calls.length, 1);
        return;
    }
    assert.equal(questions.length, 0);
    assert.equal(calls.length, 1 + count);
    assert.equal(new Set(calls.map(({ id }) => id)).size, calls.length, "each round has its own id");
    const needed = asked.all.filter(({ message }) => message.result?.resultType === "input_required");
    assert.equal(needed.length, count);
    needed.forEach(({ message: { result } }, index) => {
        const { params } = calls[index + 1];
        assert.deepEqual(Object.keys(params.inputResponses).sort(), Object.keys(result.inputRequests).sort());
        assert.equal(params.requestState, result.requestState);
        assert.deepEqual(params.arguments, calls[0].params.arguments);
    });
}

// In the modern era every request says what it is.
function marked({ modern }, asked) {
    const sent = asked.all.filter(({ from, message }) => from === "host" && message.method && "id" in message);
    if (modern) assert.ok(sent.every(({ message }) => message.params._meta[VERSION] === MODERN));
    assert.equal(asked.of("initialize").length, modern ? 0 : 1);
}

const FEW = ["add", "ask_all", "wizard"];

for (const mode of Object.values(MODES)) {
    const call = (t, words, options) =>
        mcp(t, [...words, ...mode.words], server2, { revision: mode.revision, ...options });

    describe(`duplex mcp ${mode.words.join(" ")} with a server of the SDK 2.x`, { concurrency: 4 }, () => {
        test("every tool is in this tour", async (t) => {
            const asked = await call(t, ["tools", ...OFFERED]);
            assert.deepEqual(asked.value.tools.map((one) => one.name).sort(), Object.keys(TOOLS).sort());
            marked(mode, asked);
        });

        for (const [tool, plan] of Object.entries(TOOLS)) {
            if (mode.few && !FEW.includes(tool)) continue;
            test(`the tool ${tool}`, async (t) => {
                const answer = (plan.words ?? []).includes("-a") ? [] : NAME;
                const asked = await call(t, ["tools", "call", tool, ...(plan.words ?? []), ...answer, ...OFFERED], { code: plan.code });
                plan.see(asked);
                marked(mode, asked);
                rounds(mode, plan, asked);
            });
        }

        test("what changes is told", async (t) => {
            const path = join(folder(t), "journal");
            const words = ["watch", "notes://one", "--env", "TICK=100", "--env", `JOURNAL=${path}`];
            const asked = await call(t, words, { enough: (text) => text.includes("updated") && text.includes("changed") });
            const updated = asked.of("notifications/resources/updated");
            const changed = asked.of("notifications/tools/list_changed");
            assert.ok(updated.length >= 1 && updated.every(({ uri }) => uri === "notes://one"), asked.out);
            assert.ok(changed.length >= 1, asked.out);
            const told = asked.values.filter(({ event }) => event).map(({ event, uri, list }) => `${event} ${uri ?? list}`);
            assert.deepEqual([...new Set(told)].sort(), ["changed tools", "updated notes://one"]);
            if (!mode.modern) {
                assert.match(readFileSync(path, "utf8"), /^subscribe notes:\/\/one$/m);
                return;
            }
            const listens = asked.all.filter(({ message }) => message.method === "subscriptions/listen");
            assert.ok(listens.length >= 1);
            const ids = listens.map(({ message }) => message.id);
            const tagged = [...asked.of("notifications/subscriptions/acknowledged"), ...updated, ...changed];
            assert.ok(tagged.every(({ _meta }) => ids.includes(_meta[SUBSCRIPTION])));
        });

        if (mode.few) return;

        test("what the user declines; and what is not offered is not asked for", async (t) => {
            const [declined, cancelled, not] = await Promise.all([
                call(t, ["tools", "call", "ask_name", "-a", "decline"]),
                call(t, ["tools", "call", "ask_name", "-a", "cancel"]),
                call(t, ["tools", "call", "ask_model"], { code: 1 }),
            ]);
            assert.deepEqual([texts(declined.value), texts(cancelled.value)], [["decline null"], ["cancel null"]]);
            assert.equal(not.of("sampling/createMessage").length, 0);
        });

        test("resources, a template, prompts, completions", async (t) => {
            const [list, read, templates, prompts, travel, personal, city, named, nothing] = await Promise.all([
                call(t, ["resources"]),
                call(t, ["resources", "read", "notes://one", "notes://bytes", "notes://named/beta"]),
                call(t, ["templates"]),
                call(t, ["prompts"]),
                call(t, ["prompts", "get", "travel", "country=no", "city=Ås"]),
                call(t, ["prompts", "get", "personal", ...NAME]),
                call(t, ["complete", "prompt", "travel", "city=O", "country=no"]),
                call(t, ["complete", "template", "notes://named/{name}", "name=alpha"]),
                call(t, ["resources", "read", "notes://nothing"], { code: 1 }),
            ]);
            assert.deepEqual(list.value.resources.map(({ uri }) => uri), ["notes://one", "notes://bytes"]);
            const contents = read.values.flatMap((value) => value.contents);
            assert.match(contents[0].text, /^the first note Å中😀/);
            assert.equal(contents[1].blob, "AAH+/w==");
            assert.equal(contents[2].text, "note beta");
            assert.deepEqual(templates.value.resourceTemplates.map((one) => one.name), ["named"]);
            assert.deepEqual(prompts.value.prompts.map((one) => one.name), ["travel", "personal"]);
            assert.equal(travel.value.messages[0].content.text, "To Ås in no");
            assert.equal(personal.value.messages[0].content.text, "I am Åse 中😀");
            assert.deepEqual(city.value.completion.values, ["Oslo", "Otta"]);
            assert.deepEqual(named.value.completion.values, ["alpha", "alphabet"]);
            assert.ok([-32602, -32002].includes(nothing.value.error.code));
        });

        test("a timeout and an interrupt cancel what runs", async (t) => {
            const path = folder(t);
            const read = (file) => (existsSync(file) ? readFileSync(file, "utf8") : "");
            const [one, two] = ["one", "two"].map((file) => join(path, file));
            const slow = (journal) => ["tools", "call", "slow", "ms:=30000", "steps:=4", "--env", `JOURNAL=${journal}`];
            const stopped = start(["mcp", "--json", ...slow(two), ...mode.words, "--", ...server2]);
            const interrupted = until(() => read(two).includes("slow begins"), 20000).then(() => stopped.child.kill("SIGINT"));
            const late = await call(t, [...slow(one), "--timeout", "2s"], { code: 5 });
            const sent = late.all.find(({ message }) => message.method === "tools/call").message;
            assert.equal(late.of("notifications/cancelled")[0].requestId, sent.id);
            assert.match(read(one), /slow is cancelled/);
            await interrupted;
            const ended = await stopped.ended;
            assert.equal(ended.code, 130, ended.err);
            assert.match(read(two), /slow is cancelled/);
        });

        test("no log message that was not asked for", async (t) => {
            const asked = await call(t, ["tools", "call", "speak"]);
            if (mode.modern) assert.equal(asked.of("notifications/message").length, 0);
            assert.doesNotMatch(asked.err, /emergency/);
        });

        test("info", async (t) => {
            const asked = await call(t, ["info"]);
            const all = JSON.stringify(asked.values);
            assert.match(all, /Server Two/);
            assert.match(all, /Be kind\. Å中😀/);
            if (mode.modern) assert.ok(asked.of("server/discover").length >= 1);
        });
    });
}
