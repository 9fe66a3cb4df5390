// A server made with the SDK 2.x. It speaks both eras: what it asks for is a request in the legacy one, and a round
// of input in the modern one. JOURNAL names a file that is told what cannot be seen from outside; TICK lets it change
// something every so many milliseconds.
import { appendFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import {
    acceptedContent, completable, createRequestStateCodec, fromJsonSchema, inputRequired, inputResponse, McpServer,
    ResourceTemplate,
} from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

const LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

const journal = (line) => process.env.JOURNAL && appendFileSync(process.env.JOURNAL, `${line}\n`);
const object = (properties, required = Object.keys(properties)) =>
    fromJsonSchema({ type: "object", properties, required, additionalProperties: false });
const text = (...texts) => ({ content: texts.map((one) => ({ type: "text", text: one })) });
const answer = (ctx, key) => inputResponse(ctx.mcpReq.inputResponses, key);

const question = {
    name: inputRequired.elicit({
        message: "Who are you? Å中😀",
        requestedSchema: {
            type: "object",
            properties: {
                name: { type: "string", minLength: 2 },
                seats: { type: "integer", minimum: 1, maximum: 9, default: 4 },
                kind: { type: "string", enum: ["window", "aisle"], default: "aisle" },
            },
            required: ["name", "seats"],
        },
    }),
    model: inputRequired.createMessage({
        messages: [{ role: "user", content: { type: "text", text: "Say something. Å中😀" } }],
        maxTokens: 10,
    }),
    roots: inputRequired.listRoots(),
    page: inputRequired.elicitUrl({ message: "Visit this", url: "https://example.org/å" }),
};

// A tool that needs one thing and tells what it was.
function asks(server, name, keys, tell) {
    server.registerTool(name, { description: `asks for ${keys}` }, (ctx) => {
        if (keys.some((key) => answer(ctx, key).kind === "missing")) {
            return inputRequired({ inputRequests: Object.fromEntries(keys.map((key) => [key, question[key]])) });
        }
        return text(...keys.map((key) => tell(answer(ctx, key))));
    });
}

function told(view) {
    if (view.kind === "elicit") return `${view.action} ${JSON.stringify(view.content ?? null)}`;
    if (view.kind === "sampling") return `${view.result.model}: ${view.result.content.text}`;
    return view.roots.map(({ uri, name }) => `${uri} ${name ?? ""}`.trim()).join("\n");
}

// Two rounds, and a state that must come back as it was.
function wizard(server, codec) {
    const ask = (key) =>
        inputRequired.elicit({
            message: `The ${key} word`,
            requestedSchema: { type: "object", properties: { word: { type: "string" } }, required: ["word"] },
        });
    server.registerTool("wizard", { description: "asks twice" }, async (ctx) => {
        const before = ctx.mcpReq.requestState();
        const word = acceptedContent(ctx.mcpReq.inputResponses, before ? before.next : "first")?.word;
        if (!word) return inputRequired({ inputRequests: { first: ask("first") } });
        if (!before) {
            const requestState = await codec.mint({ next: "second", words: [word] }, ctx);
            return inputRequired({ inputRequests: { second: ask("second") }, requestState });
        }
        return text([...before.words, word].join(" "));
    });
}

function tools(server) {
    server.registerTool(
        "add",
        {
            title: "Add",
            description: "Adds two numbers",
            inputSchema: object({ a: { type: "number" }, b: { type: "number" } }),
            outputSchema: object({ sum: { type: "number" } }),
            annotations: { readOnlyHint: true },
        },
        ({ a, b }) => ({ ...text(`${a + b}`), structuredContent: { sum: a + b } }),
    );
    server.registerTool("fail", { description: "fails" }, () => ({ ...text("on purpose Å"), isError: true }));
    server.registerTool("throw", { description: "throws" }, () => {
        throw new Error("thrown on purpose");
    });
    server.registerTool("speak", { description: "logs at every level" }, async (ctx) => {
        for (const level of LEVELS) await ctx.mcpReq.log(level, { said: `${level} Å中😀` }, "server2");
        return text("said");
    });
    server.registerTool(
        "slow",
        { description: "takes a while", inputSchema: object({ ms: { type: "integer" }, steps: { type: "integer" } }) },
        async ({ ms, steps }, ctx) => {
            const token = ctx.mcpReq._meta?.progressToken;
            journal(`slow begins, ${token === undefined ? "without" : "with"} a token`);
            for (let progress = 1; progress <= steps; progress++) {
                await sleep(ms / steps, undefined, { signal: ctx.mcpReq.signal }).catch(() => {});
                if (ctx.mcpReq.signal.aborted) {
                    journal(`slow is cancelled: ${ctx.mcpReq.signal.reason}`);
                    return text("cancelled");
                }
                const params = { progressToken: token, progress, total: steps, message: `step ${progress}` };
                if (token !== undefined) await ctx.mcpReq.notify({ method: "notifications/progress", params });
            }
            journal("slow ends");
            return text("slept");
        },
    );
    server.registerTool("change", { description: "a new tool, and a resource that is another" }, async () => {
        change(server);
        return text("changed");
    });
}

let changes = 0;
function change(server) {
    changes++;
    server.registerTool(`new-${changes}`, { description: "was not there" }, () => text("new"));
    server.server.sendResourceUpdated({ uri: "notes://one" }).catch((error) => journal(`not told: ${error.message}`));
}

function resources(server) {
    const contents = (uri, body) => ({ contents: [{ uri: uri.href, ...body }] });
    server.registerResource("one", "notes://one", { title: "One", mimeType: "text/plain" }, (uri) =>
        contents(uri, { mimeType: "text/plain", text: `the first note Å中😀, ${changes} changes` }),
    );
    server.registerResource("bytes", "notes://bytes", { mimeType: "application/octet-stream" }, (uri) =>
        contents(uri, { mimeType: "application/octet-stream", blob: Buffer.from([0, 1, 254, 255]).toString("base64") }),
    );
    const names = ["alpha", "alphabet", "beta"];
    const template = new ResourceTemplate("notes://named/{name}", {
        list: undefined,
        complete: { name: (value) => names.filter((name) => name.startsWith(value)) },
    });
    server.registerResource("named", template, { description: "by name" }, (uri, { name }) =>
        contents(uri, { mimeType: "text/plain", text: `note ${name}` }),
    );
}

function prompts(server) {
    const cities = { no: ["Oslo", "Otta"], fi: ["Oulu"] };
    const argsSchema = z.object({
        country: completable(z.string(), (value) => Object.keys(cities).filter((one) => one.startsWith(value))),
        city: completable(z.string(), (value, context) =>
            (cities[context?.arguments?.country] ?? []).filter((one) => one.startsWith(value)),
        ).optional(),
    });
    const message = (one) => ({ messages: [{ role: "user", content: { type: "text", text: one } }] });
    server.registerPrompt("travel", { description: "To a city", argsSchema }, ({ country, city }) =>
        message(`To ${city ?? "anywhere"} in ${country}`),
    );
    server.registerPrompt("personal", { description: "asks who you are" }, (ctx) => {
        const name = acceptedContent(ctx.mcpReq.inputResponses, "name")?.name;
        return name ? message(`I am ${name}`) : inputRequired({ inputRequests: { name: question.name } });
    });
}

serveStdio(({ era }) => {
    const codec = createRequestStateCodec({ key: "0123456789abcdef0123456789abcdef", ttlSeconds: 60 });
    const server = new McpServer(
        { name: "server2", title: "Server Two", version: "2.0" },
        {
            capabilities: { logging: {}, resources: { subscribe: true, listChanged: true } },
            instructions: "Be kind. Å中😀",
            requestState: { verify: codec.verify },
        },
    );
    journal(`era ${era}`);
    tools(server);
    asks(server, "ask_name", ["name"], told);
    asks(server, "ask_model", ["model"], told);
    asks(server, "ask_roots", ["roots"], told);
    asks(server, "ask_page", ["page"], told);
    asks(server, "ask_all", ["name", "model", "roots"], told);
    wizard(server, codec);
    resources(server);
    prompts(server);
    if (era === "legacy") {
        server.server.setRequestHandler("resources/subscribe", ({ params }) => journal(`subscribe ${params.uri}`) ?? {});
        server.server.setRequestHandler("resources/unsubscribe", ({ params }) => journal(`unsubscribe ${params.uri}`) ?? {});
    }
    if (process.env.TICK) setInterval(() => change(server), Number(process.env.TICK)).unref();
    return server;
});
