// The official conformance suite against our example server. The suite speaks HTTP only, so a bridge stands
// between; what is about HTTP itself says nothing about us, and is listed apart.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { examples, folder } from "./duplex.mjs";
import { bridge } from "./mcp/bridge.mjs";

const suite = join(dirname(fileURLToPath(import.meta.url)), "node_modules/@modelcontextprotocol/conformance");

// Scenarios that the bridge passes or fails, whatever is behind it.
const OF_HTTP = {
    "dns-rebinding-protection": "Host and Origin of a request",
    "server-session-lifecycle": "the header with the session's id",
    "server-sse-multiple-streams": "several streams of events at once",
    "server-sse-polling": "a stream that is closed and taken up again",
    "http-header-validation": "headers that repeat what the body says",
    "http-custom-header-server-validation": "headers that repeat arguments",
    "tasks-request-headers": "headers that repeat what the body says",
};

// What a revision demands: the lists "server" and "not_scored" of its file.
function demands(revision) {
    const text = readFileSync(join(suite, "requirements", `${revision}.yaml`), "utf8").replace(/^#.*\n/gm, "");
    const [, scored] = text.match(/^server:\n((?: {2}- .*\n)+)/m);
    return scored.match(/[^\s-]\S*/g);
}

// Runs it all; gives for each scenario what was checked.
async function run(t, revision) {
    const out = folder(t);
    const server = await bridge([join(examples, "mcp-conformance")]);
    t.after(() => server.close());
    const words = [join(suite, "dist/index.js"), "server", "--url", server.url, "--requirements", revision, "-o", out];
    const child = spawn(process.execPath, words, { stdio: ["ignore", "pipe", "inherit"] });
    const text = [];
    child.stdout.on("data", (bytes) => text.push(bytes));
    await new Promise((resolve) => child.on("close", resolve));
    const report = Buffer.concat(text).toString();
    console.log(report.slice(report.indexOf("=== SUMMARY")));
    const checked = {};
    for (const name of readdirSync(out)) {
        const scenario = name.replace(/^server-/, "").replace(/-\d{4}-\d\d-\d\dT.*/, "");
        checked[scenario] = JSON.parse(readFileSync(join(out, name, "checks.json"), "utf8"));
    }
    return checked;
}

const failures = (checks) =>
    checks.filter(({ status }) => status === "FAILURE").map(({ id, errorMessage }) => `${id}: ${errorMessage}`);

// None failed, and something was looked at.
function passed(scenario, checks) {
    assert.ok(checks, `${scenario} did not run`);
    assert.deepEqual(failures(checks), [], scenario);
    assert.ok(checks.some(({ status }) => status === "SUCCESS"), `${scenario}: nothing was checked`);
}

function tell(checked) {
    for (const [scenario, checks] of Object.entries(checked)) {
        for (const { id, status, errorMessage } of checks) {
            if (status === "FAILURE" || status === "WARNING") console.log(`${scenario}: ${status} ${id}: ${errorMessage}`);
        }
    }
}

test("2025-11-25: every scored scenario that is not about HTTP", async (t) => {
    const checked = await run(t, "2025-11-25");
    tell(checked);
    const scored = demands("2025-11-25");
    assert.equal(scored.length, 30);
    for (const scenario of scored.filter((name) => !OF_HTTP[name])) passed(scenario, checked[scenario]);
    // Not scored, because the suite's own server cannot.
    passed("json-schema-2020-12", checked["json-schema-2020-12"]);
});

test("2026-07-28: every scored scenario that is not about HTTP", async (t) => {
    const checked = await run(t, "2026-07-28");
    tell(checked);
    const scored = demands("2026-07-28");
    assert.equal(scored.length, 37);
    for (const scenario of scored.filter((name) => !OF_HTTP[name])) passed(scenario, checked[scenario]);
    passed("json-schema-2020-12", checked["json-schema-2020-12"]);
    // An extension, which is not scored, and which we don't have.
    assert.notDeepEqual(failures(checked["tasks-lifecycle"]), []);
});
