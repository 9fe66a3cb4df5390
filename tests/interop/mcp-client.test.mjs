// duplex mcp with servers that we did not write: all that server-everything has.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { describe, test } from "node:test";
import { folder } from "./duplex.mjs";
import { everything, LEVELS, mcp, relayed, texts } from "./mcp/tour.mjs";

const TEXT = "demo://resource/dynamic/text";
const BLOB = "demo://resource/dynamic/blob";

// What the server may ask for, so that it has all of its tools.
const root = "/";
const ALL = ["--root", root, "--sample", "Så sier modellen: 中😀", "-a", '{"name": "Åse 中😀"}'];

const said = (...wanted) => (asked) => {
    const text = texts(asked.value).join("\n");
    for (const one of wanted) assert.ok(text.includes(one), `${JSON.stringify(one)} is not in ${text}`);
};

// Every tool: words of the call, and what is to be seen. A tool that is not here makes the tour fail.
const TOOLS = {
    echo: { words: ["message=Å中😀\n\u2028"], see: said("Echo: Å中😀\n\u2028") },
    "get-annotated-message": {
        words: ["messageType=error", "includeImage:=true"],
        see({ value }) {
            assert.deepEqual(value.content.map(({ type }) => type), ["text", "image"]);
            assert.deepEqual(value.content[0].annotations, { priority: 1, audience: ["user", "assistant"] });
            assert.equal(Buffer.from(value.content[1].data, "base64").subarray(1, 4).toString(), "PNG");
        },
    },
    "get-env": {
        words: ["--clean-env", "--env", "DUPLEX_TOLD=Å中😀"],
        see({ value }) {
            const env = JSON.parse(value.content[0].text);
            assert.equal(env.DUPLEX_TOLD, "Å中😀");
            assert.equal(env.PATH, process.env.PATH);
            assert.equal(env.BUILD, undefined, "--clean-env passes only the strict list");
        },
    },
    "get-resource-links": {
        words: ["count:=3"],
        see({ value }) {
            const links = value.content.filter(({ type }) => type === "resource_link");
            assert.deepEqual(links.map(({ uri }) => uri), [`${BLOB}/1`, `${TEXT}/2`, `${BLOB}/3`]);
        },
    },
    "get-resource-reference": {
        words: ["resourceType=Blob", "resourceId:=7"],
        see({ value: { content } }) {
            assert.equal(content[1].resource.uri, `${BLOB}/7`);
            assert.match(Buffer.from(content[1].resource.blob, "base64").toString(), /^Resource 7: /);
        },
    },
    "get-roots-list": {
        see(asked) {
            assert.equal(asked.of("roots/list", "plugin").length, 1);
            said("(1 total)", `URI: file://${root}`)(asked);
        },
    },
    "get-structured-content": {
        words: ["location=Chicago"],
        see({ value }) {
            assert.deepEqual(value.structuredContent, { temperature: 36, conditions: "Light rain / drizzle", humidity: 82 });
        },
    },
    "get-sum": { words: ["a:=2", "b:=40.5"], see: said("is 42.5.") },
    "get-tiny-image": {
        see({ value }) {
            const image = value.content.find(({ type }) => type === "image");
            assert.equal(image.mimeType, "image/png");
        },
    },
    "gzip-file-as-resource": {
        words: ["name=å.gz", "data=data:text/plain,hello", "outputType=resource"],
        see(asked) {
            const { resource } = asked.value.content[0];
            assert.equal(gunzipSync(Buffer.from(resource.blob, "base64")).toString(), "hello");
            assert.equal(asked.of("notifications/resources/list_changed", "plugin").length, 1);
        },
    },
    "simulate-research-query": {
        words: ["topic=python", "ambiguous:=true", "--task"],
        offer: ["-a", "interpretation=snake"],
        see(asked) {
            said("python (snake)")(asked);
            const [{ task }] = asked.of("tools/call");
            assert.equal(typeof task, "object");
            assert.ok(asked.of("tasks/get", "host").length > 1, "its state was asked for");
            assert.equal(asked.of("tasks/result", "host").length, 1);
            assert.equal(asked.of("elicitation/create", "plugin").length, 1);
        },
    },
    "toggle-simulated-logging": { see: said("Started simulated") },
    "toggle-subscriber-updates": { see: said("Started simulated") },
    "trigger-elicitation-request": {
        see(asked) {
            said("Name: Åse 中😀", "Favorite Integer: 42", "Favorite Number: 3.14", '"fish-1"', '"pet-1"')(asked);
        },
    },
    "trigger-elicitation-request-async": {
        see(asked) {
            said("[COMPLETED]", "Name: Åse 中😀")(asked);
            assert.ok(asked.of("tasks/get", "plugin").length >= 1);
            assert.equal(asked.of("tasks/result", "plugin").length, 1);
        },
    },
    "trigger-long-running-operation": {
        words: ["duration:=0.4", "steps:=4", "--progress"],
        see(asked) {
            said("completed")(asked);
            assert.deepEqual(asked.of("notifications/progress", "plugin").map(({ progress }) => progress), [1, 2, 3, 4]);
            assert.match(asked.err, /4 of 4/);
        },
    },
    "trigger-sampling-request": {
        words: ["prompt=hva?"],
        see(asked) {
            said("Så sier modellen: 中😀")(asked);
            const [params] = asked.of("sampling/createMessage", "plugin");
            assert.match(params.messages[0].content.text, /hva\?/);
        },
    },
    "trigger-sampling-request-async": {
        words: ["prompt=hva?"],
        see(asked) {
            said("[COMPLETED]", "Så sier modellen: 中😀")(asked);
            assert.equal(asked.of("tasks/result", "plugin").length, 1);
        },
    },
    "trigger-url-elicitation": {
        words: ["url=https://example.org/side", "elicitationId=abc"],
        offer: ["-a", "accept"],
        see: said("User completed", "Elicitation ID: abc"),
    },
};

// Arguments that fit, and what comes of them.
const PROMPTS = {
    "simple-prompt": [[], ["This is a simple prompt without arguments."]],
    "args-prompt": [["city=Ås", "state=中😀"], ["What's weather in Ås, 中😀?"]],
    "completable-prompt": [["department=Sales", "name=Eve"], ["Please promote Eve to the head of the Sales team."]],
    "resource-prompt": [["resourceType=Text", "resourceId=3"], ["This prompt includes the Text resource with id: 3."]],
};

// Each argument that can be completed, with what could stand there.
const COMPLETIONS = [
    ["prompt", "completable-prompt", "department=S", ["Sales", "Support"]],
    ["prompt", "completable-prompt", "department", ["Engineering", "Sales", "Marketing", "Support"]],
    ["prompt", "completable-prompt", "name=D", ["David"], "department=Sales"],
    ["prompt", "resource-prompt", "resourceType=T", ["Text"]],
    ["prompt", "resource-prompt", "resourceId=12", ["12"]],
    ["template", `${TEXT}/{resourceId}`, "resourceId=5", ["5"]],
    ["template", `${BLOB}/{resourceId}`, "resourceId=x", []],
];

const names = (list) => list.map(({ name }) => name).sort();

describe("duplex mcp with server-everything", { concurrency: 4 }, () => {
    test("every tool is in this tour", async (t) => {
        const { value, of } = await mcp(t, ["tools", ...ALL], everything);
        assert.deepEqual(names(value.tools), Object.keys(TOOLS).sort());
        assert.equal(of("initialize")[0].protocolVersion, "2025-11-25");
        // What is not offered is not there.
        const { value: less } = await mcp(t, ["tools", "list"], everything);
        assert.deepEqual(
            names(value.tools).filter((name) => !names(less.tools).includes(name)),
            names(value.tools).filter((name) => /^trigger-(elic|samp|url)|roots/.test(name)),
        );
    });

    for (const [name, { words = [], offer = ALL, see }] of Object.entries(TOOLS)) {
        test(`the tool ${name}`, async (t) => see(await mcp(t, ["tools", "call", name, ...words, ...offer], everything)));
    }

    test("what the user declines or cancels", async (t) => {
        const [declined, cancelled, page] = await Promise.all([
            mcp(t, ["tools", "call", "trigger-elicitation-request", "-a", "decline"], everything),
            mcp(t, ["tools", "call", "trigger-elicitation-request-async", "-a", "cancel"], everything),
            mcp(t, ["tools", "call", "trigger-url-elicitation", "url=https://example.org/", "-a", "decline"], everything),
        ]);
        said("User declined")(declined);
        said("[CANCELLED]")(cancelled);
        said("User declined")(page);
    });

    test("tools that fail, and one that is not there", async (t) => {
        const misfit = await mcp(t, ["tools", "call", "get-sum", 'a:="x"', "b:=1"], everything, { code: 1 });
        assert.equal(misfit.value.isError, true);
        // What is typed as text is converted by the tool's schema, or refused before anything is called.
        said("The sum of 2 and 40 is 42")(await mcp(t, ["tools", "call", "get-sum", "a=2", "b=40"], everything));
        const unfit = await mcp(t, ["tools", "call", "get-sum", "a=x", "b=1"], everything, { code: 7 });
        assert.equal(unfit.value.error.message, `'a': expected a number, got "x"`);
        assert.equal(unfit.value.error.hint, "write a:=2");
        const absent = await mcp(t, ["tools", "call", "nobody"], everything, { code: 1 });
        assert.equal(absent.value.isError, true);
        // The page has to be visited first: an error that says so.
        const words = ["tools", "call", "trigger-url-elicitation", "url=https://example.org/", "errorPath:=true", "-a", "decline"];
        const needed = await mcp(t, words, everything, { code: 1 });
        assert.equal(needed.value.error.code, -32042);
    });

    test("every resource and every template", async (t) => {
        const { value: list } = await mcp(t, ["resources"], everything);
        const uris = list.resources.map(({ uri }) => uri);
        assert.ok(uris.length >= 7);
        const read = await mcp(t, ["resources", "read", ...uris], everything);
        const contents = read.values.flatMap((value) => value.contents);
        assert.deepEqual(contents.map(({ uri }) => uri), uris);
        assert.ok(contents.every(({ text, mimeType }) => text.length > 100 && mimeType === "text/markdown"));
        const { value: templates } = await mcp(t, ["templates"], everything);
        assert.deepEqual(templates.resourceTemplates.map(({ uriTemplate }) => uriTemplate).sort(), [
            `${BLOB}/{resourceId}`,
            `${TEXT}/{resourceId}`,
        ]);
        const { values } = await mcp(t, ["resources", "read", `${TEXT}/11`, `${BLOB}/12`], everything);
        const [text, blob] = values.flatMap((value) => value.contents);
        assert.match(text.text, /^Resource 11: /);
        assert.match(Buffer.from(blob.blob, "base64").toString(), /^Resource 12: /);
        const { value } = await mcp(t, ["resources", "read", "demo://nothing"], everything, { code: 1 });
        assert.equal(value.error.code, -32602);
    });

    test("every prompt", async (t) => {
        const { value } = await mcp(t, ["prompts"], everything);
        assert.deepEqual(names(value.prompts), Object.keys(PROMPTS).sort());
        await Promise.all(
            Object.entries(PROMPTS).map(async ([name, [words, wanted]]) => {
                const { value: got } = await mcp(t, ["prompts", "get", name, ...words], everything);
                for (const one of wanted) assert.ok(got.messages.some(({ content }) => content.text?.startsWith(one)), one);
            }),
        );
        const { value: refused } = await mcp(t, ["prompts", "get", "args-prompt"], everything, { code: 1 });
        assert.equal(refused.error.code, -32602);
    });

    test("every completion", async (t) => {
        await Promise.all(
            COMPLETIONS.map(async ([kind, name, argument, wanted, ...others]) => {
                const { value } = await mcp(t, ["complete", kind, name, argument, ...others], everything);
                assert.deepEqual(value.completion.values, wanted, `${name} ${argument}`);
            }),
        );
    });

    test("updates of a resource that was subscribed to", async (t) => {
        const server = relayed("resources/subscribe", "toggle-subscriber-updates");
        const asked = await mcp(t, ["watch", `${TEXT}/1`], server, { enough: (text) => text.includes("updated") });
        assert.deepEqual(asked.of("resources/subscribe"), [{ uri: `${TEXT}/1` }]);
        assert.deepEqual(asked.of("notifications/resources/updated"), [{ uri: `${TEXT}/1` }]);
        const updated = asked.values.filter(({ event }) => event === "updated");
        assert.deepEqual(updated, [{ event: "updated", uri: `${TEXT}/1` }]);
    });

    for (const [index, level] of LEVELS.entries()) {
        test(`the log level ${level}`, async (t) => {
            const words = ["log", "--level", level, "--env", `DICE=${index}`];
            const server = relayed("logging/setLevel", "toggle-simulated-logging");
            const asked = await mcp(t, words, server, { enough: (text) => text.includes("message") });
            assert.deepEqual(asked.of("logging/setLevel"), [{ level }]);
            const told = asked.of("notifications/message").filter(({ logger }) => !logger);
            assert.deepEqual(told.map((one) => one.level), [level]);
            assert.deepEqual(asked.values.filter(({ logger }) => !logger), [{ event: "log", level, data: told[0].data }]);
        });
    }

    test("a log message below the level is not sent", async (t) => {
        const words = ["log", "--level", "error", "--for", "800ms", "--env", "DICE=3"];
        const asked = await mcp(t, words, relayed("logging/setLevel", "toggle-simulated-logging"));
        assert.deepEqual(asked.of("notifications/message"), []);
    });

    test("ping, info, and an older revision", async (t) => {
        const [ping, info, old] = await Promise.all([
            mcp(t, ["ping"], everything),
            mcp(t, ["info", ...ALL], everything),
            mcp(t, ["tools", "call", "echo", "message=gammel", "--revision", "2024-11-05"], everything, { revision: "mcp@2024-11-05" }),
        ]);
        assert.ok(ping.of("ping", "host").length >= 1);
        assert.match(JSON.stringify(info.values), /mcp-servers\/everything/);
        assert.equal(old.of("initialize")[0].protocolVersion, "2024-11-05");
        said("Echo: gammel")(old);
    });

    test("a call that takes too long is cancelled, and one that makes progress is not", async (t) => {
        const long = ["tools", "call", "trigger-long-running-operation", "duration:=2", "steps:=8", "--start-timeout", "60s"];
        const [late, kept] = await Promise.all([
            mcp(t, [...long, "--timeout", "600ms"], everything, { code: 5 }),
            mcp(t, [...long, "--timeout", "600ms", "--progress", "--reset-on-progress"], everything),
        ]);
        const [call] = late.all.filter(({ message }) => message.method === "tools/call");
        assert.equal(late.of("notifications/cancelled")[0].requestId, call.message.id);
        assert.match(call.message.id, /^req_/);
        assert.equal(kept.of("notifications/cancelled").length, 0);
        said("completed")(kept);
    });

    test("auto: the server is of the legacy era, and a copy of it is asked", async (t) => {
        const asked = await mcp(t, ["tools", "call", "get-sum", "a:=1", "b:=2", "--mode", "auto"], everything, { lint: false });
        said("is 3.")(asked);
        assert.equal(asked.of("initialize").length, 1);
    });

    test("modern: the server cannot, and that is said", async (t) => {
        const { value } = await mcp(t, ["tools", "--mode", "modern"], everything, { code: 1, lint: false });
        assert.match(value.error.message, /server\/discover/);
    });

    test("9 MiB there and back", async (t) => {
        const file = `${folder(t)}/big.json`;
        const message = "å".repeat(4 << 20);
        writeFileSync(file, JSON.stringify({ message }));
        const { value } = await mcp(t, ["tools", "call", "echo", `@${file}`], everything, { lint: false });
        assert.equal(value.content[0].text, `Echo: ${message}`);
    });
});
