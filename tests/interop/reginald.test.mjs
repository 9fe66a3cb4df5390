// duplex reginald with a plugin that knows nothing of it, and our plugins with a host that knows nothing of them: both
// in Python, each written from the document of the protocol and from what is known of the real program alone.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { clean, examples, folder, run } from "./duplex.mjs";

const here = join(dirname(fileURLToPath(import.meta.url)), "reginald");
const python = existsSync("/usr/bin/python3") ? "/usr/bin/python3" : "python3";
// A frame a write, a byte a write, several frames a write.
const each = (what) => Promise.all(["whole", "bytes", "together"].map(what));

// A folder with plugins under these names, and what the host is started with.
function place(t, ...names) {
    const path = folder(t);
    const plugins = join(path, "plugins");
    mkdirSync(plugins);
    for (const name of names) symlinkSync(join(here, "plugin.py"), join(plugins, `reginald-${name}`));
    const journal = join(path, "journal");
    const env = { ...process.env, PLUGIN_JOURNAL: journal };
    for (const name of Object.keys(env)) if (name.startsWith("REGINALD_")) delete env[name];
    const host = (words, more = {}) =>
        run(["reginald", "--plugin-dir", plugins, "--log-format", "json", ...words], { env: { ...env, ...more } });
    return { path, plugins, journal, host };
}

// The frames that a plugin was sent.
function frames(journal) {
    const all = [];
    for (let bytes = readFileSync(journal); bytes.length; ) {
        const end = bytes.indexOf("\n");
        const size = Number(bytes.subarray(0, end));
        all.push(bytes.subarray(end + 1, end + 1 + size).toString());
        bytes = bytes.subarray(end + 1 + size);
    }
    return all;
}

const messages = (journal) => frames(journal).map((frame) => JSON.parse(frame.slice(frame.indexOf("\r\n\r\n") + 4)));

const logs = ({ err }, kind) =>
    err
        .split("\n")
        .filter((line) => line.startsWith("{"))
        .map((line) => JSON.parse(line))
        .filter((line) => line.kind === kind);

function good(ended) {
    assert.equal(ended.code, 0, ended.err + ended.out);
    return ended;
}

const framed = (text) => `Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`;

// What the real host sends for `sleep -t 1`; the two at the end have params null there, and here where it is followed.
const LIVE = [
    '{"jsonrpc":"2.0","id":1,"method":"handshake","params":{"protocol":"rpp","protocolVersion":0}}',
    '{"jsonrpc":"2.0","id":2,"method":"initialize","params":{"logging":{"enabled":true,"level":"TRACE"}}}',
    '{"jsonrpc":"2.0","id":3,"method":"setupCommand","params":{"name":"sleep","args":null,"config":[{"key":"time","value":1,"type":"int"}]}}',
    '{"jsonrpc":"2.0","id":4,"method":"runCommand","params":{"name":"sleep"}}',
];
const END = (null_) => [
    `{"jsonrpc":"2.0","id":5,"method":"shutdown"${null_}}`,
    `{"jsonrpc":"2.0","method":"exit"${null_}}`,
];

describe("duplex reginald and a plugin in Python", { concurrency: 4 }, () => {
    test("the bytes of the real host, whatever pieces the plugin writes", async (t) => {
        await each(async (writes) => {
            for (const revision of [[], ["--revision", "gen-a"], ["--revision", "exact"]]) {
                const { path, journal, host } = place(t, "example");
                const trace = join(path, "trace.jsonl");
                const words = ["--log-level", "trace", "--record", trace, ...revision, "sleep", "-t", "1"];
                good(await host(words, { PLUGIN_WRITES: writes }));
                const end = END(revision.length ? ',"params":null' : "");
                assert.deepEqual(frames(journal), [...LIVE, ...end].map(framed));
                await clean(revision.length ? `reginald@${revision[1]}` : "reginald", trace);
            }
        });
    });

    test("settings: flags, then the environment, then the file, then the default", async (t) => {
        const { path, journal, host } = place(t, "tour");
        const file = join(path, "config.toml");
        writeFileSync(file, '[plugins.tour]\nowner = "Å中😀"\n[commands.show]\nword = "file"\ncount = 2\nnamed = "file"\n');
        const env = { REGINALD_SHOW_COUNT: "3", REGINALD_NAMED_BY_ITSELF: "by env", REGINALD_SHOW_HIDDEN: "no" };
        const ended = good(await host(["-c", file, "show", "one", "-w", "flag <&>", "--loud", "two"], env));
        const [line] = logs(ended);
        assert.equal(line.level, "INFO");
        assert.equal(line.msg, "settings");
        assert.deepEqual(line.fields, {
            owner: "Å中😀", words: ["one", "two"], word: "flag <&>", count: 3, loud: true, named: "by env", hidden: "by flag alone",
        });
        assert.deepEqual(messages(journal).map(({ method }) => method),
            ["handshake", "initialize", "setupCommand", "runCommand", "shutdown", "exit"]);
    });

    test("log messages of every level, with their fields", async (t) => {
        await each(async (writes) => {
            const { host } = place(t, "tour");
            const ended = good(await host(["--log-level", "trace", "levels"], { PLUGIN_WRITES: writes }));
            assert.deepEqual(logs(ended).map(({ level }) => level), ["TRACE", "DEBUG", "INFO", "INFO+2", "WARN", "ERROR"]);
            for (const { msg, fields } of logs(ended)) {
                assert.match(msg, /^at .*: Å中😀 <&>$/);
                assert.deepEqual(fields, { number: 2, list: [1, "b"], object: { a: null } });
            }
            const some = good(await host(["--log-level", "info+1", "levels"], { PLUGIN_WRITES: writes }));
            assert.deepEqual(logs(some).map(({ level }) => level), ["INFO+2", "WARN", "ERROR"]);
        });
    });

    test("a plugin asks for its settings, and for something else", async (t) => {
        const { path, host } = place(t, "tour");
        const file = join(path, "config.toml");
        writeFileSync(file, '[plugins.tour]\nowner = "Å"\n');
        for (const revision of [[], ["--revision", "seed"]]) {
            const [config, other] = logs(good(await host(["-c", file, ...revision, "asks"])));
            assert.ok(JSON.stringify(config.fields.answer.result).includes("Å"), JSON.stringify(config));
            assert.equal(other.fields.answer.error.code, -32601);
        }
    });

    test("failures: of a command, of a plugin, and a long line", async (t) => {
        const { host } = place(t, "tour", "example");
        const [fails, dies, prints] = await Promise.all(["fails", "dies", "prints"].map((name) => host([name])));
        assert.equal(fails.code, 1, fails.err);
        assert.match(fails.err, /this & that went <wrong>: Å/);
        assert.equal(dies.code, 4, dies.err);
        good(prints);
        const text = logs(prints, "stderr").map(({ msg }) => msg).join("");
        assert.ok(text.startsWith("a line") && text.endsWith("the last line, without an end"), text.slice(-100));
        assert.ok(text.length > 60000, `${text.length} bytes are told`);
    });

    test("tasks run at once, and one that fails does not stop the others", async (t) => {
        const task = (type, msg, more = "") =>
            `[[tasks]]\ntype = "${type}"\n${more}config = {msg = "${msg}"${type === "note" ? ", ms = 1000" : ""}}\n`;
        await each(async (writes) => {
            const { path, host } = place(t, "tour", "example");
            const file = join(path, "config.toml");
            writeFileSync(file, [task("note", "å"), task("note", "b"), task("echo", "c <&>"), task("note", "d", 'dir = "/usr"\n')].join(""));
            const ended = good(await host(["-c", file, "attend"], { PLUGIN_WRITES: writes }));
            const notes = logs(ended).filter(({ msg }) => msg.startsWith("note")).map(({ fields }) => fields);
            const together = Math.max(...notes.map(({ begin }) => begin)) < Math.min(...notes.map(({ end }) => end));
            assert.ok(together, `they ran one after the other: ${JSON.stringify(notes)}`);
            const said = logs(ended).map(({ msg }) => msg).sort();
            assert.deepEqual(said, ["echo: c <&>", "note: b", "note: d", "note: å"]);
            assert.equal(logs(ended).find(({ msg }) => msg === "note: d").fields.dir, "/usr");
            writeFileSync(file, task("note", "fail") + task("note", "fine"));
            const failed = await host(["-c", file, "attend"], { PLUGIN_WRITES: writes });
            assert.equal(failed.code, 1, failed.err);
            assert.match(failed.out + failed.err, /told to fail/);
            assert.deepEqual(logs(failed).map(({ msg }) => msg), ["note: fine"]);
        });
    });

    test("settings of a task that do not fit are told before anything runs", async (t) => {
        const { path, journal, host } = place(t, "tour");
        const file = join(path, "config.toml");
        const task = (config) => `[[tasks]]\ntype = "picky"\nconfig = {${config}}\n`;
        writeFileSync(file, task('like = "this"') + task('like = "that"'));
        const ended = await host(["-c", file, "attend"]);
        assert.equal(ended.code, 7, ended.err);
        assert.match(ended.out + ended.err, /picky wants like = "this" & <nothing> else/);
        assert.ok(!messages(journal).some(({ method }) => method === "runTask"));
        writeFileSync(file, task('like = "this"'));
        good(await host(["-c", file, "attend"]));
    });
});

// Peers that know nothing but the document: it has a grammar and JSON-RPC 2.0, and leaves the methods open, so that what
// they mean is given to them.
describe("peers written from the document alone", { concurrency: 4 }, () => {
    const METHODS = {
        handshake: {
            protocol: "rpp", protocolVersion: 0, name: "seed", version: "1", commands: [{ name: "greet", usage: "greets" }],
        },
        initialize: {}, setupCommand: {}, runCommand: "hällo", shutdown: null, $end: "exit",
        $asks: "runCommand", $ask: "no/such", $tell: { method: "log", params: { level: "info", msg: "in the middle" } },
    };

    for (const revision of [[], ["--revision", "seed"]])
        test(`a plugin under duplex reginald ${revision.join(" ")}`, async (t) => {
            const { path, plugins, host } = place(t);
            symlinkSync(join(here, "seed_plugin.py"), join(plugins, "reginald-seed"));
            const methods = join(path, "methods.json");
            writeFileSync(methods, JSON.stringify(METHODS));
            const more = { SEED_METHODS: methods };
            const ended = good(await host([...revision, "greet"], more));
            assert.equal(ended.out, "hällo\n");
            assert.deepEqual(logs(ended).map(({ msg }) => msg), ["in the middle"]);
            assert.deepEqual(logs(ended, "violation"), []);
            assert.match(logs(ended, "stderr")[0].msg, /the client responded: .*-32601/);
            writeFileSync(methods, JSON.stringify({ ...METHODS, runCommand: { $error: -32000 } }));
            assert.equal((await host([...revision, "greet"], more)).code, 1);
            writeFileSync(methods, JSON.stringify({ ...METHODS, handshake: { $error: -32601 } }));
            const refused = await host([...revision, "greet"], more);
            assert.equal(refused.code, 3);
            assert.match(refused.err, /answered handshake with an error/);
        });

    for (const program of ["reginald-sleep", "reginald-symlink"])
        test(`a host with ${program}`, async () => {
            const params = JSON.stringify({ protocol: "rpp", protocolVersion: 0 });
            const words = [join(here, "seed_host.py"), join(examples, program), params, "exit"];
            const child = spawn(python, words, { stdio: ["ignore", "pipe", "pipe"] });
            let text = "";
            for (const stream of [child.stdout, child.stderr]) stream.on("data", (bytes) => (text += bytes));
            const code = await new Promise((resolve) => child.on("close", resolve));
            assert.equal(code, 0, text);
            assert.match(text, /^ok$/m);
        });
});

// host.py SCENARIO WRITES PROGRAM, with everything that it may write.
const played = (scenario, program) =>
    each(
        (writes) =>
            new Promise((resolve, reject) => {
                const child = spawn(python, [join(here, "host.py"), scenario, writes, join(examples, program)]);
                let text = "";
                for (const stream of [child.stdout, child.stderr]) stream.on("data", (bytes) => (text += bytes));
                child.on("error", reject);
                child.on("close", (code) => (code === 0 ? resolve() : reject(new Error(`${writes}: ${text}`))));
            }),
    );

describe("our plugins and a host in Python", { concurrency: 4 }, () => {
    test("reginald-sleep: the bytes of the real plugin", () => played("golden", "reginald-sleep"));
    test("reginald-sleep: two at once, and what is refused", () => played("sleep", "reginald-sleep"));
    test("reginald-sleep: many requests at once", () => played("several", "reginald-sleep"));
    test("reginald-symlink: links, a dry run, and what is refused", () => played("symlink", "reginald-symlink"));
});
