// The texts of messages: found, searched, and shown as texts, never as a part of the page.

// Blocks that were looked at last, cut into lines.
const recent = new Map();
const RECENT_MAX = 40;

function linesOf(block) {
    let lines = recent.get(block);
    if (!lines) {
        lines = document.getElementById("t" + block).textContent.split("\n");
        if (recent.size >= RECENT_MAX) recent.delete(recent.keys().next().value);
        recent.set(block, lines);
    }
    return lines;
}

function blockOf(data, item) {
    let low = 0, high = data.blocks.length - 1;
    while (low < high) {
        const middle = (low + high + 1) >> 1;
        if (data.blocks[middle].first <= item) low = middle;
        else high = middle - 1;
    }
    return low;
}

// JSON as it came: "<" stands there as \x3c, which JSON itself has not.
const restored = (text) => text.replace(/\\(?:x3c|[^])/g, (found) => found === "\\x3c" ? "<" : found);

// { text, isJson, isBytes, length }: length is that of the whole, if this is only its beginning.
function textOf(data, item) {
    const block = blockOf(data, item), place = item - data.blocks[block].first;
    const code = data.code[item], line = linesOf(block)[place] || "";
    const isJson = (code & IS_JSON) !== 0;
    let text = isJson ? restored(line) : line;
    if (!isJson) {
        try { text = JSON.parse(line); } catch { text = line; }
    }
    return { text, isJson, isBytes: (code & IS_BYTES) !== 0, length: code & IS_CUT ? data.blocks[block].cut.get(place) || 0 : 0 };
}

// The tokens of a JSON text; what is none (the text may be cut) is one up to the end.
const TOKEN = /\s*("[^"\\]*(?:\\[^][^"\\]*)*"|[{}[\],:]|[^\s"{}[\],:]+|"[^]*)/y;

function* tokensOf(text) {
    const token = new RegExp(TOKEN);
    for (let found; (found = token.exec(text)); ) yield found[1];
}

// The id as it stands in the message; "" if there is none.
const ids = new Map();

function idOf(data, item) {
    if ((data.code[item] & 15) > ERROR) return "";
    if (!ids.has(item)) {
        if (ids.size > 20000) ids.clear();
        ids.set(item, findId(data, item));
    }
    return ids.get(item);
}

// It looks no further than needed, nor for ever.
function findId(data, item) {
    let depth = 0, state = 0, before = "", id = "", inside = 0, steps = 0;
    for (const token of tokensOf(textOf(data, item).text)) {
        if (++steps > 20000) return "…";
        if (state === 2) {
            id += token;
            if (token === "{" || token === "[") inside++;
            else if (token === "}" || token === "]") inside--;
            if (!inside || id.length > 200) return id.slice(0, 200);
            continue;
        }
        if (state === 1) { state = token === ":" ? 2 : 0; continue; }
        if (token === "{" || token === "[") depth++;
        else if (token === "}" || token === "]") depth--;
        if (depth === 1 && token === '"id"' && (before === "{" || before === ",")) state = 1;
        before = token;
    }
    return "";
}

// Searching.

const escaped = (text) => text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");

// How a character may stand in a message: JSON has several ways to write most of them.
function formsOf(c) {
    if (c === '"' || c === "/") return "\\\\?" + escaped(c);
    if (c === "\\") return "\\\\{1,2}";
    if (c !== "<" && c < "\u0080") return escaped(c);
    const codes = (text) => Array.from({ length: text.length }, (_, i) => "\\\\u" + text.charCodeAt(i).toString(16).padStart(4, "0")).join("");
    return `(?:${[...new Set([escaped(c), ...(c === "<" ? ["\\\\x3c"] : []), codes(c), codes(c.toLowerCase()), codes(c.toUpperCase())])].join("|")})`;
}

// What is looked for: letters in any case, in names and in texts; with "id:" the id of a message.
function matcherOf(query) {
    const id = /^id:\s*(.+)$/.exec(query), forms = Array.from(id ? id[1] : query, formsOf).join("");
    if (!id) return { text: new RegExp(forms, "i"), name: new RegExp(escaped(query), "i"), isIt: () => true };
    // Other members are called "id", too.
    const value = `(?:${forms}|"${forms}")`, whole = new RegExp(`^(?:${value}|…)$`);
    return { text: new RegExp(`"id"\\s*:\\s*${value}\\s*[,}]`), name: null, isIt: (data, i) => whole.test(idOf(data, i)) };
}

// Marks what was found in `hits` (1 for each item). Answers mark their questions.
function search(data, query, hits) {
    const { text, name, isIt } = matcherOf(query);
    const named = data.names.map((one) => name !== null && name.test(one));
    const hit = (i) => { hits[isAnswered(data, i) ? data.partner[i] : i] = 1; };
    for (let i = 0; i < data.count; i++) if (data.name[i] >= 0 && named[data.name[i]]) hit(i);
    data.blocks.forEach(({ first }, number) => {
        const all = document.getElementById("t" + number).textContent;
        if (!text.test(all)) return;
        all.split("\n").forEach((line, place) => { if (text.test(line) && isIt(data, first + place)) hit(first + place); });
    });
}

// Showing.

const SHOWN_TOKENS = 20000, SHOWN_TEXT = 200000, INDENT_MAX = 40;

function element(tag, { text, ...members } = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(members)) {
        if (name.includes("-") || name === "role") made.setAttribute(name, value);
        else made[name] = value;
    }
    if (text !== undefined) made.textContent = text;
    made.append(...children);
    return made;
}

// Bytes that are no text, sixteen a line.
function dump(text) {
    const lines = [];
    for (let at = 0; at < text.length && lines.length < 2048; at += 16) {
        const codes = Array.from(text.slice(at, at + 16), (c) => c.charCodeAt(0) & 255);
        const hex = codes.map((code) => code.toString(16).padStart(2, "0")).join(" ");
        const letters = codes.map((code) => code >= 32 && code < 127 ? String.fromCharCode(code) : "·").join("");
        lines.push(at.toString(16).padStart(6, "0") + "  " + hex.padEnd(48) + letters);
    }
    return lines.join("\n");
}

// Keeps line ends, tells the rest of what can't be seen.
const visible = (text) => text.replace(/[^\n\t]+/g, shown);

// Indents JSON token by token: numbers, escapes and repeated members stay as they came. Returns whether all fits.
function indent(text, into) {
    let depth = 0, count = 0, line = "", before = "";
    const flush = () => { if (line) into.append(line); line = ""; };
    const newline = () => { line += "\n" + "  ".repeat(Math.min(depth, INDENT_MAX)); };
    for (const token of tokensOf(text)) {
        if (++count > SHOWN_TOKENS) { flush(); return false; }
        const opens = token === "{" || token === "[", closes = token === "}" || token === "]";
        if (closes) {
            depth = Math.max(0, depth - 1);
            if (before !== "{" && before !== "[") newline();
        } else if (before === "{" || before === "[" || before === ",") {
            newline();
        }
        if (opens) depth++;
        if (opens || closes || token === ",") line += token;
        else if (token === ":") line += ": ";
        else {
            flush();
            into.append(element("span", { className: token[0] === '"' ? "string" : "other", text: shown(token) }));
        }
        if (token === ":" && into.lastChild && into.lastChild.className === "string") into.lastChild.className = "name";
        before = token;
    }
    flush();
    return true;
}

function pretty(data, item) {
    const { text, isJson, isBytes, length } = textOf(data, item);
    const box = element("pre"), part = text.slice(0, SHOWN_TEXT);
    const isWhole = isJson ? indent(part, box) : (box.append(isBytes ? dump(part) : visible(part)), true);
    const notes = [];
    if (length && !text) notes.push(`The text (${bytesWord(length)}) is not part of this page.`);
    else if (length) notes.push(`Only the beginning of ${bytesWord(length)} is part of this page.`);
    if (!isWhole || part.length < text.length) notes.push("Only a part is shown here; copy takes all of it.");
    return [box, ...notes.map((note) => element("p", { className: "more", text: note }))];
}
