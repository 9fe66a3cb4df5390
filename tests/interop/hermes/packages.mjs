// The HL7 messages that npm packages carry: in their samples, and as strings in their tests and documentation.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const modules = join(dirname(fileURLToPath(import.meta.url)), "../node_modules");
const BUILT = new Set(["node_modules", "dist", "builds"]);
const LITERAL = /(["'`])((?:\\[^]|(?!\1)[^\\])*)\1/y;
const ESCAPES = { n: "\n", r: "\r", t: "\t" };

const files = (folder) =>
    readdirSync(folder)
        .filter((name) => !BUILT.has(name))
        .map((name) => join(folder, name))
        .flatMap((path) => (statSync(path).isDirectory() ? files(path) : [path]));

// The string whose quote is at that place.
function literal(text, at) {
    LITERAL.lastIndex = at;
    const [whole, , inside] = LITERAL.exec(text) ?? [];
    if (!whole || inside.includes("${")) return null;
    const value = inside.replace(/\\(?:\r\n|\n)|\\([^])/g, (_, c) => (c ? (ESCAPES[c] ?? c) : ""));
    return { value, end: at + whole.length };
}

// What may follow as more of a message: its next segment, or only the end of a line.
const MORE = /^[\r\n]*(?:[A-Z][A-Z0-9]{2}\||$)/;

// Strings that begin a message, with those that follow as its other segments: added to it, or in a list to be joined.
function quoted(text) {
    return [...text.matchAll(/["'`]MSH[^\w\s]/g)].flatMap(({ index }) => {
        let part = literal(text, index);
        if (!part) return [];
        let { value } = part;
        for (;;) {
            const next = /^\s*([+,])\s*(?=["'`])/.exec(text.slice(part.end, part.end + 200));
            part = next && literal(text, part.end + next[0].length);
            if (!part || !MORE.test(part.value)) return [value];
            value += (next[1] === "," ? "\r" : "") + part.value;
        }
    });
}

// Lines of a comment or of a page that are a message.
const shown = (text) =>
    [...text.matchAll(/^[ \t/*>]*(MSH\|.*(?:\r?\n[A-Z][A-Z0-9]{2}\|.*)*)/gm)].map(([, message]) => message);

const isSource = (file) => /\.(m?js|ts|md)$/.test(file);
// Not the name of a field, "MSH|3", and not what stands for a message, "MSH|^~\\&|..." in a page and templates.
const isMessage = (text) => /^MSH([^\w\s\\]).{3,5}\1/.test(text) && !/\|\.\.\.|<%/.test(text);

function found(file) {
    const text = readFileSync(file, "utf8");
    if (isSource(file)) return [...quoted(text), ...shown(text)].filter(isMessage);
    return text.split(/(?=^MSH\|)/m).filter((part) => part.startsWith("MSH|"));
}

// [{ name, text }]: all that these packages have, in the order of their names, each with the first one that has it. The
// same message with other ends of lines is the same message.
export function messages(...packages) {
    const seen = new Set();
    return packages.flatMap((name) =>
        files(join(modules, name))
            .flatMap(found)
            .filter((text) => {
                const plain = text.replace(/[\r\n]+/g, "\r").trimEnd();
                return !seen.has(plain) && seen.add(plain);
            })
            .map((text) => ({ name, text })),
    );
}
