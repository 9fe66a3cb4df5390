// The HL7 messages that npm packages carry: in their samples, and as strings in their tests and documentation.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const modules = join(dirname(fileURLToPath(import.meta.url)), "../node_modules");
const BUILT = new Set(["node_modules", "dist", "builds"]);
const LITERAL = /(["'`])((?:\\.|(?!\1)[^\\])*)\1/y;
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

// Strings that begin a message, with those that follow as its other segments.
function quoted(text) {
    return [...text.matchAll(/["'`]MSH\|/g)].flatMap(({ index }) => {
        let part = literal(text, index);
        if (!part) return [];
        let { value } = part;
        for (;;) {
            const next = /^(\s*[+,]\s*)["'`][A-Z][A-Z0-9]{2}\|/.exec(text.slice(part.end, part.end + 200));
            part = next && literal(text, part.end + next[1].length);
            if (!part) return [value];
            value += (next[1].includes(",") ? "\r" : "") + part.value;
        }
    });
}

const isSource = (file) => /\.(m?js|ts|md)$/.test(file);

export function messages(...packages) {
    return packages.flatMap((name) =>
        files(join(modules, name)).flatMap((file) => {
            const text = readFileSync(file, "utf8");
            return isSource(file) ? quoted(text) : text.split(/(?=^MSH\|)/m).filter((part) => part.startsWith("MSH|"));
        }),
    );
}
