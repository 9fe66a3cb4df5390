// One item, with all that is known about it.

class Detail {
    constructor(data, { choose, step, zoom }) {
        Object.assign(this, { data, choose, step, zoom, item: -1 });
        this.box = document.getElementById("detail");
    }

    show(item, query) {
        this.item = item;
        this.box.hidden = item < 0;
        if (item < 0) return;
        const body = element("div", { className: "detail-body", tabIndex: 0 }, this.facts(item), ...this.texts(item));
        if (query) markAll(body, query);
        this.box.replaceChildren(this.head(item), body);
    }

    head(item) {
        const button = (text, label, action) => {
            const made = element("button", { type: "button", text, title: label, "aria-label": label });
            made.addEventListener("click", action);
            return made;
        };
        return element("div", { className: "detail-head" }, element("h2", { text: nameOf(this.data, item) || KIND_WORDS[this.data.code[item] & 15] }),
            button("↑", "Previous item", () => this.step(-1)), button("↓", "Next item", () => this.step(1)),
            button("⤢", "Zoom to this item", () => this.zoom(item)), button("✕", "Close", () => this.choose(-1)));
    }

    facts(item) {
        const { data } = this, kind = data.code[item] & 15, answer = kind === REQUEST ? data.partner[item] : -1;
        const list = element("dl", { className: "facts" });
        const add = (word, text, style = "") => { if (text !== "") list.append(element("dt", { text: word }), element("dd", { text, className: style })); };
        add("kind", KIND_WORDS[kind] + (kind === REQUEST ? ", " + FATE_WORDS[data.fate[item]] : kind <= ERROR ? " " + fateOf(data, item) : ""), kind === REQUEST ? FATE_CLASSES[data.fate[item]] : "");
        add("sent by", SIDE_WORDS[(data.code[item] >> 4) & 3]);
        add("conversation", data.lane[item] >= 0 ? data.lanes[data.lane[item]].label : "");
        add("id", shown(idOf(data, item)));
        add("sent at", this.moment(data.time[item]));
        if (answer >= 0) add("response at", this.moment(data.time[answer]));
        if (data.cancelled[item] >= 0) add("cancelled at", this.moment(data.time[data.cancelled[item]]));
        if (kind === REQUEST) add(answer >= 0 ? "took" : "waited for", durationWord(data.end[item] - data.time[item]) + (answer < 0 ? " or longer" : ""));
        add("bytes", countWord(data.bytes[item]) + (answer >= 0 ? ", response " + countWord(data.bytes[answer]) : ""));
        return list;
    }

    moment(time) {
        const { unixMs } = this.data.facts, date = new Date(unixMs + time / 1000);
        const clock = unixMs && !Number.isNaN(date.getTime()) ? ` (${date.toISOString().replace("T", " ").replace("Z", " UTC")})` : "";
        return timeWord(time, 1) .replace(" µs", "") + " µs" + clock;
    }

    texts(item) {
        const { data } = this, kind = data.code[item] & 15, parts = [[kind <= ERROR ? KIND_WORDS[kind] : "text", item]];
        if (kind === REQUEST && data.cancelled[item] >= 0) parts.push(["cancelled by", data.cancelled[item]]);
        if (data.partner[item] >= 0) parts.push([kind === REQUEST ? KIND_WORDS[data.code[data.partner[item]] & 15] === "error" ? "error" : "response" : "request", data.partner[item]]);
        return parts.flatMap(([word, one]) => {
            const copy = element("button", { type: "button", text: "copy" });
            copy.addEventListener("click", () => copyText(textOf(data, one).text, copy));
            return [element("h3", {}, word, copy), ...pretty(data, one)];
        });
    }
}

// A page from a file may have no clipboard; then the text is marked by hand.
async function copyText(text, button) {
    try {
        await navigator.clipboard.writeText(text);
        button.textContent = "copied";
    } catch {
        const area = element("textarea", { value: text });
        document.body.append(area);
        area.select();
        button.textContent = document.execCommand("copy") ? "copied" : "failed";
        area.remove();
    }
    setTimeout(() => { button.textContent = "copy"; }, 1500);
}

// Marks what was looked for, within single pieces of text.
function markAll(box, query) {
    const walker = document.createTreeWalker(box, NodeFilter.SHOW_TEXT), nodes = [];
    while (walker.nextNode() && nodes.length < 5000) nodes.push(walker.currentNode);
    const wanted = new RegExp(Array.from(query, formsOf).join(""), "i");
    for (const node of nodes) {
        const match = wanted.exec(node.data);
        if (!match || !match[0] || !node.parentNode.closest("pre")) continue;
        const found = node.splitText(match.index);
        found.splitText(match[0].length);
        found.replaceWith(element("mark", { text: found.data }));
    }
}
