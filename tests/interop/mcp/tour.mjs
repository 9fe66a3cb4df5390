// What `duplex mcp` said to a server and heard from it.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { clean, folder, peers, run } from "../duplex.mjs";

const here = dirname(fileURLToPath(import.meta.url));

export const LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

export const everything = peers.everything;
export const diced = [everything[0], "--import", join(here, "dice.mjs"), ...everything.slice(1)];
export const relayed = (method, tool) => [everything[0], join(here, "relay.mjs"), method, tool, ...diced];
export const server2 = [process.execPath, join(here, "server2.mjs")];

// Messages of a trace, each with who sent it.
export function messages(trace) {
    const lines = readFileSync(trace, "utf8").split("\n").slice(1, -1);
    return lines.map((line) => JSON.parse(line)).filter(({ message }) => message);
}

// duplex mcp WORDS -- SERVER: how it ended, what it printed, and all that crossed the wire, which the protocol's
// document finds nothing wrong with.
export async function mcp(t, words, server, { revision = "mcp", code = 0, lint = true, limit } = {}) {
    const trace = join(folder(t), "trace.jsonl");
    const ended = await run(["mcp", "--json", ...words, "-o", trace, "--", ...server], { limit });
    assert.equal(ended.code, code, `duplex mcp ${words.join(" ")}: ${ended.err}${ended.out}`);
    const values = ended.out.split("\n").filter((line) => line).map((line) => JSON.parse(line));
    if (lint) await clean(revision, trace);
    const all = messages(trace);
    return {
        ...ended,
        values,
        value: values.at(-1),
        all,
        trace,
        // Params of what was sent of a method, by "host" (which is us) or "plugin".
        of: (method, from) =>
            all.filter(({ message, from: by }) => message.method === method && (!from || by === from)).map(({ message }) => message.params),
    };
}

export const texts = ({ content }) => content.filter(({ type }) => type === "text").map(({ text }) => text);
