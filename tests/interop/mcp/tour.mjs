// What `duplex mcp` said to a server and heard from it.
import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { clean, folder, peers, start } from "../duplex.mjs";

const here = dirname(fileURLToPath(import.meta.url));

export const LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

export const everything = peers.everything;
export const diced = [everything[0], "--import", join(here, "dice.mjs"), ...everything.slice(1)];
export const relayed = (method, tool) => [everything[0], join(here, "relay.mjs"), method, tool, ...diced];
export const server2 = [process.execPath, join(here, "server2.mjs")];

// A line of --show, for it and for a trace.
const SHOWN = /^ *(\d+)\.(\d{6}) (->|<-) (\{.*\})$/;

function shown(err) {
    const all = [];
    const rest = [];
    for (const line of err.split("\n")) {
        const [, seconds, micros, arrow, text] = line.match(SHOWN) ?? [];
        if (!text) rest.push(line);
        else all.push({ t: Number(seconds + micros), from: arrow === "->" ? "host" : "plugin", text, message: JSON.parse(text) });
    }
    return { all, rest: rest.join("\n") };
}

// The recorder leaves off after two seconds on a machine that has better things to do. Then what was shown is
// written down, so that there is something to be linted.
function whole(trace, all) {
    const lines = existsSync(trace) ? readFileSync(trace, "utf8").split("\n").slice(1, -1) : [];
    const recorded = lines.map((line) => JSON.parse(line)).filter(({ message }) => message);
    if (recorded.length === all.length) {
        recorded.forEach(({ from, message }, at) => assert.deepEqual({ from, message }, { from: all[at].from, message: all[at].message }));
        return;
    }
    write(trace, all);
}

// What crossed the wire as a trace: { t, from, text }, of one conversation.
export function write(trace, all) {
    const lines = all.map(({ t, from, text }) => `{"t":${t},"from":"${from}","bytes":${Buffer.byteLength(text)},"message":${text}}`);
    writeFileSync(trace, ['{"duplex-trace":1,"time":"us","part":1,"unix-ms":0}', ...lines, ""].join("\n"));
}

// duplex mcp WORDS -- SERVER: how it ended, what it printed, and all that crossed the wire, which the protocol's
// document finds nothing wrong with. One that would go on for ever is interrupted once its output is `enough`.
export async function mcp(t, words, server, { revision = "mcp", enough, code = enough ? 130 : 0, lint = true } = {}) {
    const trace = join(folder(t), "trace.jsonl");
    const started = start(["mcp", "--json", ...words, "-s", "-o", trace, "--", ...server]);
    let seen = "";
    started.child.stdout.on("data", (bytes) => {
        const was = enough?.(seen);
        seen += bytes;
        if (enough?.(seen) && !was) started.child.kill("SIGINT");
    });
    const ended = await started.ended;
    const { all, rest } = shown(ended.err);
    assert.equal(ended.code, code, `duplex mcp ${words.join(" ")}: ${rest}${ended.out}`);
    if (lint) {
        whole(trace, all);
        await clean(revision, trace);
    }
    const values = ended.out.split("\n").filter((line) => line).map((line) => JSON.parse(line));
    return {
        err: rest,
        out: ended.out,
        values,
        value: values.at(-1),
        all,
        // Params of what was sent of a method, by "host" (which is us) or "plugin".
        of: (method, from) =>
            all.filter(({ message, from: by }) => message.method === method && (!from || by === from)).map(({ message }) => message.params),
    };
}

export const texts = ({ content }) => content.filter(({ type }) => type === "text").map(({ text }) => text);
