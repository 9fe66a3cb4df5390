// duplex call and duplex notify with peers that we did not write: clangd, bash-language-server, the
// reference server of MCP, and a plugin in plain Python.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { folder, peers, results, run, running, start, until } from "./duplex.mjs";

const { clangd, bash, everything, python } = peers;
const lsp = (words, peer, options) => run(["call", "-p", "lsp", ...words, "--", ...peer], options);
const mcp = (words, options) => run(["call", "-p", "mcp", ...words, "--", ...everything], options);
const jsonrpc = (words, peer, options) => run(["call", ...words, "--", ...peer], options);

// A result is all that there is: one line of JSON for each call, and not a word beside it.
function good(ended, count = 1) {
    assert.equal(ended.code, 0, ended.err);
    assert.equal(ended.err, "");
    const values = results(ended);
    assert.equal(values.length, count, ended.out);
    return count === 1 ? values[0] : values;
}

function bad(ended, code, line) {
    assert.equal(ended.code, code, ended.err);
    assert.equal(ended.out, "");
    assert.match(ended.err.split("\n")[0], line);
}

const unique = (t) => `${t.name.replace(/\W+/g, "-")}-${process.pid}-${Date.now()}`;

for (const [name, peer] of Object.entries({ clangd, "bash-language-server": bash })) {
    test(`${name}: requests with params from words, a file and the standard input`, async (t) => {
        const place = folder(t);
        writeFileSync(join(place, "query.json"), '{\n  "query": "main"\n}\n');
        const [words, file, input, both] = await Promise.all([
            lsp(["workspace/symbol", "query=main"], peer),
            lsp(["workspace/symbol", `@${join(place, "query.json")}`], peer),
            lsp(["workspace/symbol", "-"], peer, { input: '{"query":"main"}' }),
            lsp(["workspace/symbol", "query=a", "--then", "workspace/symbol", '{"query":"b"}'], peer),
        ]);
        assert.deepEqual(good(words), []);
        assert.deepEqual(good(file), []);
        assert.deepEqual(good(input), []);
        assert.deepEqual(good(both, 2), [[], []]);
    });

    test(`${name}: what it refuses, and what is no call`, async () => {
        const [unknown, notification, envelope, opened] = await Promise.all([
            lsp(["no/such"], peer),
            lsp(["initialized"], peer),
            lsp(["--json", "no/such"], peer),
            lsp(["textDocument/didOpen"], peer),
        ]);
        bad(unknown, 1, /^duplex call: no\/such: .*\(-32601\)$/);
        bad(notification, 7, /^duplex call: initialized is a notification: use duplex notify$/);
        const { error } = results(envelope)[0];
        assert.equal(envelope.code, 1);
        assert.equal(envelope.err, "");
        assert.deepEqual([error.exit, error.kind, error.method, error.code], [1, "refused", "no/such", -32601]);
        // The document lists only what the base protocol has, so the server has to say no.
        bad(opened, 1, /^duplex call: textDocument\/didOpen: .*\(-32601\)$/);
    });

    test(`${name}: the wrong framing is found, and auto needs no help`, async () => {
        const [wrong, auto, envelope] = await Promise.all([
            lsp(["-f", "line", "workspace/symbol", "query=x"], peer),
            lsp(["-f", "auto", "workspace/symbol", "query=x"], peer),
            lsp(["-f", "line", "--json", "workspace/symbol", "query=x"], peer),
        ]);
        bad(wrong, 6, /^duplex call: the server does not use line framing .*: pass --framing header$/);
        assert.equal(wrong.err.split("\n").length, 2, wrong.err);
        assert.deepEqual(good(auto), []);
        assert.equal(envelope.code, 6);
        assert.equal(results(envelope)[0].error.kind, "violation");
    });
}

test("bash-language-server: what must be a notification goes through duplex notify", async (t) => {
    const place = folder(t);
    const uri = pathToFileURL(join(place, "a.sh")).href;
    const text = "greet() { echo hi; }\ngreet\n";
    const open = { textDocument: { uri, languageId: "shellscript", version: 1, text } };
    // It sends it and leaves; the trace tells that it went out.
    const trace = join(place, "trace.jsonl");
    const sent = await run(["notify", "-p", "lsp", "-o", trace, "textDocument/didOpen", JSON.stringify(open), "--", ...bash]);
    assert.equal(sent.code, 0, sent.err);
    assert.equal(sent.err + sent.out, "");
    assert.match(readFileSync(trace, "utf8"), /textDocument\/didOpen/);
    const asked = { textDocument: { uri }, position: { line: 1, character: 1 } };
    const hover = await lsp(["textDocument/hover", JSON.stringify(asked)], bash);
    assert.equal(good(hover), null);
});

test("clangd: the params of the handshake can be given", async (t) => {
    const place = folder(t);
    writeFileSync(join(place, "a.c"), "int answer(void) { return 42; }\n");
    const init = { processId: null, rootUri: pathToFileURL(place).href, capabilities: {} };
    const ended = await lsp(["--init", JSON.stringify(init), "--show", "workspace/symbol", "query=answer"], clangd);
    assert.equal(ended.code, 0, ended.err);
    assert.ok(ended.err.includes(`"rootUri":"${init.rootUri}"`), ended.err);
    assert.match(ended.err, /^ +\d+\.\d{6} -> \{.*"method":"initialize"/m);
    assert.match(ended.err, /^ +\d+\.\d{6} <- \{.*"capabilities"/m);
    assert.match(ended.err, /-> \{.*"method":"shutdown"/);
    assert.match(ended.err, /-> \{.*"method":"exit"/);
    assert.deepEqual(results(ended), [[]]);
});

test("server-everything: lists, tools, resources and prompts in one conversation", async () => {
    const [tools, echo, sum, resources, prompt, ping] = good(
        await mcp([
            ...["tools/list", "--then", "tools/call", "name=echo", 'arguments:={"message":"hi ✓"}'],
            ...["--then", "tools/call", "name=get-sum", 'arguments:={"a":2,"b":40}', "--then", "resources/list"],
            ...["--then", "prompts/get", "name=args-prompt", 'arguments:={"city":"Rome"}', "--then", "ping"],
        ]),
        6,
    );
    const names = tools.tools.map((tool) => tool.name);
    for (const name of ["echo", "get-sum", "trigger-long-running-operation"]) assert.ok(names.includes(name), names);
    assert.deepEqual(echo.content, [{ type: "text", text: "Echo: hi ✓" }]);
    assert.match(sum.content[0].text, /42/);
    assert.ok(resources.resources.length > 0);
    assert.match(prompt.messages[0].content.text, /Rome/);
    assert.deepEqual(ping, {});
});

test("server-everything: the handshake of each revision is the document's", async () => {
    for (const [protocol, revision] of [
        ["mcp", "2025-11-25"],
        ["mcp@2025-06-18", "2025-06-18"],
        ["mcp@2025-03-26", "2025-03-26"],
        ["mcp@2024-11-05", "2024-11-05"],
    ]) {
        const ended = await run(["call", "-p", protocol, "-s", "tools/list", "--", ...everything]);
        assert.equal(ended.code, 0, ended.err);
        const lines = ended.err.split("\n").map((line) => line.replace(/^ +\d+\.\d+ /, ""));
        const message = (line) => JSON.parse(line.slice(3));
        assert.equal(message(lines[0]).params.protocolVersion, revision);
        assert.equal(message(lines.find((line) => line.startsWith("<- "))).result.protocolVersion, revision);
        assert.equal(message(lines[2]).method, "notifications/initialized");
        assert.ok(results(ended)[0].tools.length > 5);
    }
});

test("server-everything: errors of tools are results, other errors are errors", async () => {
    const [tool, misused, prompt, resource, method] = await Promise.all([
        mcp(["tools/call", "name=no-such"]),
        mcp(["tools/call", "name=echo", 'arguments:={"wrong":1}']),
        mcp(["prompts/get", "name=no-such"]),
        mcp(["--json", "resources/read", "uri=no://such"]),
        mcp(["--check", "off", "no/such"]),
    ]);
    assert.equal(good(tool).isError, true);
    assert.equal(good(misused).isError, true);
    bad(prompt, 1, /^duplex call: prompts\/get: .*no-such.*\(-32602\)$/);
    assert.equal(results(resource)[0].error.code, -32602);
    bad(method, 1, /^duplex call: no\/such: .*\(-32601\)$/);
    const [strange, misfit, notified] = await Promise.all([
        mcp(["no/such"]),
        mcp(["tools/call", "nome=echo"]),
        mcp(["notifications/initialized"]),
    ]);
    bad(strange, 7, /^duplex call: mcp has no method 'no\/such'$/m);
    bad(misfit, 7, /^duplex call: tools\/call cannot be sent: .*name/);
    bad(notified, 7, /^duplex call: notifications\/initialized is a notification: use duplex notify$/);
});

const operation = (duration, steps) => [
    ...["tools/call", "name=trigger-long-running-operation"],
    `arguments:=${JSON.stringify({ duration, steps })}`,
];

test("server-everything: progress is shown, and keeps a call alive", async () => {
    const ended = await mcp(["--progress", "--reset-on-progress", "-t", "900ms", ...operation(1.6, 4)]);
    assert.equal(ended.code, 0, ended.err);
    assert.match(results(ended)[0].content[0].text, /completed/);
    const lines = ended.err.trim().split("\n");
    assert.equal(lines.length, 4, ended.err);
    lines.forEach((line, i) => {
        const progress = JSON.parse(line.replace(/^tools\/call: /, ""));
        assert.deepEqual([progress.progress, progress.total], [i + 1, 4]);
    });
});

test("server-everything: each timer says that it was it", async () => {
    const [late, total] = await Promise.all([
        mcp(["-t", "300ms", "--stop-timeout", "200ms", ...operation(3, 3)]),
        mcp([
            ...["--progress", "--reset-on-progress", "--total-timeout", "900ms", "--stop-timeout", "200ms"],
            ...operation(3, 10),
        ]),
    ]);
    bad(late, 5, /^duplex call: tools\/call: no response within 300 ms \(--timeout\)$/);
    assert.equal(total.code, 5, total.err);
    assert.match(total.err, /no response within 900 ms in total \(--total-timeout\)/);
});

test("server-everything: the wrong framing is found, and auto needs no help", async () => {
    const [wrong, auto] = await Promise.all([mcp(["-f", "header", "ping"]), mcp(["-f", "auto", "ping"])]);
    bad(wrong, 6, /^duplex call: the server does not use header framing .*: pass --framing line$/);
    assert.equal(wrong.err.split("\n").length, 2, wrong.err);
    assert.deepEqual(good(auto), {});
});

test("server-everything: the whole environment, or with --clean-env only a part of it", async () => {
    const env = { ...process.env, DUPLEX_TEST_SECRET: "hidden" };
    const words = ["tools/call", "name=get-env"];
    const [small, whole, given] = await Promise.all([
        mcp(["--clean-env", ...words], { env }),
        mcp(words, { env }),
        mcp(["-e", "DUPLEX_TEST_GIVEN=yes", ...words], { env }),
    ]);
    assert.ok(!small.out.includes("DUPLEX_TEST_SECRET") && small.out.includes("PATH"));
    assert.match(JSON.parse(good(whole).content[0].text).DUPLEX_TEST_SECRET, /^hidden$/);
    assert.equal(JSON.parse(good(given).content[0].text).DUPLEX_TEST_GIVEN, "yes");
});

test("plugin.py: both framings, told, guessed and wrong", async () => {
    for (const framing of ["header", "line"]) {
        const other = framing === "line" ? "header" : "line";
        const [told, guessed, wrong] = await Promise.all([
            jsonrpc(["-f", framing, "echo", "a=b"], python(framing)),
            jsonrpc(["-p", "jsonrpc", "-f", "auto", "echo", "a=b"], python(framing)),
            jsonrpc(["-f", other, "echo", "a=b"], python(framing)),
        ]);
        assert.deepEqual(good(told), { a: "b" });
        assert.equal(guessed.code, 0, guessed.err);
        assert.deepEqual(results(guessed), [{ a: "b" }]);
        bad(wrong, 6, new RegExp(`^duplex call: the server does not use ${other} framing .*: pass --framing ${framing}$`));
    }
});

test("plugin.py: asks back, tells, refuses", async () => {
    const peer = python("header");
    const words = ["-f", "header", "ask", "--then", "tell", "count:=1000", "--then", "echo", "[null,1.50]"];
    const [asked, told, echoed] = good(await jsonrpc(words, peer), 3);
    assert.deepEqual(asked, { refused: { code: -32601, message: "Method not found" } });
    assert.equal(told, 1000);
    assert.deepEqual(echoed, [null, 1.5]);
    const failed = await jsonrpc(["-f", "header", "fail", '{"why":"so"}'], peer);
    assert.equal(failed.code, 1);
    assert.equal(failed.err, 'duplex call: fail: this always fails (1234)\n  {"why":"so"}\n');
});

test("plugin.py: dies, is late, cannot be started", async () => {
    const [crash, slow, absent] = await Promise.all([
        jsonrpc(["crash"], python("line")),
        jsonrpc(["slow", "seconds:=30", "--timeout", "300ms", "--stop-timeout", "200ms"], python("line")),
        jsonrpc(["echo"], ["/nonexistent/plugin"]),
    ]);
    bad(crash, 4, /^duplex call: crash: the conversation ended before the server responded: .* code 7; .*about to crash$/);
    bad(slow, 5, /^duplex call: slow: no response within 300 ms \(--timeout\)$/);
    bad(absent, 3, /^duplex call: cannot start \/nonexistent\/plugin: No such file or directory$/);
});

test("plugin.py: its standard error, its folder, the trace", async (t) => {
    const place = folder(t);
    const say = ["say", `err=${Buffer.from("one\ntwo\n").toString("base64")}`];
    const errors = join(place, "errors.txt");
    const trace = join(place, "trace.jsonl");
    const [quiet, inherit, file] = await Promise.all([
        jsonrpc(["--stderr", "quiet", ...say], python("line")),
        jsonrpc(["--stderr", "inherit", ...say], python("line")),
        jsonrpc(["--stderr", errors, "--record", trace, ...say, "--then", "where", "--cwd", place], python("line")),
    ]);
    assert.equal(good(quiet), null);
    assert.equal(inherit.err, "one\ntwo\n");
    assert.equal(good(file, 2)[1].cwd, place);
    assert.equal(readFileSync(errors, "utf8"), "one\ntwo\n");
    assert.equal(statSync(trace).mode & 0o777, 0o600);
    const records = readFileSync(trace, "utf8").trim().split("\n").map((line) => JSON.parse(line));
    assert.ok(records.length >= 5, "a line about the trace, and the four messages");
});

for (const kind of ["unix", "tcp"])
    test(`plugin.py over ${kind}`, async (t) => {
        const place = join(folder(t), "place");
        const [command, ...words] = python("line", kind, place);
        const server = spawn(command, words, { stdio: ["ignore", "ignore", "ignore"] });
        t.after(() => server.kill("SIGKILL"));
        await until(() => existsSync(place));
        const address = kind === "unix" ? `unix:${place}` : `tcp:${readFileSync(place, "utf8")}`;
        const connect = (...more) => run(["call", "--connect", address, ...more]);
        assert.deepEqual(good(await connect("echo", "[1]")), [1]);
        bad(await connect("-f", "header", "echo"), 6, /pass --framing line$/);
        assert.deepEqual(good(await connect("--json", "echo", "[2]")), { method: "echo", result: [2] });
        bad(await connect("crash"), 4, /^duplex call: crash: the conversation ended before the server responded: /);
        bad(await connect("echo"), 3, /^duplex call: /);
    });

for (const [name, words, peer] of [
    ["plugin.py", ["slow", "seconds:=60"], (tag) => python("line", tag)],
    ["server-everything", ["-p", "mcp", ...operation(60, 2)], (tag) => [...everything, "stdio", tag]],
])
    test(`${name}: Ctrl-C ends the call and the peer`, async (t) => {
        const tag = unique(t);
        const { child, ended } = start(["call", "--stop-timeout", "300ms", ...words, "--", ...peer(tag)]);
        await until(() => running(tag).length > 1);
        await new Promise((resolve) => setTimeout(resolve, 700));
        child.kill("SIGINT");
        const { code, out, err, ms } = await ended;
        assert.equal(code, 130, err);
        assert.equal(out, "");
        assert.match(err, /^duplex call: interrupted$/m);
        assert.ok(ms < 60000, `${ms} ms`);
        assert.deepEqual(running(tag), []);
    });

test("the protocol is found out by trying", async () => {
    for (const [name, peer, method] of [
        ["lsp", peers.clangd, ["workspace/symbol", "query=none"]],
        ["mcp", peers.everything, ["ping"]],
    ]) {
        const ended = await run(["call", "--protocol", "auto", ...method, "--", ...peer]);
        assert.equal(ended.code, 0, ended.err);
        assert.ok(ended.err.includes(`the server speaks ${name}; pass --protocol ${name} to skip the detection`), ended.err);
    }
});
