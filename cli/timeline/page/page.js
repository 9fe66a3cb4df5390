// The page as a whole: views, filters, keys.

class Page {
    constructor() {
        const data = this.data = readData();
        this.summary = summarize(data);
        this.colours = colourMethods(data, this.summary.methods);
        this.picture = new Picture(data, makeLayout(data), this.colours);
        this.map = new Overview(this.picture);
        this.table = new Table(data, (item) => this.choose(item));
        this.detail = new Detail(data, { choose: (item) => this.choose(item), step: (by) => this.step(by), zoom: (item) => this.zoomTo(item) });
        this.mask = this.picture.mask = new Uint8Array(data.count).fill(2);
        this.list = data.items;
        this.view = "lanes";
        this.head();
        this.methods();
        this.listen();
        this.picture.draw();
    }

    at(id) {
        return document.getElementById(id);
    }

    head() {
        const { data, summary } = this, { facts } = data, box = this.at("summary");
        const add = (word, value, style = "") => box.append(element("div", { className: style }, element("dt", { text: word }), element("dd", { text: value })));
        const files = facts.files.map((file) => shown(file === "-" ? "standard input" : file.replace(/^.*\/(?=.)/, ""))).join(", ");
        const when = facts.unixMs ? new Date(facts.unixMs) : null;
        this.at("files").textContent = files + (when && !Number.isNaN(when.getTime()) ? " · " + when.toISOString().slice(0, 16).replace("T", " ") + " UTC" : "");
        this.at("files").title = facts.files.map(shown).join(", ");
        document.title = files + " · Duplex timeline";
        add("messages", countWord(facts.messages));
        add(data.lanes.length === 1 ? "conversation" : "conversations", countWord(data.lanes.length));
        add("duration", durationWord(data.finish - data.begin));
        add("requests", countWord(summary.requests));
        add("notifications", countWord(summary.notifications));
        add("failed", countWord(summary.failed), summary.failed ? "bad" : "");
        add("cancelled", countWord(summary.cancelled), summary.cancelled ? "late" : "");
        add("without response", countWord(summary.open), summary.open ? "late" : "");
        if (summary.marks) add("stray or broken", countWord(summary.marks), "bad");
        add("on the wire", bytesWord(summary.bytes));
        this.notices(facts);
    }

    // What this page does not have.
    notices(facts) {
        const notes = [];
        if (facts.leftByTime) notes.push(`${countWord(facts.leftByTime)} items are outside the selected time (--from, --to).`);
        if (facts.leftByMax) notes.push(`${countWord(facts.leftByMax)} more items are left out (--max).`);
        if (facts.textsCut) notes.push(`${countWord(facts.textsCut)} long texts are cut off (--max-text).`);
        if (facts.textsLeft) notes.push(`${countWord(facts.textsLeft)} texts are left out (--max-page).`);
        if (facts.forgot) notes.push("Too many requests were open at once: some responses could not be matched.");
        if (this.data.lanes.length > LANES_MAX) notes.push(`${countWord(this.data.lanes.length - LANES_MAX)} more conversations have no lanes; their items are in the table.`);
        if (this.summary.dropped) notes.push("Records are missing where the lanes are shaded: the recorder could not keep up.");
        this.at("notices").hidden = !notes.length;
        this.at("notices").append(...notes.map((text) => element("p", { text })));
    }

    methods() {
        const { data, summary } = this, shownMax = 500, body = element("tbody");
        const words = ["Method", "Messages", "Requests", "Failed", "Cancelled", "Unanswered", "p50", "p95", "Max"];
        const count = (number) => number ? countWord(number) : "";
        for (const method of summary.methods.slice(0, shownMax)) {
            const name = method.name >= 0 ? shown(data.names[method.name]) || "(empty)" : "(none)";
            const pick = element("button", { type: "button", title: "Show only this method" }, element("span", { className: "swatch c" + (method.requests ? this.colours[method.name + 1] : COLOURS - 1) }), name);
            pick.addEventListener("click", () => { this.at("method").value = String(method.name); this.filter(); this.open("lanes"); });
            const cells = [count(method.count), count(method.requests), count(method.failed), count(method.cancelled), count(method.open), ...[method.p50, method.p95, method.max].map(durationWord)];
            body.append(element("tr", {}, element("td", {}, pick), ...cells.map((text, i) => element("td", { text, className: ["", "", "error", "cancelled", "open"][i] || "" }))));
            this.at("method").append(element("option", { value: String(method.name), text: `${name.slice(0, 60)} (${countWord(method.count)})` }));
        }
        this.at("methods").append(element("table", {}, element("thead", {}, element("tr", {}, ...words.map((text) => element("th", { text, scope: "col" })))), body));
        if (summary.methods.length > shownMax) this.at("methods").append(element("p", { className: "more", text: `${countWord(summary.methods.length - shownMax)} more methods are not listed.` }));
    }

    // Filters.

    passes(item, wanted) {
        const { data } = this, code = data.code[item], kind = code & 15;
        if (wanted.method !== "" && data.name[item] !== wanted.method) return false;
        if (wanted.side && ((code >> 4) & 3) !== wanted.side) return false;
        if (wanted.errors && !(data.fate[item] !== FINE || (kind >= RESULT && kind <= STRAY) || kind === UNREAD)) return false;
        switch (wanted.kind) {
        case "requests": return kind === REQUEST;
        case "notifications": return kind === NOTIFICATION;
        case "marks": return kind >= RESULT && kind <= STDERR;
        case "events": return kind >= EVENT;
        default: return true;
        }
    }

    // What does not pass is gone; what is only not found stays, faintly.
    filter() {
        const { data, mask } = this, query = this.at("search").value.trim();
        const wanted = { method: this.at("method").value === "" ? "" : Number(this.at("method").value), kind: this.at("kind").value, side: Number(this.at("side").value), errors: this.at("errors").checked };
        const hits = query ? new Uint8Array(data.count) : null;
        if (query) search(data, query, hits);
        for (const item of data.items) mask[item] = !this.passes(item, wanted) ? 0 : !hits || hits[item] ? 2 : 1;
        this.picture.hasFaint = hits !== null;
        this.list = data.items.filter((item) => mask[item] === 2);
        const isAll = this.list.length === data.items.length;
        this.at("hits").value = isAll ? "" : countWord(this.list.length) + (this.list.length === 1 ? " item" : " items");
        this.at("clear").hidden = isAll && !query;
        this.query = query.replace(/^id:\s*/, "");
        this.map.forget();
        this.refresh();
    }

    clear() {
        for (const id of ["search", "method", "kind", "side"]) this.at(id).value = "";
        this.at("errors").checked = false;
        this.filter();
    }

    refresh() {
        if (this.view === "table") this.table.show(this.list);
        this.picture.redraw();
    }

    open(view) {
        this.view = view;
        for (const name of ["lanes", "table", "methods"]) {
            this.at(name + "-view").hidden = name !== view;
            this.at("tab-" + name).setAttribute("aria-selected", String(name === view));
        }
        this.refresh();
        if (view === "table" && this.detail.item >= 0) this.table.reveal(this.detail.item);
    }

    // Choosing.

    choose(item) {
        this.picture.chosen = item;
        this.detail.show(item, this.query);
        this.table.chosen = item;
        if (item < 0) { this.refresh(); return; }
        if (this.view === "table") this.table.reveal(item);
        // The detail may have taken some of the room.
        requestAnimationFrame(() => this.picture.reveal(item));
        this.at("said").textContent = `${KIND_WORDS[this.data.code[item] & 15]} ${nameOf(this.data, item)} ${fateOf(this.data, item)}`;
    }

    step(by) {
        const list = this.view === "table" ? this.table.list : this.list, at = list.indexOf(this.detail.item);
        const first = by > 0 ? list.find((item) => this.data.end[item] >= this.picture.from) : undefined;
        const next = at < 0 ? (first === undefined ? list[0] : first) : list[Math.min(list.length - 1, Math.max(0, at + by))];
        if (next !== undefined) this.choose(next);
    }

    zoomTo(item) {
        if (this.view !== "lanes") this.open("lanes");
        this.picture.showItem(item);
    }

    // Wires.

    listen() {
        for (const view of ["lanes", "table", "methods"]) this.at("tab-" + view).addEventListener("click", () => this.open(view));
        let timer = 0;
        this.at("search").addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(() => this.filter(), this.data.count > 200000 ? 400 : 120); });
        for (const id of ["method", "kind", "side", "errors"]) this.at(id).addEventListener("change", () => this.filter());
        this.at("tools").addEventListener("submit", (event) => { event.preventDefault(); this.filter(); this.step(1); });
        this.at("clear").addEventListener("click", () => this.clear());
        this.at("zoom-in").addEventListener("click", () => this.picture.zoom(0.5));
        this.at("zoom-out").addEventListener("click", () => this.picture.zoom(2));
        this.at("zoom-fit").addEventListener("click", () => { this.picture.fitAll(); this.picture.redraw(); });
        this.at("keys").addEventListener("click", () => this.help());
        this.at("stage").addEventListener("scroll", () => this.picture.redraw());
        new ResizeObserver(() => this.refresh()).observe(document.querySelector("main"));
        matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { this.picture.readColours(); this.picture.redraw(); });
        document.addEventListener("keydown", (event) => this.onKey(event));
        this.listenPointer();
    }

    help(isShown = this.at("help").hidden) {
        this.at("help").hidden = !isShown;
        this.at("keys").setAttribute("aria-expanded", String(isShown));
    }

    listenPointer() {
        const { picture } = this, { canvas, stage } = picture;
        let start = null;
        canvas.addEventListener("pointerdown", (event) => {
            start = { x: event.offsetX, y: event.clientY, from: picture.from, to: picture.to, top: stage.scrollTop, moved: false };
            canvas.setPointerCapture(event.pointerId);
        });
        canvas.addEventListener("pointermove", (event) => {
            if (!start) { this.hover(event); return; }
            const by = event.offsetX - start.x;
            if (!start.moved && Math.abs(by) + Math.abs(event.clientY - start.y) < 4) return;
            start.moved = true;
            canvas.classList.add("moving");
            this.at("tip").hidden = true;
            const time = by / (picture.width - GUTTER) * (start.to - start.from);
            picture.show(start.from - time, start.to - time);
            stage.scrollTop = start.top - (event.clientY - start.y);
        });
        canvas.addEventListener("pointerup", (event) => {
            if (start && !start.moved) this.choose(picture.itemAt(event.offsetX, event.offsetY));
            start = null;
            canvas.classList.remove("moving");
        });
        canvas.addEventListener("pointercancel", () => { start = null; });
        canvas.addEventListener("pointerleave", () => this.hover(null));
        canvas.addEventListener("dblclick", (event) => {
            const item = picture.itemAt(event.offsetX, event.offsetY);
            if (item >= 0) picture.showItem(item);
            else picture.zoom(0.4, picture.timeAt(event.offsetX));
        });
        canvas.addEventListener("wheel", (event) => {
            if (event.offsetX < GUTTER) return; // over the names it scrolls
            event.preventDefault();
            const across = event.shiftKey ? event.deltaY || event.deltaX : event.deltaX;
            if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) picture.move(across / (picture.width - GUTTER));
            else picture.zoom(Math.exp(event.deltaY / 400), picture.timeAt(event.offsetX));
        }, { passive: false });
    }

    hover(event) {
        const { picture, data } = this, tip = this.at("tip"), item = event ? picture.itemAt(event.offsetX, event.offsetY) : -1;
        if (item !== picture.over) { picture.over = item; picture.redraw(); }
        picture.canvas.classList.toggle("over", item >= 0);
        tip.hidden = item < 0;
        if (item < 0) return;
        const kind = data.code[item] & 15;
        const more = kind === REQUEST ? ` · ${durationWord(data.end[item] - data.time[item])} · ${FATE_WORDS[data.fate[item]]}` : ` · ${KIND_WORDS[kind]}`;
        tip.replaceChildren(element("b", { text: nameOf(data, item) || KIND_WORDS[kind] }), more + ` · at ${durationWord(data.time[item])}`);
        const left = event.offsetX + 14 + tip.offsetWidth > picture.width ? event.offsetX - tip.offsetWidth - 10 : event.offsetX + 14;
        tip.style.left = Math.max(4, left) + "px";
        tip.style.top = Math.min(event.offsetY + 16, picture.height - tip.offsetHeight - 4) + "px";
    }

    onKey(event) {
        const isField = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) && event.target.type !== "checkbox";
        if (event.key === "Escape") {
            if (!this.at("help").hidden) this.help(false);
            else if (this.detail.item >= 0) this.choose(-1);
            else if (isField) event.target.blur();
            return;
        }
        if (isField || event.ctrlKey || event.metaKey || event.altKey) return;
        const { picture } = this, isTable = event.target === this.table.box;
        const inMap = event.target === picture.map || event.target === picture.canvas || event.target === document.body;
        const actions = {
            "+": () => picture.zoom(0.6), "=": () => picture.zoom(0.6), "-": () => picture.zoom(1 / 0.6), 0: () => { picture.fitAll(); picture.redraw(); },
            n: () => this.step(1), p: () => this.step(-1), "/": () => this.at("search").focus(), "?": () => this.help(),
            1: () => this.open("lanes"), 2: () => this.open("table"), 3: () => this.open("methods"),
        };
        const moves = {
            ArrowLeft: () => picture.move(-0.1), ArrowRight: () => picture.move(0.1), PageUp: () => picture.move(-0.8), PageDown: () => picture.move(0.8),
            ArrowUp: () => { picture.stage.scrollTop -= 60; }, ArrowDown: () => { picture.stage.scrollTop += 60; },
            Home: () => picture.show(this.data.begin, this.data.begin + picture.to - picture.from), End: () => picture.show(this.data.finish - picture.to + picture.from, this.data.finish),
            Enter: () => { if (this.detail.item < 0) this.step(1); else this.zoomTo(this.detail.item); },
        };
        const action = Object.hasOwn(actions, event.key) ? actions[event.key] : inMap && !isTable && Object.hasOwn(moves, event.key) ? moves[event.key] : null;
        if (!action) return;
        event.preventDefault();
        action();
    }
}

let page = null;
try {
    page = new Page();
} catch (error) {
    // A page that was cut off, or a browser that is too old.
    document.getElementById("notices").hidden = false;
    document.getElementById("notices").textContent = "This page can't be shown; it may be incomplete. " + error;
}
