// The command under test, and the peers that it is tested with.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const modules = join(here, "node_modules");
const node = process.execPath;

export const duplex = join(process.env.BUILD, "duplex");
export const examples = join(process.env.BUILD, "examples");
export const plugin = join(here, "plugin.py");

// What goes behind "--" for each peer. PATH finds clangd, as it does for anybody.
export const peers = {
    clangd: ["clangd", "--log=error"],
    bash: [node, join(modules, "bash-language-server/out/cli.js"), "start"],
    everything: [node, join(modules, "@modelcontextprotocol/server-everything/dist/index.js")],
    // The same peer, with duplex between it and whoever starts it.
    tapped: (trace, command) => [duplex, "tap", "-o", trace, "--", ...command],
    // Debian's, rather than another that may come first and take longer to start.
    python: (framing, ...words) => [existsSync("/usr/bin/python3") ? "/usr/bin/python3" : "python3", plugin, framing, ...words],
};

// A folder that is gone after the test.
export function folder(t) {
    const path = mkdtempSync(join(tmpdir(), "duplex-interop-"));
    t.after(() => rmSync(path, { recursive: true, force: true }));
    return path;
}

// Starts duplex; `ended` has its code, what it wrote, and how long it took.
export function start(words, { input = "", env = process.env, cwd, limit = 120000 } = {}) {
    const begin = performance.now();
    const child = spawn(duplex, words, { env, cwd, stdio: ["pipe", "pipe", "pipe"] });
    const timer = setTimeout(() => child.kill("SIGKILL"), limit);
    const text = { out: [], err: [] };
    child.stdout.on("data", (bytes) => text.out.push(bytes));
    child.stderr.on("data", (bytes) => text.err.push(bytes));
    child.stdin.on("error", () => {});
    child.stdin.end(input);
    const ended = new Promise((resolve, reject) => {
        child.on("error", reject);
        child.on("close", (code, signal) => {
            clearTimeout(timer);
            resolve({
                code: signal ? `${signal} after ${limit} ms` : code,
                out: Buffer.concat(text.out).toString(),
                err: Buffer.concat(text.err).toString(),
                ms: performance.now() - begin,
            });
        });
    });
    return { child, ended };
}

export const run = (words, options) => start(words, options).ended;

// The results, one a line and nothing else; throws where a line is no JSON.
export const results = ({ out }) =>
    out
        .split("\n")
        .slice(0, -1)
        .map((line) => JSON.parse(line));

// A trace that duplex lint finds nothing wrong with.
export async function clean(protocol, trace) {
    const { code, out, err } = await run(["lint", "--protocol", protocol, trace]);
    assert.equal(code, 0, `${out}${err}`);
}

// Processes whose command line has this word.
export function running(word) {
    const { stdout } = spawnSync("pgrep", ["-f", "--", word], { encoding: "utf8" });
    return stdout.split("\n").filter((line) => line);
}

export async function until(what, limit = 5000) {
    for (const end = Date.now() + limit; Date.now() < end; ) {
        const value = what();
        if (value) return value;
        await new Promise((resolve) => setTimeout(resolve, 20));
    }
    throw new Error(`not within ${limit} ms: ${what}`);
}
