// A runner and a manager of FineCode that know nothing but the protocol document, seed 002: every message and every sample of it,
// by stdio, which is all that the document knows, and by TCP.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { clean, duplex, folder, results, run, until } from "./duplex.mjs";
import { Client } from "./finecode/client.mjs";

const here = join(dirname(fileURLToPath(import.meta.url)), "finecode");
const seed = join(here, "../../../../shared/seeds/002_053084a4dcc076b9.txt");
const python = existsSync("/usr/bin/python3") ? "/usr/bin/python3" : "python3";
const TRANSPORTS = ["stdio", "tcp"];

const runner = (tcp) => [python, ...(tcp ? [join(here, "seed_tcp.py"), "listen"] : []), join(here, "seed_runner.py")];
const LINT = "myext.LintAction";
const FORMAT = "myext.FormatAction";

// [action, source, [handler, what it does, env, config]...]; no two actions of a project have the same source.
const ACTIONS = {
    one: [["lint", LINT, ["h1", "say", "a"], ["h2", "bad", "a"]]],
    chain: [["lint", FORMAT, ["h1", "say", "a"], ["h2", "say", "a"], ["h3", "say", "a"], ["h4", "bad", "b"]]],
    zigzag: [["lint", FORMAT, ["h1", "say", "a"], ["h2", "say", "b"], ["h3", "say", "a"]]],
    concurrent: [["lint", LINT, ["h1", "say", "a"], ["h2", "bad", "b"], ["h3", "say", "a"]]],
    stopped: [["lint", FORMAT, ["h1", "stop", "a"], ["h2", "fail", "b"]]],
    stops: [["lint", FORMAT, ["h1", "stop", "a"], ["h2", "fail", "a"]]],
    fails: [["lint", FORMAT, ["h1", "fail", "a"]]],
    parts: [["lint", FORMAT, ["h1", "parts", "a"]]],
    parted: [["lint", FORMAT, ["h1", "parts", "a"], ["h2", "parts", "b"]]],
    config: [["lint", FORMAT, ["h1", "say", "a", { mark: "!" }], ["h2", "raw", "a"]]],
    nest: [["lint", LINT, ["h1", "bad", "b"]], ["nest", "myext.NestAction", ["n", "nest", "a", { actionSource: "myext.actions.lint.LintAction" }]]],
    alias: [["lint", LINT, ["h1", "bad", "b"]], ["nest", "myext.NestAction", ["n", "nest", "a", { actionSource: LINT }]]],
    deep: [["nest", "myext.NestAction", ["n", "nest", "a", { actionSource: "myext.actions.nest.NestAction" }]]],
};

const toml = (value) => `{ ${Object.entries(value).map(([key, each]) => `${key} = ${JSON.stringify(each)}`).join(", ")} }`;

function project(path, actions, er) {
    let text = `[finecode.er]\n${er}\n`;
    for (const [name, source, ...handlers] of actions) {
        text += `[finecode.action.${name}]\nsource = "${source}"\n`;
        for (const [handler, does, env, config = {}] of handlers)
            text += `[[finecode.action.${name}.handlers]]\nname = "${handler}"\nsource = "myext.${does}"\nenv = "${env}"\nconfig = ${toml(config)}\n`;
    }
    mkdirSync(path, { recursive: true });
    writeFileSync(join(path, "finecode.toml"), text);
}

const launched = (tcp) => `runner = ${JSON.stringify(runner(tcp))}\ntransport = "${tcp ? "tcp" : "stdio"}"`;

// A workspace with the projects p and q, which have these actions.
function place(t, actions, er) {
    const root = realpathSync(folder(t));
    for (const name of ["p", "q"]) project(join(root, name), actions, er);
    return root;
}

// duplex finecode run in p: what ended, its result, and what the runners got.
async function ran(t, way, actions, words, er = launched(way === "tcp"), revision = ["--revision", "seed"]) {
    const root = place(t, actions, er);
    const journal = join(root, "journal");
    const ended = await run(["finecode", "run", "-w", root, "--project", "p", "--json", ...revision, ...words], {
        env: { ...process.env, SEED_JOURNAL: journal },
    });
    assert.ok(existsSync(journal), ended.err + ended.out);
    const got = readFileSync(journal, "utf8").trim().split("\n").map((line) => JSON.parse(line));
    const calls = got.filter(([, { method }]) => method?.startsWith("actions/")).map(([env, { method, params }]) => ({ env, method, params }));
    const lines = results(ended);
    return { ...ended, root, calls, got, lines, last: lines.find(({ event }) => event === "project") };
}

const order = ({ calls }) => calls.map(({ env, method, params }) => [env, method.slice("actions/".length), ...(params.handlerNames ? [params.handlerNames] : [])]);
const LIFECYCLE = ["initialize", "initialized", "finecodeRunner/getInfo", "finecodeRunner/updateConfig", "finecodeRunner/resolveActionMeta"];

// A client of duplex finecode serve; whose workspace is there.
async function served(t, way, actions) {
    const root = place(t, actions, launched(way === "tcp"));
    const port = join(root, "port");
    const journal = join(root, "journal");
    const child = spawn(duplex, ["finecode", "serve", "--revision", "seed", "--port-file", port], { env: { ...process.env, SEED_JOURNAL: journal } });
    let text = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (bytes) => (text += bytes));
    const closed = new Promise((resolve) => child.on("close", resolve));
    t.after(() => child.kill("SIGKILL"));
    await until(() => existsSync(port) && readFileSync(port, "ascii").trim(), 60000);
    const client = new Client(Number(readFileSync(port, "ascii")));
    await client.ask("client/initialize", { clientId: "test", capabilities: { workspace: { applyEdit: true } } });
    await client.ask("workspace/addDir", { dirPath: root, startRunners: false });
    const p = join(root, "p");
    const acts = (source, options, more = {}) =>
        client.ask("actions/run", { actionSource: source, project: p, params: {}, options: { resultFormats: ["json"], trigger: "user", devEnv: "ide", ...options }, ...more });
    const end = async () => {
        await client.ask("server/shutdown", {});
        client.socket.destroy();
        assert.equal(await closed, 0, text);
        return readFileSync(journal, "utf8").trim().split("\n").map((line) => JSON.parse(line));
    };
    return { root, p, client, acts, end };
}

for (const way of TRANSPORTS)
    describe(`duplex finecode and a runner written from the document alone, by ${way}`, { concurrency: 2 }, () => {
        test("an action of one env is one actions/run, in the order of the lifecycle", async (t) => {
            const ended = await ran(t, way, ACTIONS.one, ["lint"]);
            assert.equal(ended.code, 1, ended.err + ended.out);
            assert.deepEqual(order(ended), [["a", "run"]]);
            assert.deepEqual(ended.last.result.json, { items: ["h1@a after 0", "h2"], bad: true });
            assert.equal(ended.last.returnCode, 1);
            const methods = ended.got.map(([, { method }]) => method).filter((method) => method);
            assert.deepEqual(methods, [...LIFECYCLE, "actions/run", "shutdown", "exit"]);
        });

        test("the configuration of handlers, and that of the project while it is told", async (t) => {
            const ended = await ran(t, way, ACTIONS.config, ["lint"]);
            assert.deepEqual(ended.last.result.json.items, ["h1@a after 0!", "lint"]);
        });

        test("sequential: consecutive handlers of an env, with the result of those before", async (t) => {
            const ended = await ran(t, way, ACTIONS.chain, ["--format", "string", "lint"]);
            assert.equal(ended.code, 1, ended.err + ended.out);
            assert.deepEqual(order(ended), [["a", "runHandlers", ["h1", "h2", "h3"]], ["b", "runHandlers", ["h4"]]]);
            const [first, second] = ended.calls.map(({ params }) => params);
            assert.deepEqual([first.previousResult, first.options.resultFormats], [null, []]);
            assert.deepEqual(second.previousResult, { items: ["h1@a after 0", "h2@a after 1", "h3@a after 2"], bad: false });
            assert.deepEqual(second.options.resultFormats, ["string"]);
            assert.equal(first.options.walRunId, second.options.walRunId);
            assert.equal(ended.last.result.string, "lint: h1@a after 0,h2@a after 1,h3@a after 2,h4");
            assert.equal(ended.last.returnCode, 1);
            const zigzag = await ran(t, way, ACTIONS.zigzag, ["lint"]);
            assert.deepEqual(order(zigzag), [["a", "runHandlers", ["h1"]], ["b", "runHandlers", ["h2"]], ["a", "runHandlers", ["h3"]]]);
            assert.deepEqual(zigzag.last.result.json.items, ["h1@a after 0", "h2@b after 1", "h3@a after 2"]);
        });

        for (const format of ["json", "string"])
            test(`concurrent: all of an env together, then mergeResults and nothing else (${format})`, async (t) => {
                const ended = await ran(t, way, ACTIONS.concurrent, ["--format", format, "lint"]);
                assert.equal(ended.code, 1, ended.err + ended.out);
                const calls = order(ended);
                assert.deepEqual(calls.slice(0, 2).sort(), [["a", "runHandlers", ["h1", "h3"]], ["b", "runHandlers", ["h2"]]]);
                assert.deepEqual(calls.slice(2).map(([, method]) => method), ["mergeResults"]);
                const params = ended.calls.map((call) => call.params);
                assert.deepEqual(params.slice(0, 2).map(({ previousResult }) => previousResult), [null, null]);
                assert.equal(params[0].options.walRunId, params[1].options.walRunId);
                const merged = { items: ["h1@a after 0", "h3@a after 1", "h2"], bad: true };
                assert.deepEqual(params[2].results, [{ items: merged.items.slice(0, 2), bad: false }, { items: ["h2"], bad: true }]);
                if (format === "json") assert.deepEqual(ended.last.result.json, merged);
                else assert.deepEqual(JSON.parse(ended.last.result.string), merged);
                assert.equal(ended.last.returnCode, 1);
            });

        test("stopped: in one env, and before the next", async (t) => {
            const one = await ran(t, way, ACTIONS.stops, ["lint"]);
            assert.deepEqual([one.last.status, one.last.returnCode, one.last.result.json], ["stopped", 1, { items: ["stopped"], bad: true }]);
            for (const format of ["json", "string"]) {
                const ended = await ran(t, way, ACTIONS.stopped, ["--format", format, "lint"]);
                assert.deepEqual(order(ended), [["a", "runHandlers", ["h1"]]]);
                assert.deepEqual([ended.last.status, ended.last.returnCode], ["stopped", 1]);
                const json = format === "json" ? ended.last.result.json : JSON.parse(ended.last.result.string);
                assert.deepEqual(json, { items: ["stopped"], bad: true });
            }
        });

        test("an error of a command is one of the run", async (t) => {
            const ended = await ran(t, way, ACTIONS.fails, ["lint"]);
            assert.notEqual(ended.code, 0);
            assert.match(ended.out + ended.err, /failed on purpose/);
        });

        test("partial results are streamed, in one env and in two", async (t) => {
            const parts = (name) => [0, 1, 2].map((number) => `${name} part ${number}`);
            for (const [name, wanted] of [["parts", parts("h1")], ["parted", [...parts("h1"), ...parts("h2")]]]) {
                const ended = await ran(t, way, ACTIONS[name], ["--stream", "lint"]);
                assert.equal(ended.code, 0, ended.err + ended.out);
                const given = ended.lines.filter(({ event }) => event === "partial").flatMap(({ result }) => result.json.items);
                assert.deepEqual(given, wanted);
                for (const { params } of ended.calls) assert.ok(params.options.partialResultToken, JSON.stringify(params));
            }
        });

        test("runActionInProject: nested runs, by the canonical source only, and not too deep", async (t) => {
            const ended = await ran(t, way, ACTIONS.nest, ["nest"]);
            assert.deepEqual([ended.code, ended.last.result.json], [1, { items: ["h1"], bad: true }], ended.err);
            const depths = ended.calls.map(({ params }) => params.options.meta.orchestrationDepth);
            assert.equal(depths[1], depths[0] + 1);
            assert.match((await ran(t, way, ACTIONS.alias, ["nest"])).out, /runActionInProject: /);
            const deep = await ran(t, way, ACTIONS.deep, ["nest"]);
            assert.notEqual(deep.code, 0);
            assert.ok(deep.calls.length > 1 && deep.calls.length < 20, `${deep.calls.length}`);
        });

        test("runActionInWorkspace: all projects, or those that are named, at once or not", async (t) => {
            for (const concurrently of [undefined, false]) {
                const config = { actionSource: "myext.actions.lint.LintAction", ...(concurrently === undefined ? {} : { concurrently }) };
                const actions = [["lint", LINT, ["h1", "say", "b"]], ["spread", "myext.NestAction", ["s", "spread", "a", config]]];
                const ended = await ran(t, way, actions, ["spread"]);
                assert.deepEqual(ended.last?.result.json.items, ["p: h1@b after 0", "q: h1@b after 0"], ended.err + ended.out);
            }
        });

        test("list and runners", async (t) => {
            const root = place(t, ACTIONS.concurrent, launched(way === "tcp"));
            const [list, state] = await Promise.all(["list", "runners"].map((word) => run(["finecode", word, "-w", root, "--json", "--revision", "seed"])));
            assert.equal(list.code, 0, list.err);
            assert.match(list.out, /"lint"/);
            assert.equal(state.code, 0, state.err);
            const running = results(state).filter(({ state }) => state === "RUNNING").map(({ name, env }) => `${name} ${env}`);
            assert.deepEqual([...new Set(running)].sort(), ["p a", "p b", "q a", "q b"]);
        });

        test("documents, edits, schemas, reload, sources and cancellation", async (t) => {
            const file = "file:///tmp/doc.txt";
            const { root, p, client, acts, end } = await served(t, way, [
                ["read", LINT, ["r", "read", "a", { uri: file }]],
                ["edit", FORMAT, ["e", "edit", "a", { uri: file }]],
                ["slow", "myext.SlowAction", ["s", "slow", "a"]],
                ["gone", "myext.GoneAction", ["g", "say", "a"]],
            ]);
            const uri = `file://${p}/doc.txt`;
            const toml = join(p, "finecode.toml");
            writeFileSync(toml, readFileSync(toml, "utf8").replaceAll(file, uri));
            await client.ask("workspace/removeDir", { dirPath: root });
            await client.ask("workspace/addDir", { dirPath: root, startRunners: false });
            const read = async () => (await acts(LINT)).result.resultByFormat.json.items[0];
            client.send({ method: "documents/opened", params: { uri, version: 1, text: "one" } });
            assert.equal(await read(), "one");
            const change = { range: { start: { line: 0, character: 0 }, end: { line: 0, character: 3 } }, text: "two" };
            client.send({ method: "documents/changed", params: { uri, version: 2, contentChanges: [change] } });
            assert.equal(await read(), "two");
            client.send({ method: "documents/closed", params: { uri } });
            assert.equal(await read(), "not open");
            assert.deepEqual((await acts(FORMAT)).result.resultByFormat.json.items, ["applied: True"]);
            assert.equal(client.edits[0].edit.changes[uri][0].newText, "edited ");
            const { schemas } = (await client.ask("actions/getPayloadSchemas", { project: p, actionSources: [LINT, "myext.GoneAction"] })).result;
            assert.deepEqual(schemas, { [LINT]: { properties: { items: { type: "array" } }, required: [] }, "myext.GoneAction": null });
            assert.deepEqual((await client.ask("actions/reload", { actionNodeId: `${p}::${LINT}` })).result, {});
            assert.equal((await acts("myext.again.LintAction")).result?.resultByFormat.json.items[0], "not open");
            const cancelled = await client.ask("actions/run", { actionSource: "myext.SlowAction", project: p, params: {}, options: {} },
                (id) => setTimeout(() => client.send({ method: "$/cancelRequest", params: { id } }), 300));
            assert.equal(cancelled.error?.code, -32800);
            const methods = (await end()).map(([, { method }]) => method);
            for (const method of ["textDocument/didOpen", "textDocument/didChange", "textDocument/didClose", "actions/getPayloadSchemas",
                "actions/reload", "actions/resolveSource", "$/cancelRequest"])
                assert.ok(methods.includes(method), `${method} is not in ${methods}`);
        });

        test("packages/resolvePath: presets", async (t) => {
            const root = place(t, [["hello", LINT, ["h1", "say", "a"]]], `${launched(way === "tcp")}\n[[finecode.presets]]\nsource = "preset_ext"`);
            for (const name of ["p", "q"]) {
                mkdirSync(join(root, name, "preset_ext"));
                writeFileSync(join(root, name, "preset_ext", "preset.toml"),
                    '[finecode.action.lint]\nsource = "myext.FormatAction"\nhandlers = [{ name = "h", source = "myext.say", env = "a" }]\n');
            }
            const ended = await run(["finecode", "run", "-w", root, "--project", "p", "--json", "--revision", "seed", "lint"]);
            assert.equal(ended.code, 0, ended.err + ended.out);
            assert.deepEqual(results(ended).find(({ event }) => event === "project").result.json.items, ["h@a after 0"]);
        });
    });

// What our runner is to know: the handlers of the samples are commands.
const say = (text) => `["sh", "-c", ${JSON.stringify(text)}]`;
const HANDLERS = `
[[action]]
source = "myext.actions.lint.LintAction"
aliases = ["myext.LintAction", "myext.again.LintAction"]
runs_concurrently = true
[[action]]
source = "myext.FormatAction"
canonical_source = "myext.actions.format.FormatAction"
${["parts", "stop", "fail", "slow", "zigzag", "wide"].map((name) => `[[action]]\nsource = "more.${name}"\n`).join("")}
[[handler]]
source = "myext.say"
command = ${say('echo "{\\"items\\":[\\"$FINECODE_HANDLER\\"]}"')}
[[handler]]
source = "myext.code"
command = ${say('echo "{\\"items\\":[\\"$FINECODE_HANDLER\\"]}"; exit 2')}
[[handler]]
source = "myext.seen"
form = "full"
command = ["${python}", "-c", ${JSON.stringify(`
import json, os, sys
run = json.load(sys.stdin)
items = ["%s after %d" % (run["handler"], len((run["result"] or {"items": []})["items"]))]
print(json.dumps({"result": {"items": items}, "returnCode": 3 if run["handler"] == "h4" else 0}))
`)}]
[[handler]]
source = "myext.parts"
command = ${say('for i in 0 1; do echo "{\\"items\\":[\\"part $i\\"]}"; sleep 0.5; done')}
[[handler]]
source = "myext.stop"
stop_code = 5
command = ${say('echo "{\\"items\\":[\\"enough\\"]}"; exit 5')}
[[handler]]
source = "myext.fail"
command = ${say("echo on purpose >&2; exit 3")}
[[handler]]
source = "myext.slow"
command = ["sleep", "1000"]
[[package]]
name = "preset_ext"
path = "preset_ext"
`;
const action = (name, source, ...handlers) => ({
    name, source, config: {},
    handlers: handlers.map(([handler, does, env]) => ({ name: handler, source: does.includes(".") ? does : `myext.${does}`, env, config: {} })),
});
const SEEN = (...envs) => envs.map((env, index) => [`h${index + 1}`, "seen", `env${env}`]);
const CATALOG = [
    action("lint", "myext.LintAction", ["l1", "say", "env1"], ["l2", "code", "env1"]),
    action("chain", "myext.FormatAction", ...SEEN(1, 1, 1, 2)),
    action("zigzag", "more.zigzag", ...SEEN(1, 2, 1)),
    action("wide", "more.wide", ["h1", "say", "env1"], ["h2", "say", "env2"], ["h3", "say", "env1"]),
    ...["parts", "stop", "fail", "slow"].map((name) => action(name, `more.${name}`, [name[0], name, "env1"])),
    action("nowhere", "more.nowhere"),
];
const DEMO = "demo_ext.acts.";
const REQUESTS = ["ask", "nest", "spread", "read"].map((name) => action(name, `${DEMO}${name[0].toUpperCase()}${name.slice(1)}Action`, [name[0], `${DEMO}${name}`, "env1"]));
const ER = {
    stdio: [duplex, "finecode", "er"],
    tcp: [python, join(here, "seed_tcp.py"), "connect", duplex, "finecode", "er", "--revision", "seed", "--tcp"],
};
const DEMOS = {
    stdio: [join(process.env.BUILD, "tests", "finecode_demo"), "--stdio"],
    tcp: [python, join(here, "seed_tcp.py"), "connect", join(process.env.BUILD, "tests", "finecode_demo"), "--revision=seed"],
};

for (const way of TRANSPORTS)
    describe(`a manager written from the document alone, and our runner, by ${way}`, { concurrency: 2 }, () => {
        for (const [scene, actions, command] of [["catalog", CATALOG, ER], ["requests", REQUESTS, DEMOS], ["silent", CATALOG, ER], ["late", CATALOG, ER]])
            test(scene, async (t) => {
                const path = realpathSync(folder(t));
                writeFileSync(join(path, "finecode-handlers.toml"), HANDLERS);
                writeFileSync(join(path, "actions.json"), JSON.stringify(actions));
                writeFileSync(join(path, "doc.txt"), "disk");
                mkdirSync(join(path, "preset_ext"));
                const child = spawn(python, [join(here, "seed_manager.py"), scene, path, "--", ...command[way]], { stdio: ["ignore", "pipe", "pipe"] });
                let text = "";
                for (const stream of [child.stdout, child.stderr]) stream.on("data", (bytes) => (text += bytes));
                assert.equal(await new Promise((resolve) => child.on("close", resolve)), 0, text);
                assert.ok(text.includes("ok exit"), text);
            });
    });

// A venv whose Python has this as finecode_extension_runner.cli.
function venv(root, program) {
    const site = join(root, "site", "finecode_extension_runner");
    mkdirSync(site, { recursive: true });
    writeFileSync(join(site, "__init__.py"), "");
    writeFileSync(join(site, "cli.py"), program);
    for (const env of ["a", "b"]) {
        const bin = join(root, "p", ".venvs", env, "bin");
        mkdirSync(bin, { recursive: true });
        writeFileSync(join(bin, "python"), `#!/bin/sh\nPYTHONDONTWRITEBYTECODE=1 PYTHONPATH=${join(root, "site")} exec ${python} "$@"\n`, { mode: 0o755 });
    }
}

describe("--runner venv", { concurrency: 3 }, () => {
    const noise = (lines) => `for line in ${JSON.stringify(lines)}: print(line, flush=True)\n`;
    const LOG = ["starting", '{"level": "info"}', "Content-Type of what? Content-Length: 5", "[1]"];
    const played = (program) => `import runpy, sys\nsys.path.insert(0, ${JSON.stringify(here)})\nrunpy.run_path(${JSON.stringify(join(here, program))}, run_name="__main__")\n`;
    // Lines of any form may come from a program that has a port, at any time.
    const later = `import threading, time
def say():
    for number in range(2000):
        print('{"jsonrpc": "2.0", "id": 1, "method": "shutdown"}\\nContent-Length: 100\\n\\n{"jsonrpc": "2.0", "id": %d, "result": {}}' % number, flush=True)
threading.Thread(target=say, daemon=True).start()
time.sleep(0.1)
`;
    const cases = {
        "a runner of the document, which reads its input": ["seed", played("seed_runner.py"), {}],
        "one that takes its time": ["seed", played("seed_runner.py"), { SEED_DELAY: "1.5" }],
        "the program, which reports a port": ["real", noise(LOG) + later + played("er.py"), {}],
    };
    for (const [name, [revision, program, env]] of Object.entries(cases))
        test(name, async (t) => {
            const source = revision === "seed" ? LINT : "demo_ext.acts.ConcAction";
            const does = (one, other) => (revision === "seed" ? one : `demo_ext.acts.${other}`);
            const root = place(t, [], "");
            project(join(root, "p"), [["lint", source]], "");
            const handler = (handler, source, env) => `[[finecode.action.lint.handlers]]\nname = "${handler}"\nsource = "${source}"\nenv = "${env}"\n`;
            writeFileSync(join(root, "p", "finecode.toml"), `[finecode.action.lint]\nsource = "${source}"\n` +
                handler("h1", does("myext.say", "C1"), "a") + handler("h2", does("myext.say", "C2"), "b"));
            venv(root, program);
            const [journal, trace] = [join(root, "journal"), join(root, "trace.jsonl")];
            const ended = await run(["finecode", "run", "-w", root, "--project", "p", "--json", "--record", trace, "lint"],
                { env: { ...process.env, SEED_JOURNAL: journal, ER_JOURNAL: journal, ...env } });
            assert.equal(ended.code, 0, ended.err + ended.out);
            const { items } = results(ended).find(({ event }) => event === "project").result.json;
            assert.deepEqual(items, revision === "seed" ? ["h1@a after 0", "h2@b after 0"] : ["c1", "c2"]);
            const greeted = readFileSync(journal, "utf8").split("\n").filter((line) => line.includes('"initialize"'));
            assert.equal(greeted.length, 2, `${greeted}`);
            const sent = readFileSync(trace, "utf8").split("\n").filter((line) => line.includes('"method":"initialize"') || line.includes('\\"method\\":\\"initialize\\"'));
            assert.equal(sent.length, 2, `${sent}`);
            await clean(revision === "seed" ? "finecode" : "finecode@real", trace);
        });

    test("one that neither responds nor reports a port", async (t) => {
        const root = place(t, ACTIONS.one, "");
        venv(root, 'import sys\nprint("no idea", flush=True)\nsys.exit(3)\n');
        const ended = await run(["finecode", "run", "-w", root, "--project", "p", "lint"]);
        assert.equal(ended.code, 3, ended.err);
        assert.match(ended.err, /exited with code 3 before it responded or reported a port.*no idea/s);
    });
});

// Members and methods of the two peers. What the document leaves to LSP, JSON-RPC and the two peers themselves:
const OTHERS = ["jsonrpc", "id", "method", "params", "result", "error", "code", "message", "name", "uri", "version", "languageId", "text",
    "textDocument", "contentChanges", "range", "start", "end", "line", "character", "newText", "edit", "changes", "applied",
    "items", "bad", "type", "array", "properties", "required", "answer", "source", "mark", "project", "projectDefPath", "env",
    "stage", "documents", "raw", "tool", "nowhere", "catalog"];
const KEYS = `
import ast, sys
for node in ast.walk(ast.parse(open(sys.argv[1], encoding="utf-8").read())):
    for key in node.keys if isinstance(node, ast.Dict) else [node.slice] if isinstance(node, ast.Subscript) else []:
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            print(key.value)
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.count("/") == 1 and node.value.replace("/", "").isalpha():
        print(node.value)
`;

test("the two peers have no word that the document does not have", { skip: !existsSync(seed) && "the document is not beside the source" }, () => {
    const document = readFileSync(seed, "utf8");
    const used = ["seed_runner.py", "seed_manager.py"].flatMap((name) => execFileSync(python, ["-c", KEYS, join(here, name)], { encoding: "utf8" }).trim().split("\n"));
    assert.ok(used.length > 100, `${used}`);
    const known = (word) => OTHERS.includes(word) || new RegExp(`(?<![A-Za-z])${word}(?![A-Za-z])`).test(document);
    assert.deepEqual([...new Set(used)].filter((word) => !known(word) && !word.startsWith("myext.")), []);
});
