// duplex finecode with a runner that knows nothing of it, and runners of ours with a manager that knows nothing of them: both
// in Python, each written from the document of the protocol and from what is known of the real program alone. One script is
// played by every pair of managers and runners, by pipes and by TCP, and gives the same results.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { clean, folder, run } from "./duplex.mjs";
import { Client } from "./finecode/client.mjs";

const here = join(dirname(fileURLToPath(import.meta.url)), "finecode");
const python = existsSync("/usr/bin/python3") ? "/usr/bin/python3" : "python3";
const build = process.env.BUILD;
const ACTS = "demo_ext.acts.";
const both = (what) => Promise.all([true, false].map(what));

const runners = {
    python: (tcp) => [python, join(here, "er.py"), ...(tcp ? [] : ["--stdio"])],
    duplex: (tcp) => [join(build, "tests", "finecode_demo"), ...(tcp ? [] : ["--stdio"])],
};

// [name, source, [handler, source, env]...]
const ACTIONS = [
    ["echo", "demo_ext.EchoAction", ["h1", "H1", "a"], ["h2", "H2", "a"]],
    ["chain", `${ACTS}OtherAction`, ["c1", "C1", "a"], ["c2", "C2", "b"], ["c3", "C1", "a"]],
    ["conc", `${ACTS}ConcAction`, ["c1", "C1", "a"], ["c2", "C2", "b"], ["c3", "C1", "a"]],
    ["stop", `${ACTS}StopAction`, ["s", "stop", "a"], ["c", "C1", "b"]],
    ["fail", `${ACTS}FailAction`, ["f", "fail", "a"]],
    ["canc", `${ACTS}CancAction`, ["c", "canc", "a"]],
    ["bad", `${ACTS}BadAction`, ["b", "bad", "a"]],
    ["lang", `${ACTS}LangAction`, ["l", "plain_fn", "b"]],
    ["gen", `${ACTS}GenAction`, ["g", "gen", "a"]],
    ["slow", `${ACTS}SlowAction`, ["s", "slow", "a"]],
    ["read", `${ACTS}ReadAction`, ["r", "read", "a"]],
    ["nest", `${ACTS}NestAction`, ["n", "nest", "a"]],
].map(([name, source, ...handlers]) => ({
    name, source, config: {},
    handlers: handlers.map(([handler, from, env]) => ({ name: handler, source: ACTS + from, env, config: {}, dependencies: [] })),
}));

const change = (start, end, text) => ({ range: { start: { line: 0, character: start }, end: { line: 0, character: end } }, text });

// What is played. Payloads are for one env: by the document, they do not go with runHandlers.
const script = (project) => [
    { run: "echo", payload: { text: "Å中😀" }, formats: ["json", "string"] },
    { run: "chain", payload: { text: "t" }, formats: ["json", "string"] },
    { run: "conc", payload: { text: "t" }, formats: ["json"] }, // by the document, its text is the manager's own
    { run: "stop", payload: { text: "t" }, formats: ["json"] },
    { run: "fail", payload: { text: "t" } },
    { run: "canc", payload: { text: "t" } },
    { run: "bad", payload: { text: "t" } },
    { run: "echo", payload: { n: "no text" } },
    { run: "gen", payload: { text: "t", n: 3, ms: 350 }, stream: true },
    { run: "slow", payload: { text: "t", n: 20 }, cancel_after: 0.3 },
    { open: `${project}/a b.txt`, text: "a😀b" },
    { run: "read", payload: { text: `${project}/a b.txt` } },
    { change: `${project}/a b.txt`, changes: [change(3, 4, "c")], text: "a😀c" },
    { run: "read", payload: { text: `${project}/a b.txt` } },
    { close: `${project}/a b.txt` },
    { run: "read", payload: { text: `${project}/a b.txt` } },
    { run: "nest", payload: { source: `${ACTS}LangAction`, payload: { text: "deep" } } },
    { run: "nest", payload: { source: "demo_ext.EchoAction", payload: { text: "an alias" } } },
];

// A workspace with one project; where it is, and its project.
function place(t, tcp, runner) {
    const root = realpathSync(folder(t));
    const project = join(root, "p");
    mkdirSync(project);
    writeFileSync(join(project, "a b.txt"), "disk");
    let toml = `[finecode.er]\nrunner = ${JSON.stringify(runner)}\ntransport = "${tcp ? "tcp" : "stdio"}"\n`;
    for (const { name, source, handlers } of ACTIONS) {
        toml += `[finecode.action.${name}]\nsource = "${source}"\n`;
        for (const each of handlers)
            toml += `[[finecode.action.${name}.handlers]]\nname = "${each.name}"\nsource = "${each.source}"\nenv = "${each.env}"\n`;
    }
    writeFileSync(join(project, "finecode.toml"), toml);
    return { root, project };
}

const result = (code, byFormat) => ({ code, json: byFormat?.json, string: byFormat?.string });

// wm.py with these runners.
async function playedByPython(t, tcp, runner, steps = script) {
    const { root, project } = place(t, tcp, runner);
    writeFileSync(join(root, "workspace.json"), JSON.stringify({ projects: { [project]: ACTIONS } }));
    writeFileSync(join(root, "script.json"), JSON.stringify(steps(project)));
    const words = [join(here, "wm.py"), ...(tcp ? ["--tcp"] : []), join(root, "workspace.json"), join(root, "script.json"), "--", ...runner];
    const text = await new Promise((resolve, reject) => {
        const child = spawn(python, words);
        let out = "";
        let err = "";
        child.stdout.on("data", (bytes) => (out += bytes));
        child.stderr.on("data", (bytes) => (err += bytes));
        child.on("error", reject);
        child.on("close", (code) => (code === 0 ? resolve(out) : reject(new Error(`${code}: ${err}`))));
    });
    const lines = text.trim().split("\n").map((line) => JSON.parse(line));
    return lines.filter((line) => line).map((line) => ("error" in line ? { error: line.error } : result(line.code, line.by_format)));
}

async function one(client, project, step) {
    const path = step.open ?? step.change ?? step.close;
    const uri = path && `file://${path.replaceAll(" ", "%20")}`;
    if (step.open) return client.send({ method: "documents/opened", params: { uri, version: 1, text: step.text } });
    if (step.change) return client.send({ method: "documents/changed", params: { uri, version: 2, contentChanges: step.changes } });
    if (step.close) return client.send({ method: "documents/closed", params: { uri } });
    const { source } = ACTIONS.find(({ name }) => name === step.run);
    const options = { resultFormats: step.formats ?? ["json"], trigger: "user", devEnv: "cli" };
    const token = step.stream ? { partialResultToken: "part" } : {};
    client.parts.set("part", []);
    const answer = await client.ask("actions/run", { actionSource: source, project, params: step.payload, options, ...token }, (id) => {
        if (step.cancel_after) setTimeout(() => client.send({ method: "$/cancelRequest", params: { id } }), 1000 * step.cancel_after);
    });
    if (answer.error) return { error: answer.error.code === -32800 ? -32800 : 1 };
    if (!step.stream) return result(answer.result.returnCode, answer.result.resultByFormat);
    const items = client.parts.get("part").flatMap(({ json }) => json.items);
    return result(answer.result.returnCode, { json: { items, by_path: {}, bad: false } });
}

// duplex finecode serve with these runners.
async function playedByDuplex(t, tcp, runner, env = {}) {
    const { root, project } = place(t, tcp, runner);
    const portFile = join(root, "port");
    const child = spawn(join(build, "duplex-finecode"), ["serve", "--port-file", portFile], { env: { ...process.env, ...env } });
    let text = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (bytes) => (text += bytes));
    const ended = new Promise((resolve) => child.on("close", resolve));
    t.after(() => child.kill("SIGKILL"));
    for (let i = 0; i < 500 && !(existsSync(portFile) && readFileSync(portFile, "ascii").trim()); i++)
        await new Promise((resolve) => setTimeout(resolve, 20));
    const client = new Client(Number(readFileSync(portFile, "ascii")));
    await client.ask("client/initialize", { clientId: "test" });
    await client.ask("workspace/addDir", { dirPath: root, startRunners: false });
    const results = [];
    for (const step of script(project)) {
        const done = await one(client, project, step);
        if (done) results.push(done);
    }
    await client.ask("server/shutdown", {});
    client.socket.destroy();
    assert.equal(await ended, 0, text);
    return results;
}

// The order and the members of by_path do not matter, and only real runners give streamed results twice.
const plain = (results) => JSON.parse(JSON.stringify(results));

describe("every manager with every runner", { concurrency: 2 }, () => {
    test("the same script gives the same results, by pipes and by TCP", async (t) => {
        await both(async (tcp) => {
            const wanted = plain(await playedByPython(t, tcp, runners.python(tcp)));
            assert.equal(wanted.length, 15);
            assert.deepEqual(wanted[2].json.items, ["c1", "c1", "c2"], "the script itself");
            const others = await Promise.all([
                playedByPython(t, tcp, runners.duplex(tcp)),
                playedByDuplex(t, tcp, runners.python(tcp)),
                playedByDuplex(t, tcp, runners.duplex(tcp)),
            ]);
            for (const [number, name] of ["our runner", "our manager", "both of ours"].entries())
                assert.deepEqual(plain(others[number]), wanted, `${name}, by ${tcp ? "TCP" : "pipes"}`);
        });
    });
});

describe("duplex finecode and a runner in Python", { concurrency: 2 }, () => {
    test("the order of the start is the document's, and every message fits the protocol", async (t) => {
        await both(async (tcp) => {
            const { root } = place(t, tcp, runners.python(tcp));
            const journal = join(root, "journal");
            const trace = join(root, "trace.jsonl");
            const ended = await run(["finecode", "run", "-w", root, "--record", trace, "--json", "chain", "text=t"],
                { env: { ...process.env, ER_JOURNAL: journal } });
            assert.equal(ended.code, 0, ended.err + ended.out);
            const lines = readFileSync(journal, "utf8").trim().split("\n").map((line) => JSON.parse(line));
            for (const env of ["a", "b"]) {
                const order = lines.filter((line) => line.env === env).map(({ message }) => message.method);
                const start = ["initialize", "initialized", "finecodeRunner/updateConfig", "finecodeRunner/resolveActionMeta"];
                assert.deepEqual(order.filter((method) => start.includes(method)), start);
                assert.equal(order[0], "initialize");
                assert.deepEqual(order.slice(-2), ["shutdown", "exit"]);
            }
            const calls = lines.filter(({ message }) => message.method === "actions/runHandlers");
            assert.deepEqual(calls.map(({ env, message }) => [env, message.params.handlerNames]),
                [["a", ["c1"]], ["b", ["c2"]], ["a", ["c3"]]]);
            assert.equal(new Set(calls.map(({ message }) => message.params.options.walRunId)).size, 1);
            await clean(tcp ? "finecode@real" : "finecode", trace);
        });
    });

    test("a runner that dies in a run is started again by the next", async (t) => {
        await both(async (tcp) => {
            const steps = (project) => [
                { run: "echo", payload: { text: "one" } },
                { kill: "a", project },
                { run: "echo", payload: { text: "two" } },
                { restart: "a", project },
                { run: "echo", payload: { text: "three" } },
            ];
            const [first, second, third] = await playedByPython(t, tcp, runners.duplex(tcp), steps);
            assert.deepEqual([first, second, third].map(({ json }) => json.items[0]),
                ["h1:one:prev=None:seen=1", "h1:two:prev=None:seen=1", "h1:three:prev=None:seen=1"]);
        });
    });
});
