// Ready-made handlers of duplex finecode on real projects: eslint, prettier and markdownlint on eight npm packages, clang-format
// and cppcheck on two C projects. What they find, and what they write, is what the tools alone find and write.
import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, readdirSync, realpathSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { folder, run } from "./duplex.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const modules = join(here, "node_modules");
const source = join(here, "..", "..");
const packages = ["body-parser", "commander", "debug", "express", "hl7-standard", "mllp-node", "qs", "ws"];
// Tools find the pinned Node.
const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env.PATH}` };
const has = (tool) => spawnSync(tool, ["--version"]).status === 0;

const ESLINT = `import js from "@eslint/js";
export default [
  js.configs.recommended,
  { rules: { curly: "warn", eqeqeq: "error", "no-var": "warn", "prefer-const": "warn", "no-unused-vars": "warn", "object-shorthand": "warn" } },
];
`;
const NPM = String.raw`[finecode.er]
runner = "duplex"
[finecode.action.lint]
source = "duplex.Lint"
[[finecode.action.lint.handlers]]
name = "eslint"
source = "duplex.eslint"
env = "js"
[[finecode.action.lint.handlers]]
name = "markdownlint"
source = "duplex.pattern"
env = "js"
[finecode.action.lint.handlers.config]
program = "markdownlint"
include = ["*.md"]
columns = "utf16"
pattern = '(?<file>.+?):(?<line>\d+)(?::(?<column>\d+))? (?<severity>\w+) (?<code>\S+) (?<message>.*)'
[finecode.action.check]
source = "duplex.Analyse"
handlers = [{ name = "prettier", source = "duplex.prettier_check", env = "js" }]
[finecode.action.format]
source = "duplex.Format"
handlers = [{ name = "prettier", source = "duplex.prettier", env = "js" }]
`;
const C = `[finecode.er]
runner = "duplex"
[finecode.action.lint]
source = "duplex.Lint"
handlers = [{ name = "cppcheck", source = "duplex.cppcheck", env = "c", config = { args = ["--enable=style"] } }]
[finecode.action.check]
source = "duplex.Analyse"
handlers = [{ name = "layout", source = "duplex.clang_format_check", env = "c" }]
[finecode.action.format]
source = "duplex.Format"
handlers = [{ name = "layout", source = "duplex.clang_format", env = "c" }]
`;

// All files below a folder, as paths that count from there.
function files(root, from = root) {
    const found = readdirSync(from, { withFileTypes: true }).flatMap((each) => {
        const path = join(from, each.name);
        return each.isSymbolicLink() || each.name === ".git" ? [] : each.isDirectory() ? files(root, path) : [relative(root, path)];
    });
    return found.sort();
}

// A copy of what people write, without what they install and build, and without configurations that need more than we have.
function copy(from, to, keep = () => true) {
    cpSync(from, to, { recursive: true, filter: (path) => !/(^|\/)(node_modules|dist|build|tests?|examples|\.git)$|\.min\.|\.map$|eslint\.config\./.test(relative(from, path)) && (statSync(path).isDirectory() || keep(path)) });
}

// What a tool says, whatever its exit code; several at once.
function alone(cwd, tool, ...words) {
    return new Promise((resolve) => execFile(tool, words, { cwd, env, maxBuffer: 1 << 28 }, (error, out, err) => resolve({ code: error ? error.code : 0, out, err })));
}

// The result of an action by project; every project has to end well.
async function ours(root, action, ...words) {
    const { code, out, err } = await run(["finecode", "run", "-w", root, "--json", ...words, action], { env });
    assert.ok(code === 0 || code === 1, `${action}: code ${code}: ${err} ${out}`);
    const events = out.trim().split("\n").map((line) => JSON.parse(line));
    const ended = events.filter((event) => event.event === "project");
    return Object.fromEntries(ended.map((event) => [basename(event.project), { ...event.result.json, path: event.project }]));
}

// Findings as lines, so that a difference can be read.
function findings({ path, messages }) {
    return Object.entries(messages).flatMap(([file, list]) =>
        list.map(({ range: { start }, message, code, severity }) => `${relative(path, file)}:${start.line + 1}:${start.character + 1}: ${severity} ${code ?? null} ${message}`)).sort();
}

function same(name, one, other) {
    assert.deepEqual(files(one), files(other), name);
    for (const file of files(one)) assert.ok(readFileSync(join(one, file)).equals(readFileSync(join(other, file))), `${name}: ${file}`);
}

function place(t) {
    const root = realpathSync(folder(t));
    const [project, tools, dry] = ["ours", "tools", "dry"].map((name) => join(root, name));
    for (const one of [project, tools]) mkdirSync(one);
    assert.equal(spawnSync("git", ["init", "-q", project]).status, 0);
    return { root, project, tools, dry };
}

// Applied by git, the difference of a dry run makes the same files; and the dry run itself writes nothing.
async function dryRun({ project, dry }, action, names) {
    cpSync(project, dry, { recursive: true, verbatimSymlinks: true });
    const { code, out, err } = await run(["finecode", "run", "-w", project, "--dry-run", ...names.flatMap((name) => ["-p", name]), action], { env });
    assert.equal(code, 1, err);
    same("dry run", project, dry);
    const applied = spawnSync("git", ["apply", "--whitespace=nowarn"], { cwd: dry, input: out, env: { ...env, GIT_CEILING_DIRECTORIES: dirname(dry) } });
    assert.equal(applied.status, 0, String(applied.stderr));
}

test("eight npm packages: eslint, prettier and markdownlint find and write what they do alone", async (t) => {
    const where = place(t);
    const { root, project, tools } = where;
    symlinkSync(modules, join(root, "node_modules"));
    for (const name of packages) {
        copy(join(modules, name), join(project, name));
        writeFileSync(join(project, name, "eslint.config.mjs"), ESLINT);
        writeFileSync(join(project, name, "finecode.toml"), NPM);
        cpSync(join(project, name), join(tools, name), { recursive: true });
    }
    const bin = (tool) => join(modules, ".bin", tool);
    const found = await ours(project, "lint");
    const unformatted = await ours(project, "check");
    let count = 0;
    for (const name of packages) {
        const cwd = join(tools, name);
        const [eslint, markdown, prettier] = await Promise.all([
            alone(cwd, bin("eslint"), "--format", "json", "."),
            alone(cwd, bin("markdownlint"), ...files(cwd).filter((file) => file.endsWith(".md"))),
            alone(cwd, bin("prettier"), "--list-different", "."),
        ]);
        const wanted = JSON.parse(eslint.out).flatMap(({ filePath, messages }) =>
            messages.map(({ line, column, message, ruleId, severity }) => `${relative(cwd, filePath)}:${line}:${column}: ${severity === 2 ? 1 : 2} ${ruleId} ${message}`));
        for (const line of markdown.err.trim().split("\n").filter((text) => text)) {
            const [, file, at, column = 1, kind, code, message] = /^(\S+?):(\d+)(?::(\d+))? (\w+) (\S+) (.*)$/.exec(line);
            wanted.push(`${file}:${at}:${column}: ${kind === "error" ? 1 : 2} ${code} ${message}`);
        }
        assert.deepEqual(findings(found[name]), wanted.sort(), name);
        assert.deepEqual(unformatted[name].changed.map((file) => relative(unformatted[name].path, file)).sort(), prettier.out.trim().split("\n").filter((text) => text).sort(), name);
        count += wanted.length;
    }
    t.diagnostic(`${count} findings`);
    assert.ok(count > 1000, `${count} findings`);

    const some = ["express", "mllp-node"];
    await dryRun(where, "format", some);
    await ours(project, "format");
    await Promise.all(packages.map((name) => alone(join(tools, name), bin("prettier"), "--write", ".")));
    same("prettier", project, tools);
    for (const name of some) same("git apply", join(where.dry, name), join(project, name));
    for (const name of packages) writeFileSync(join(project, name, "finecode.toml"), NPM.replace('"duplex.prettier"', '"duplex.eslint_fix"'));
    await ours(project, "format");
    for (const name of packages) writeFileSync(join(project, name, "finecode.toml"), NPM);
    await Promise.all(packages.map((name) => alone(join(tools, name), bin("eslint"), "--fix", ".")));
    same("eslint --fix", project, tools);
});

test("two C projects: clang-format and cppcheck find and write what they do alone", { skip: !has("clang-format") || !has("cppcheck") }, async (t) => {
    const where = place(t);
    const { project, tools } = where;
    const styles = { examples: "BasedOnStyle: GNU\n", toml: "BasedOnStyle: Google\nColumnLimit: 60\n" };
    const isC = (path) => /\.[ch]$/.test(path);
    copy(join(source, "examples"), join(project, "examples"), isC);
    copy(join(source, "src", "toml"), join(project, "toml"), isC);
    for (const [name, style] of Object.entries(styles)) {
        writeFileSync(join(project, name, ".clang-format"), style);
        writeFileSync(join(project, name, "finecode.toml"), C);
        writeFileSync(join(project, name, "empty.c"), "");
        writeFileSync(join(project, name, "wrong.c"), "int f(int a) {\n    int b[2] = {0, 0};\n    if (a == a)\n        return b[2];\n    return *(int *)0;\n}\n");
        cpSync(join(project, name), join(tools, name), { recursive: true });
    }
    const found = await ours(project, "lint");
    const unformatted = await ours(project, "check");
    for (const name of Object.keys(styles)) {
        const cwd = join(tools, name);
        const sources = files(cwd).filter((file) => file.endsWith(".c"));
        const { err } = await alone(cwd, "cppcheck", "--quiet", "--enable=style", "--template={file}:{line}:{column}: {severity} {id} {message}", "--template-location=", ...sources);
        const kinds = { error: 1, warning: 2, performance: 2, portability: 2, style: 3, information: 3 };
        const wanted = err.trim().split("\n").filter((line) => !line.startsWith("nofile")).map((line) => line.replace(/: (\w+) /, (_, kind) => `: ${kinds[kind]} `));
        assert.deepEqual(findings(found[name]), [...new Set(wanted)].sort(), name);
        assert.ok(wanted.length > 2, err);
        const different = [];
        for (const file of files(cwd).filter(isC))
            if ((await alone(cwd, "clang-format", file)).out !== readFileSync(join(cwd, file), "utf8")) different.push(file);
        assert.deepEqual(unformatted[name].changed.map((file) => relative(unformatted[name].path, file)).sort(), different, name);
        assert.ok(different.length > 4, name);
    }
    await dryRun(where, "format", Object.keys(styles));
    await ours(project, "format");
    for (const name of Object.keys(styles)) await alone(join(tools, name), "clang-format", "-i", ...files(join(tools, name)).filter(isC));
    same("clang-format", project, tools);
    same("git apply", where.dry, project);
});
