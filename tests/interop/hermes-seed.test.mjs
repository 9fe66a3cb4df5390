// A host and an extension that know nothing but the protocol document, seed 000, and JSON-RPC 2.0, to which it refers.
// The document leaves open what most methods take and return: that is given to them here.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { examples, folder, results } from "./duplex.mjs";
import { host, names, runs, using } from "./hermes/peers.mjs";

const here = join(dirname(fileURLToPath(import.meta.url)), "hermes");
const seed = join(here, "../../../../shared/seeds/000_07a91d0ba5365492.txt");
const [python] = names;
const WAYS = ["--whole", "--together", "--bytes", "--pieces"];

const MESSAGE = "MSH|^~\\&|LAB|Ærø||||ORU^R01\rPID|1||7||Åse 😀^Ny\rOBX|1|ST|rødgrød||med fløde\rNTE|1||中\\.br\\😀\r";
const [OLD, NEW] = ["rødgrød", "BLÅBÆR 中😀"];
const GIVEN = {
    initialize: {
        name: "Seed",
        version: "1",
        capabilities: { commands: ["seed/work"], events: [{ name: "message/changed" }, { name: "message/saved" }] },
    },
    shutdown: { success: true },
    "editor/setMessage": { message: "$", format: "json" },
    "editor/patchMessage": { patches: [{ path: "PID.5.1", value: "Ødegård" }] },
    "ui/openWindow": { url: "https://example.org/å", title: "Å中😀" },
};
const EDITED = MESSAGE.replace(OLD, NEW).replace("Åse 😀", "Ødegård");

// duplex hermes host with the extension: what ended, and what that logged.
async function played(t, way, options, { malformed = false, input } = {}) {
    const place = folder(t);
    const [given, file, out] = ["given.json", "å.hl7", "out.hl7"].map((name) => join(place, name));
    writeFileSync(given, JSON.stringify(GIVEN));
    writeFileSync(file, MESSAGE);
    const command = [python, join(here, "seed_extension.py"), way, OLD, NEW, ...(malformed ? ["--malformed"] : [])];
    const ended = await host([...using(command), "--data", place, "--json", ...options, "--write", out, file], {
        env: { ...process.env, SEED_GIVEN: given },
        input,
    });
    const logged = results(ended).filter(({ event }) => event === "log").map(({ text }) => text.replace(/^seed: /, ""));
    return { ...ended, logged, written: existsSync(out) ? readFileSync(out, "utf8") : null };
}

describe("an extension written from the document alone, under duplex hermes host", { concurrency: 4 }, () => {
    for (const way of WAYS)
        for (const shape of [[], ["--shape", "keys"]])
            test(`it writes ${way} ${shape.join(" ")}`, async (t) => {
                const ended = await played(t, way, [...shape, ...runs("seed/work"), "--settle", "2s"]);
                assert.equal(ended.code, 0, ended.err);
                assert.equal(ended.written, EDITED);
                assert.equal(ended.logged[0], "initialize");
                assert.equal(ended.logged.includes("the form of the sample"), shape.length > 0);
                for (const line of ["all done", "message/changed", "message/saved"])
                    assert.ok(ended.logged.includes(line), `${line} is not in ${ended.logged}`);
                assert.deepEqual(ended.logged.slice(-2), ["shutdown", "the end"]);
                assert.match(ended.logged.find((line) => line.startsWith("ui/openWindow")), /windowId/);
                // The method that it makes up, and the notification.
                const violations = results(ended).filter(({ event }) => event === "violation");
                assert.deepEqual(violations.map(({ text }) => text), [
                    "no such notification: unknown notification", "no such method: unknown method",
                ]);
            });

    test("a window that is closed is a notification, at any time", async (t) => {
        const ended = await played(t, "--pieces", [], { input: "run seed/work\nwait\nclose 1\nwait\n" });
        assert.equal(ended.code, 0, ended.err);
        assert.ok(ended.logged.includes("window/closed"), `${ended.logged}`);
        assert.equal(ended.written, EDITED);
    });

    test("what it malforms is answered with -32700 or -32600, and it goes on", async (t) => {
        const ended = await played(t, "--pieces", [...runs("seed/work"), "--settle", "2s"], { malformed: true });
        assert.ok(ended.logged.includes("all done"), ended.err);
        assert.deepEqual([ended.code, ended.written], [6, null], ended.err);
    });

    test("exact: the input ends without shutdown, and that is the end", async (t) => {
        const ended = await played(t, "--together", ["--revision", "exact", ...runs("seed/work"), "--settle", "2s"]);
        assert.equal(ended.code, 0, ended.err);
        assert.ok(ended.logged.includes("all done") && !ended.logged.includes("shutdown"), `${ended.logged}`);
        assert.equal(ended.logged.at(-1), "the end");
    });
});

describe("a host written from the document alone, with our extensions", { concurrency: 4 }, () => {
    const CLOSED = { windowId: "å", reason: "user" };
    const common = { "window/closed": CLOSED, "editor/getMessage": { message: "MSH|^~\\&|A\rPID|1||7||DOE^ÅSE 😀" } };
    const PROGRAMS = {
        normalise: {
            "command/execute": { command: "names/normalise" },
            "editor/patchMessage": { success: true, patchesApplied: 2 },
            $asks: ["editor/getMessage", "editor/patchMessage"],
            $then: [],
        },
        window: {
            "command/execute": { command: "window/open" },
            "editor/setMessage": { success: true },
            "ui/openWindow": { windowId: CLOSED.windowId },
            $asks: ["editor/getMessage", "ui/openWindow", "editor/setMessage"],
            $then: ["editor/getMessage", "editor/setMessage"],
        },
    };
    const WANTED = {
        normalise: ["editor/patchMessage", /"path": ?"PID.5.2", ?"value": ?"Åse 😀"/],
        window: ["editor/setMessage", /DOE\^ÅSE 😀\\rNTE\|\|\|closed: user"/],
    };
    for (const [name, given] of Object.entries(PROGRAMS))
        for (const way of WAYS)
            for (const end of [[], ["--cut"]])
                test(`hermes-${name}, ${way} ${end.length ? "until its input ends" : "until shutdown"}`, async () => {
                    const words = [way, join(examples, `hermes-${name}`), JSON.stringify({ ...common, ...given }), ...end];
                    const child = spawn(python, [join(here, "seed_host.py"), ...words], { stdio: ["ignore", "pipe", "pipe"] });
                    const text = { stdout: "", stderr: "" };
                    for (const stream of Object.keys(text))
                        child[stream].setEncoding("utf8").on("data", (part) => (text[stream] += part));
                    const code = await new Promise((resolve) => child.on("close", resolve));
                    assert.equal(code, 0, text.stdout + text.stderr);
                    const [method, params] = WANTED[name];
                    const requests = text.stdout.trimEnd().split("\n").map((line) => JSON.parse(line));
                    const asked = requests.filter((request) => request.method === method);
                    assert.ok(asked.some((request) => params.test(JSON.stringify(request.params))), text.stdout);
                });
});

// Every member and method that the document has, by the heading under which it is found.
const WORDS = {
    "Message Framing": ["jsonrpc", "id", "method", "initialize", "params"],
    "Request Object": ["editor/getMessage", "format", "json"],
    "Success Response": ["result", "message", "MSH"],
    "Error Response": ["error", "code", "data"],
    "Notification Object": ["initialized", "window/closed"],
    "Hermes-Initiated Requests": ["shutdown", "command/execute"],
    "Extension-Initiated Requests": ["editor/patchMessage", "editor/setMessage", "ui/openWindow"],
};
// What else is a word in these programs: the kinds of messages, and JSON-RPC 2.0's sample of a message that is cut off.
const OTHERS = ["request", "response", "notification", "foobar", "bar", "baz"];

// The strings of a Python program that may be a member or a method, those inside of strings of JSON included.
const STRINGS = `
import ast, re, sys
tree = ast.parse(open(sys.argv[1], encoding="utf-8").read())
docs = {id(node.body[0].value) for node in ast.walk(tree)
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and isinstance(node.body[0], ast.Expr)}
for node in ast.walk(tree):
    if isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes)) and id(node) not in docs:
        text = node.value if isinstance(node.value, str) else node.value.decode("latin-1")
        for word in [text] + re.findall('"([^"]*)"', text):
            if re.fullmatch("[A-Za-z][A-Za-z0-9]*(/[A-Za-z0-9]+)?", word):
                print(word)
`;

test("the two programs have no word that the document does not have", () => {
    const known = new Set([...Object.values(WORDS).flat(), ...OTHERS]);
    const used = ["seed.py", "seed_host.py", "seed_extension.py"].flatMap((name) =>
        execFileSync(python, ["-c", STRINGS, join(here, name)], { encoding: "utf8" }).trim().split("\n"),
    );
    assert.ok(used.length > 50, `${used}`);
    assert.deepEqual(used.filter((word) => !known.has(word)), []);
    // What they are given is not in them.
    for (const word of ["patches", "path", "command", "windowId", "success", "commands"]) assert.ok(!used.includes(word), word);
});

test("the words are in the document", { skip: !existsSync(seed) && "the document is not beside the source" }, () => {
    const lines = readFileSync(seed, "utf8").split("\n");
    const level = (line) => line.match(/^#+(?= [A-Z])/)?.[0].length ?? Infinity;
    for (const [heading, words] of Object.entries(WORDS)) {
        const at = lines.findIndex((line) => line.replace(/^#+ /, "") === heading);
        assert.notEqual(at, -1, heading);
        const end = lines.findIndex((line, index) => index > at && level(line) <= level(lines[at]));
        const text = lines.slice(at, end).join("\n");
        // "word", \"word\" inside of a string, `word`, and as a member of an interface.
        for (const word of words)
            assert.match(text, new RegExp(`["\`]${word}\\\\?["\`]|^ +${word}\\??:`, "m"), `${word} in ${heading}`);
    }
});
