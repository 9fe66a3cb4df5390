// The ready-made handlers for eslint, prettier and markdownlint: over several projects of a workspace, they find what the tools
// alone find, and leave the bytes that these leave.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join, relative } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { folder, run } from "./duplex.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const bin = join(here, "node_modules", ".bin");
// As the tools' own scripts want it: node is found by PATH.
const env = { ...process.env, XDG_STATE_HOME: "/dev/null", PATH: dirname(process.execPath) + delimiter + process.env.PATH, FORCE_COLOR: "1" };
const markdown = String.raw`(?<file>.+?):(?<line>\d+)(?::(?<column>\d+))? (?<severity>\w+) (?<code>\S+) (?<message>.*)`;

const project = `[finecode.er]
runner = "duplex"

[finecode.action.lint]
source = "duplex.Lint"
handlers = [
    { name = "eslint", source = "duplex.eslint", env = "js" },
    { name = "prettier", source = "duplex.prettier_check", env = "js" },
    { name = "markdown", source = "duplex.pattern", env = "js", config = { program = "markdownlint", include = ["*.md"], pattern = '${markdown}' } },
]

[finecode.action.format]
source = "duplex.Format"
handlers = [
    { name = "eslint", source = "duplex.eslint_fix", env = "js" },
    { name = "prettier", source = "duplex.prettier", env = "js" },
]
`;

const files = {
    "eslint.config.mjs": `export default [{ ignores: ["skipped/**"] }, { rules: { "no-unused-vars": "error", "no-var": "warn", eqeqeq: "error" } }];\n`,
    ".prettierignore": "ignored.js\n",
    ".prettierrc.json": `{ "tabWidth": 4, "overrides": [{ "files": "*.md", "options": { "proseWrap": "always" } }] }\n`,
    "src/a.js": `const text = "ä🙂";  var unused = 1\nif (text == unused) { console.log( text ) }\n`,
    "src/[id].js": "var  page = 1\r\n\r\nexport { page }\r\n",
    "src/ok.js": "export const ok = 1;\n",
    "src/broken.js": "let  = (\n",
    "src/-dash.js": "var dash=1\n",
    "src/a b.mjs": "export let  ab = 1\n",
    "src/empty.js": "",
    "skipped/x.js": "var x\n",
    "ignored.js": "var  y = 1\nexport { y }\n",
    "data.json": `{"a":1,\n"b":[1,2]}\n`,
    "style.css": "a{color:red}\n",
    "README.md": "#Title\nText *text*\n\n\n\nMore\n",
};

function put(root, names) {
    for (const [name, text] of Object.entries(names)) {
        mkdirSync(dirname(join(root, name)), { recursive: true });
        writeFileSync(join(root, name), text);
    }
}

// What a tool prints for itself.
function alone(program, words, cwd) {
    const { stdout, stderr, status, error } = spawnSync(join(bin, program), words, { cwd, env: { ...env, FORCE_COLOR: "0" }, encoding: "utf8" });
    assert.ok(!error && status <= 2, `${program}: ${error} ${status} ${stderr}`);
    return stdout + stderr;
}

function workspace(t) {
    const root = realpathSync(folder(t));
    put(root, { "finecode-workspace.toml": "[workspace]\n" });
    mkdirSync(join(root, "node_modules"));
    symlinkSync(bin, join(root, "node_modules", ".bin"));
    const places = ["packages/one", "packages/two"].map((name) => join(root, name));
    for (const place of places)
        put(place, { ...files, "finecode.toml": project });
    return { root, places };
}

test("findings are those of the tools alone, with paths that count from the workspace", async (t) => {
    const { root, places } = workspace(t);
    const found = await run(["finecode", "--json", "run", "lint"], { cwd: root, env });
    assert.equal(found.code, 1, found.err);
    const events = found.out.trim().split("\n").map((line) => JSON.parse(line)).filter(({ event }) => event === "project");
    assert.equal(events.length, 2);
    for (const place of places) {
        const { messages } = events.find(({ project: path }) => path === place).result.json;
        const of = (source) => Object.entries(messages).flatMap(([path, list]) => list.filter((one) => one.source === source)
            .map(({ range: { start, end }, code, message, severity }) => [path, start.line, start.character, end.line, end.character, code, message, severity]))
            .sort((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1));
        const ours = JSON.parse(alone("eslint", ["--format=json", "."], place)).flatMap(({ filePath, messages: list }) =>
            list.map((one) => [filePath, one.line - 1, one.column - 1, one.endLine - 1, one.endColumn - 1, one.ruleId, one.message, one.severity === 2 ? 1 : 2]));
        const [broken, others] = [true, false].map((is) => of("eslint").filter(([path]) => path.endsWith("broken.js") === is));
        assert.deepEqual(others, ours.filter(([path]) => !path.endsWith("broken.js")).sort((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1)));
        assert.match(broken[0][6], /^Parsing error/);
        const listed = alone("prettier", ["--list-different", "."], place).split("\n");
        assert.deepEqual(of("prettier").filter((one) => one[6] === "not formatted").map(([path]) => relative(place, path)).sort(),
            listed.filter((line) => line && !line.startsWith("[")).sort());
        assert.deepEqual(of("prettier").filter((one) => one[7] === 1).map(([path, line, column]) => [relative(place, path), line, column]), [["src/broken.js", 1, 0]]);
        assert.deepEqual(of("markdownlint").map(([, line, , , , code, message]) => `README.md:${line + 1} ${code} ${message}`).sort(),
            alone("markdownlint", ["README.md"], place).trim().split("\n").map((line) => line.replace(/^README.md:(\d+)(:\d+)? error /, "README.md:$1 ")).sort());
    }
    // What is printed can be opened from where the user is.
    const text = await run(["finecode", "run", "lint"], { cwd: root, env });
    assert.match(text.out, /^packages\/one\/src\/a\.js:2:10: error: Expected '===' and instead saw '=='\. \[eqeqeq\] \(eslint\)$/m);
    assert.ok(!text.out.includes(root), text.out);
    const inside = await run(["finecode", "run", "lint", "files:=[\"src/a.js\"]"], { cwd: places[0], env });
    assert.match(inside.out, /^src\/a\.js:2:10: error: /m);
});

test("formatted bytes are those of the tools alone", async (t) => {
    const { root, places } = workspace(t);
    const copy = join(root, "copy");
    cpSync(places[0], copy, { recursive: true });
    alone("eslint", ["--fix", "."], copy);
    alone("prettier", ["--write", "."], copy);
    const done = await run(["finecode", "-w", "packages", "run", "format"], { cwd: root, env });
    assert.equal(done.code, 1, done.err); // src/broken.js
    assert.match(done.out, /^formatted: packages\/one\/src\/a\.js$/m);
    assert.match(done.out, /^cannot format: packages\/one\/src\/broken\.js:/m);
    for (const place of places)
        for (const name of Object.keys(files))
            assert.equal(readFileSync(join(place, name), "utf8"), readFileSync(join(copy, name), "utf8"), name);
    for (const place of places)
        writeFileSync(join(place, "src/broken.js"), "");
    const again = await run(["finecode", "-w", "packages", "run", "format"], { cwd: root, env });
    assert.equal(again.code, 0, again.err + again.out);
    assert.match(again.out, /all files are formatted/);
});

test("files whose names look like what prettier prints are reported and formatted", async (t) => {
    const root = realpathSync(folder(t));
    const names = ["[error] x.js", "[error] d/x.js", "[error] a.js: x.js", "line\nfeed.js", "line\nfine.js", "fine.js", "b: c.js", "plain.js", "end\n.js", " space.js", "back\\slash.js"];
    put(root, Object.fromEntries(names.map((name) => [name, name.endsWith("fine.js") ? "let a;\n" : "let  a\n"])));
    put(root, { "finecode.toml": project.replaceAll(/^ .*(eslint|markdown).*\n/gm, "") });
    const env_ = { ...env, PATH: bin + delimiter + env.PATH };
    const changed = names.filter((name) => !name.endsWith("fine.js")).sort();
    const result = async () => {
        const found = await run(["finecode", "--json", "run", "lint"], { cwd: root, env: env_ });
        const { json } = JSON.parse(found.out.split("\n").find((line) => line.includes('"result"'))).result;
        return { code: found.code, changed: json.changed.map((path) => relative(root, path)).sort(), messages: json.messages };
    };
    assert.deepEqual((await result()).changed, changed);
    const done = await run(["finecode", "run", "format"], { cwd: root, env: env_ });
    assert.equal(done.code, 0, done.err);
    for (const name of names)
        assert.equal(readFileSync(join(root, name), "utf8"), "let a;\n", name);
    assert.deepEqual(await result(), { code: 0, changed: [], messages: {} });
    for (const name of names)
        writeFileSync(join(root, name), "let  = (\n");
    const { code, messages } = await result();
    assert.equal(code, 1);
    assert.deepEqual(Object.keys(messages).map((path) => relative(root, path)).sort(), names.sort());
    for (const [path, list] of Object.entries(messages))
        assert.match(list[0].message, /^SyntaxError/, path);
});

test("documents that an editor has open, and tools that break down", { skip: !existsSync("/usr/bin/python3") }, (t) => {
    const tests = join(here, "..", "check", "finecode-er.py");
    const done = spawnSync("/usr/bin/python3", [tests, join(process.env.BUILD, "duplex-finecode"), folder(t), "npm"],
        { env: { ...env, PATH: bin + delimiter + env.PATH }, encoding: "utf8" });
    assert.equal(done.status, 0, done.stdout + done.stderr);
});
