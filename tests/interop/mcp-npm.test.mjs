// Servers from npm, by many authors and with SDKs from 0.5 on: what our client prints is what the SDK's client gets.
import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { run, start, until } from "./duplex.mjs";
import { connect } from "./mcp/sdk.mjs";

const modules = join(dirname(fileURLToPath(import.meta.url)), "node_modules");
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const entity = (name) => ({ name, entityType: "sted", observations: ["Å 中😀", '"\\'] });
const thought = { thought: "Å 中😀", nextThoughtNeeded: true, thoughtNumber: 1, totalThoughts: 2 };
const plan = {
    available_mcp_tools: ["Å"],
    thought: "中😀",
    next_thought_needed: true,
    thought_number: 1,
    total_thoughts: 2,
};
const GIT = { NAME: "Åse", EMAIL: "ase@example.org", DATE: "2026-01-02T03:04:05Z" };
const gitEnv = ["AUTHOR", "COMMITTER"].flatMap((who) => Object.entries(GIT).map(([key, value]) => [`GIT_${who}_${key}`, value]));

// Of each server: its script and words, what it needs, calls that do something, and what changes from run to run. Tools in
// `skip` are not called with derived arguments: they print the environment or the time, use the network, or go on for long.
const SERVERS = {
    everything: {
        script: "@modelcontextprotocol/server-everything/dist/index.js",
        // Resources say when they were made, some in base64.
        vary: [/created at [\d:]+ ?[AP]M/g, /UmVzb3VyY2Ug[\w+/=]+/g],
        skip: [
            "get-env",
            "trigger-long-running-operation",
            "toggle-simulated-logging",
            "toggle-subscriber-updates",
            "gzip-file-as-resource",
        ],
        calls: [
            ["echo", { message: "Å中😀\n\u2028\0" }],
            ["get-sum", { a: 2, b: 40.5 }],
            ["get-sum", { a: 1e308, b: 1e308 }],
            ["get-tiny-image", {}],
            ["get-structured-content", { location: "Chicago" }],
            ["get-annotated-message", { messageType: "error", includeImage: true }],
            ["get-resource-links", { count: 3 }],
            ["get-resource-reference", { resourceType: "Blob", resourceId: 7 }],
            ["trigger-long-running-operation", { duration: 0.1, steps: 2 }],
        ],
        prompts: [
            ["simple-prompt", {}],
            ["args-prompt", { city: "Ås", state: "中😀" }],
            ["resource-prompt", { resourceType: "Text", resourceId: "3" }],
            ["resource-prompt", { resourceType: "None", resourceId: "3" }],
        ],
        reads: ["demo://resource/dynamic/text/1", "demo://resource/dynamic/blob/2", "demo://resource/dynamic/text/x", "demo://"],
        complete: [
            ["prompt", "completable-prompt", "department", "S"],
            ["prompt", "completable-prompt", "nobody", "S"],
            ["template", "demo://resource/dynamic/text/{resourceId}", "resourceId", "5"],
            ["prompt", "nobody", "x", "S"],
        ],
    },
    filesystem: {
        script: "@modelcontextprotocol/server-filesystem/dist/index.js",
        words: (dir) => [dir],
        // Times of files.
        vary: [/(created|modified|accessed): [^\\"]+/g],
        calls: [
            ["list_directory", { path: "DIR" }],
            ["read_text_file", { path: "DIR/å 中😀.txt" }],
            ["read_text_file", { path: "DIR/å 中😀.txt", head: 1 }],
            ["read_media_file", { path: "DIR/a.png" }],
            ["read_multiple_files", { paths: ["DIR/a.js", "DIR/absent"] }],
            ["write_file", { path: "DIR/new", content: "ny\u2028\n" }],
            ["edit_file", { path: "DIR/new", edits: [{ oldText: "ny", newText: "nyere" }] }],
            ["move_file", { source: "DIR/new", destination: "DIR/newer" }],
            ["directory_tree", { path: "DIR" }],
            ["list_directory_with_sizes", { path: "DIR" }],
            ["search_files", { path: "DIR", pattern: "**/*.js" }],
            ["get_file_info", { path: "DIR/a.js" }],
            ["read_text_file", { path: "/etc/passwd" }],
        ],
    },
    memory: {
        script: "@modelcontextprotocol/server-memory/dist/index.js",
        env: (dir) => ({ MEMORY_FILE_PATH: join(dir, "memory.jsonl") }),
        calls: [
            ["create_entities", { entities: [entity("Ås"), entity("Oslo")] }],
            ["create_relations", { relations: [{ from: "Ås", to: "Oslo", relationType: "nær" }] }],
            ["add_observations", { observations: [{ entityName: "Ås", contents: ["ny"] }] }],
            ["add_observations", { observations: [{ entityName: "nobody", contents: ["ny"] }] }],
            ["read_graph", {}],
            ["search_nodes", { query: "å" }],
            ["open_nodes", { names: ["Oslo"] }],
            ["delete_entities", { entityNames: ["Oslo"] }],
        ],
    },
    thinking: {
        script: "@modelcontextprotocol/server-sequential-thinking/dist/index.js",
        calls: [
            ["sequentialthinking", thought],
            ["sequentialthinking", { ...thought, thoughtNumber: "2", isRevision: true }],
        ],
    },
    "thinking, with SDK 1.15": {
        script: "mcp-sequentialthinking-tools/dist/index.js",
        calls: [["sequentialthinking_tools", plan]],
    },
    eslint: {
        script: "@eslint/mcp/src/mcp-cli.js",
        calls: [
            ["lint-files", { filePaths: ["DIR/a.js"] }],
            ["lint-files", { filePaths: ["DIR/absent.js"] }],
        ],
    },
    "commands, with SDK 1.9": {
        script: "mcp-server-commands/build/index.js",
        calls: [
            ["run_command", { command: "printf 'Å 中😀\\n'; exit 3" }],
            ["run_command", { command: "cat", stdin: "a\0b" }],
        ],
        prompts: [["run_command", { command: "echo Å" }]],
    },
    time: {
        script: "time-mcp/dist/index.js",
        // It is another time, and how long since.
        skip: ["current_time", "relative_time", "get_timestamp"],
        calls: [
            ["days_in_month", { date: "2024-02-01" }],
            ["get_timestamp", { time: "2024-02-29 12:00:00" }],
            ["convert_time", { sourceTimezone: "Europe/Oslo", targetTimezone: "Asia/Tokyo", time: "2026-01-02 03:04:05" }],
            ["get_week_year", { date: "2026-12-31" }],
        ],
    },
    "obsidian, with SDK 0.5": {
        script: "mcp-obsidian/dist/index.js",
        words: (dir) => [dir],
        calls: [
            ["read_notes", { paths: ["å 中😀.txt", "absent.md"] }],
            ["search_notes", { query: "note" }],
        ],
    },
    hello: {
        script: "mcp-hello-world/build/stdio.js",
        calls: [
            ["echo", { message: "Å中😀" }],
            ["add", { a: 0.1, b: 0.2 }],
        ],
        prompts: [["helpful-assistant", {}]],
        reads: ["greeting://%C3%85se"],
    },
    git: {
        script: "@cyanheads/git-mcp-server/dist/index.js",
        env: (dir) => ({ ...Object.fromEntries(gitEnv), HOME: dir, GIT_CONFIG_NOSYSTEM: "1" }),
        calls: [
            ["git_init", { path: "DIR/repo", initialBranch: "main" }],
            ["git_set_working_dir", { path: "DIR/repo" }],
            ["git_status", {}],
            ["git_commit", { message: "første 中😀", allowEmpty: true }],
            ["git_log", {}],
            ["git_show", { object: "HEAD" }],
            ["git_tag", { mode: "list" }],
            ["git_branch", {}],
            ["git_show", { object: "nobody" }],
        ],
    },
};

const FILES = {
    "a.js": "let unused = 1;\n",
    "eslint.config.js": 'module.exports = [{ rules: { "no-unused-vars": "error" } }];\n',
    "å 中😀.txt": "første\nandre \u2028\n",
    "note.md": "# note\n",
    "a.png": Buffer.from(PNG, "base64"),
};

// The servers of one side, each in a folder of its own.
function settings(place) {
    return Object.fromEntries(
        Object.entries(SERVERS).map(([name, { script, words = () => [], env = () => ({}) }], at) => {
            const cwd = join(place, String(at));
            mkdirSync(cwd, { recursive: true });
            for (const [file, text] of Object.entries(FILES)) writeFileSync(join(cwd, file), text);
            const own = { DUPLEX_MARK: place, TZ: "UTC", ...env(cwd) };
            return [name, { command: process.execPath, args: [join(modules, script), ...words(cwd)], env: own, cwd }];
        }),
    );
}

// Processes that were started with this in their environment.
const started = (mark) =>
    readdirSync("/proc").filter((pid) => {
        try {
            return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/environ`, "utf8").includes(`DUPLEX_MARK=${mark}`);
        } catch {
            return false;
        }
    });

const WRONG = { string: 42, number: "x", integer: 1.5, boolean: "x", array: {}, object: [] };

// No arguments, and for each one a value of another type.
function derived({ name, inputSchema }, skip = []) {
    const members = Object.entries(inputSchema.properties ?? {});
    const wrong = members.map(([key, { type }]) => [name, { [key]: WRONG[type] ?? null }]);
    return skip.includes(name) ? [] : [[name, {}], ...(wrong.length ? [[name, Object.assign({}, ...wrong.map(([, one]) => one))]] : [])];
}

// { result } or { error: { code, message, data } }, as ours() has it.
async function theirs(peer, method, params) {
    try {
        return { result: await peer.ask(method, params) };
    } catch ({ code, message, data }) {
        // The class of the SDK puts this before what the server says.
        const own = message.replace(`MCP error ${code}: `, "");
        return { error: { code, message: own, ...(data !== undefined && { data }) } };
    }
}

const WORDS = {
    "tools/call": ({ name, arguments: given }) => ["tools", "call", name, JSON.stringify(given)],
    "prompts/get": ({ name, arguments: given }) => ["prompts", "get", name, JSON.stringify(given)],
    "resources/read": ({ uri }) => ["resources", "read", uri],
    "completion/complete": ({ ref, argument: { name, value } }) =>
        ["complete", ref.name ? "prompt" : "template", ref.name ?? ref.uri, `${name}=${value}`],
    "tools/list": () => ["tools"],
    "prompts/list": () => ["prompts"],
    "resources/list": () => ["resources"],
    "resources/templates/list": () => ["templates"],
};

async function ours(env, name, method, params) {
    const options = ["--json", "--start-timeout", "120s", "-t", "60s", "--in", name];
    const { code, out, err } = await run(["mcp", ...WORDS[method](params), ...options], { env });
    assert.ok(out, `${code} ${err}`);
    const value = JSON.parse(out);
    if (!value.error) {
        assert.equal(code, value.isError ? 1 : 0, out);
        return { result: value };
    }
    // What it adds for who reads it.
    const { method: of, exit, kind, hint, ...error } = value.error;
    assert.deepEqual([of, exit, kind, code], [method, 1, "refused", 1], out);
    return { error };
}

describe("npm servers: our client and the SDK's", { concurrency: 3 }, () => {
    const place = join(tmpdir(), `duplex-npm-${process.pid}`); // one server writes paths in small letters
    const mine = settings(join(place, "ours"));
    const others = settings(join(place, "sdk"));
    const env = { ...process.env, XDG_RUNTIME_DIR: place };
    const config = join(place, "servers.json");
    const servers = Object.values(mine).map((server, at) => [`server${at}`, server]);
    let daemon;

    before(() => {
        writeFileSync(config, JSON.stringify({ mcpServers: Object.fromEntries(servers) }));
        daemon = start(["run", "--config", config], { env, limit: 280000 });
    });

    after(async () => {
        daemon.child.kill("SIGTERM");
        await daemon.ended;
        await until(() => !started(place).length);
        rmSync(place, { recursive: true });
    });

    for (const [at, [name, { skip, calls, prompts = [], reads = [], complete = [], vary = [] }]] of Object.entries(SERVERS).entries()) {
        test(name, async (t) => {
            const info = run(["mcp", "info", "--json", "--config", config, "--server", `server${at}`, "--start-timeout", "120s"], { env });
            const { command, args, ...options } = others[name];
            const peer = await connect("SDK 1.x", [command, ...args], options);
            t.after(() => peer.close());
            // Only the folders differ.
            const plain = (value, { cwd }) =>
                JSON.parse(vary.reduce((text, one) => text.replace(one, "VARIES"), JSON.stringify(value).replaceAll(cwd, "DIR")));
            const there = (value, { cwd }) => JSON.parse(JSON.stringify(value).replaceAll("DIR", cwd));
            let asked = 0;
            const both = async (method, params = {}) => {
                const [one, other] = await Promise.all([
                    ours(env, `server${at}`, method, there(params, mine[name])),
                    theirs(peer, method, there(params, others[name])),
                ]);
                assert.deepEqual(plain(one, mine[name]), plain(other, others[name]), `${method} ${JSON.stringify(params)}`);
                asked += 1;
                return other.result;
            };
            const { protocolVersion, ...initialized } = JSON.parse(peer.all.find(({ from }) => from === "plugin").text).result;
            const { capabilities } = initialized;
            const found = {
                ...(capabilities.tools && { tools: (await both("tools/list")).tools }),
                ...(capabilities.resources && { resources: (await both("resources/list")).resources }),
                ...(capabilities.resources && { resourceTemplates: (await both("resources/templates/list")).resourceTemplates }),
                ...(capabilities.prompts && { prompts: (await both("prompts/list")).prompts }),
            };
            const { code, out, err } = await info;
            assert.equal(code, 0, err);
            const { revision, mode, ...told } = JSON.parse(out);
            assert.deepEqual([revision, mode], [protocolVersion, "legacy"]);
            assert.deepEqual(plain(told, mine[name]), plain({ ...initialized, ...found }, others[name]));

            const tools = found.tools.flatMap((tool) => derived(tool, skip));
            for (const [tool, given] of [...tools, ...calls, ["nobody", {}], ["", { a: 1 }]])
                await both("tools/call", { name: tool, arguments: given });
            const asks = found.prompts && [...found.prompts.map((one) => [one.name, {}]), ...prompts, ["nobody", {}]];
            for (const [prompt, given] of asks ?? []) await both("prompts/get", { name: prompt, arguments: given });
            const uris = found.resources && [...found.resources.map((one) => one.uri), ...reads, "nothing://here", "no uri"];
            for (const uri of uris ?? []) await both("resources/read", { uri });
            for (const [kind, of, argument, value] of complete) {
                const ref = kind === "prompt" ? { type: "ref/prompt", name: of } : { type: "ref/resource", uri: of };
                await both("completion/complete", { ref, argument: { name: argument, value } });
            }
            t.diagnostic(`${asked} requests`);
        });
    }
});
