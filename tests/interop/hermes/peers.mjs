// The extensions that the host is tested with, the messages that they work on, and what they kept.
import assert from "node:assert/strict";
import { copyFileSync, existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { folder, run } from "../duplex.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const python = existsSync("/usr/bin/python3") ? "/usr/bin/python3" : "python3";
const file = (name) => join(here, name);

export const names = [python, file("names.py")];
export const labs = [process.execPath, file("labs.mjs")];
export const old = [python, file("old.py")];
// The same, over a wire that is in the way.
export const relayed = (mode, command) => [python, file("relay.py"), mode, ...command];

// What they call themselves.
export const NAMES = "Names Å中😀";
export const LABS = "Labs Å中😀";

const quote = (word) => `'${word.replaceAll("'", "'\\''")}'`;
export const words = (command) => command.map(quote).join(" ");
export const using = (...commands) => commands.flatMap((command) => ["--extension", words(command)]);
export const runs = (...commands) => commands.flatMap((command) => ["--run", command]);
export const host = (options, more) => run(["hermes", "host", ...options], more);

export const adt = readFileSync(file("adt.hl7"), "utf8");
export const oru = readFileSync(file("oru.hl7"), "utf8");
export const lines = (text) => text.split(/[\r\n]+/).filter((line) => line);

// A text with some parts replaced, each of which must be there.
export function changed(text, ...changes) {
    for (const [from, to] of changes) {
        assert.ok(text.includes(from), from);
        text = text.replace(from, () => to);
    }
    return text;
}

// What names/upper does to the one message, and labs/flag to the other.
export const UPPER = [["ødegård^kåre", "ØDEGÅRD^kåre"], ["~o'neil^", "~O'NEIL^"]];
export const FLAGS = [
    ["|182|mg/dL|70-99||", "|182|mg/dL|70-99|H|"],
    ["|139|mmol/L|136-145||", "|139|mmol/L|136-145|N|"],
    ["|2.9|mmol/L|3.5-5.1||", "|2.9|mmol/L|3.5-5.1|L|"],
    ["|68|µmol/L|<105||", "|68|µmol/L|<105|N|"],
];

// A folder with a message and a data directory whose names are not ASCII.
export function place(t, message = "adt.hl7") {
    const path = folder(t);
    const patient = join(path, "pasient Å中😀.hl7");
    const data = join(path, "data Å中😀");
    copyFileSync(file(message), patient);
    // Longer than an extension needs for its next word, even on a busy machine.
    return { path, patient, data, usual: ["--data", data, "--settle", "2s"] };
}

export const journal = (data, name) =>
    readFileSync(join(data, `${name}-å中😀.jsonl`), "utf8")
        .split("\n")
        .slice(0, -1)
        .map((line) => JSON.parse(line));
// What the editor sent to an extension.
export const came = (data, name) => journal(data, name).filter((line) => line.came).map((line) => line.came);

export const logged = (events, extension) =>
    events
        .filter((event) => event.event === "log" && event.extension === extension)
        .map(({ level, text }) => `${level}: ${text}`);
