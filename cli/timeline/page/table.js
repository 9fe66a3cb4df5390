// The same items as a table, of which only the rows exist that are seen.

const ROW_HEIGHT = 26;
// Browsers can't scroll further than some millions of pixels: a longer table scrolls in larger steps.
const ROOM_MAX = 4e6;
const COLUMNS = [
    ["time", "Time", "number"], ["lane", "Conversation", ""], ["side", "From", ""], ["kind", "Kind", ""], ["name", "Method", "mono"],
    ["id", "Id", "mono"], ["took", "Took", "number"], ["bytes", "Bytes", "number"], ["fate", "Outcome", ""],
];
const SORTS = ["time", "name", "took", "bytes"];

class Table {
    constructor(data, choose) {
        Object.assign(this, { data, choose, list: data.items, sort: "time", chosen: -1 });
        this.box = document.getElementById("table");
        this.room = document.getElementById("table-room");
        this.rows = document.getElementById("table-rows");
        this.makeHead();
        this.box.addEventListener("scroll", () => this.draw());
        this.box.addEventListener("keydown", (event) => this.onKey(event));
        this.rows.addEventListener("click", (event) => {
            const row = event.target.closest(".row");
            if (row) this.choose(Number(row.dataset.item));
        });
    }

    makeHead() {
        const head = document.getElementById("table-head");
        for (const [key, word, style] of COLUMNS) {
            if (!SORTS.includes(key)) { head.append(element("span", { text: word, role: "columnheader" })); continue; }
            const button = element("button", { type: "button", text: word, className: style, title: "Sort by this column" });
            button.dataset.sort = key;
            button.addEventListener("click", () => { this.sort = key; this.show(this.list); });
            head.append(button);
        }
    }

    // Shows these, in the order that is chosen.
    show(list) {
        const { data } = this, took = (i) => data.end[i] - data.time[i];
        const orders = {
            time: (one, two) => data.time[one] - data.time[two] || one - two,
            name: (one, two) => (data.names[data.name[one]] || "").localeCompare(data.names[data.name[two]] || "") || one - two,
            took: (one, two) => took(two) - took(one) || one - two,
            bytes: (one, two) => data.bytes[two] - data.bytes[one] || one - two,
        };
        this.list = list.slice().sort(orders[this.sort]);
        for (const button of document.querySelectorAll("#table-head button")) {
            if (button.dataset.sort === this.sort) button.setAttribute("aria-sort", this.sort === "time" || this.sort === "name" ? "ascending" : "descending");
            else button.removeAttribute("aria-sort");
        }
        this.box.setAttribute("aria-rowcount", String(this.list.length));
        this.draw();
    }

    // Which row is at the top, and how much of the list a pixel is.
    measure() {
        const height = this.box.clientHeight, fit = Math.max(1, Math.floor(height / ROW_HEIGHT));
        const room = Math.max(height, Math.min(this.list.length * ROW_HEIGHT, ROOM_MAX));
        const most = Math.max(0, this.list.length - fit);
        return { height, fit, room, most, scale: room > height ? most / (room - height) : 0 };
    }

    draw() {
        if (!this.box.clientHeight) return;
        const { height, fit, room, most, scale } = this.measure();
        this.room.style.height = room + "px";
        this.rows.style.height = height + "px";
        const top = Math.min(most, Math.round(this.box.scrollTop * scale));
        const rows = [];
        for (let at = top; at < Math.min(this.list.length, top + fit + 1); at++) rows.push(this.makeRow(this.list[at], at));
        this.rows.replaceChildren(...rows);
    }

    makeRow(item, at) {
        const { data } = this, kind = data.code[item] & 15, isRequest = kind === REQUEST;
        const values = {
            time: timeWord(data.time[item], 1000), lane: data.lane[item] >= 0 ? data.lanes[data.lane[item]].label : "", side: SIDE_WORDS[(data.code[item] >> 4) & 3],
            kind: KIND_WORDS[kind], name: nameOf(data, item), id: shown(idOf(data, item)), bytes: data.bytes[item].toLocaleString("en"),
            took: isRequest ? durationWord(data.end[item] - data.time[item]) : "", fate: fateOf(data, item),
        };
        const isBad = kind >= JUNK && kind <= STRAY;
        const row = element("div", { className: "row", role: "row", "aria-rowindex": String(at + 1), "aria-selected": String(item === this.chosen) });
        row.dataset.item = String(item);
        for (const [key, , style] of COLUMNS) {
            const colour = key === "fate" && isRequest ? FATE_CLASSES[data.fate[item]] : key === "kind" && isBad ? "mark" : "";
            row.append(element("span", { className: `${style} ${colour}`, text: values[key], role: "gridcell" }));
        }
        return row;
    }

    reveal(item) {
        const at = this.list.indexOf(item), { fit, scale } = this.measure();
        this.chosen = item;
        if (at >= 0 && scale) {
            const top = Math.round(this.box.scrollTop * scale);
            if (at < top) this.box.scrollTop = at / scale;
            else if (at >= top + fit) this.box.scrollTop = (at - fit + 1) / scale;
        }
        this.draw();
    }

    onKey(event) {
        const { fit } = this.measure(), steps = { ArrowDown: 1, ArrowUp: -1, PageDown: fit, PageUp: -fit, Home: -Infinity, End: Infinity };
        const step = steps[event.key];
        if (step === undefined || !this.list.length) return;
        event.preventDefault();
        const at = this.list.indexOf(this.chosen);
        this.choose(this.list[Math.min(this.list.length - 1, Math.max(0, at + step))]);
    }
}

// The method, or what else says what an item is.
function nameOf(data, item) {
    const kind = data.code[item] & 15;
    if (data.name[item] >= 0) return shown(data.names[data.name[item]]);
    if (kind === DROPPED) return countWord(Number(textOf(data, item).text)) + " records are missing";
    return kind >= BROKEN ? shown(textOf(data, item).text.slice(0, 120).trimEnd()) : "";
}

function fateOf(data, item) {
    const kind = data.code[item] & 15;
    if (kind === RESULT || kind === ERROR) return "without a request";
    if (kind === NOTIFICATION && data.partner[item] >= 0) return "cancels a request";
    return kind === REQUEST ? FATE_WORDS[data.fate[item]] : "";
}
