// The picture: lanes, their axis, and the map of the whole above them.

function durationWord(us) {
    if (!Number.isFinite(us)) return "";
    const size = Math.abs(us), digits = (number) => String(Number(number.toPrecision(3)));
    if (size < 1000) return digits(us) + " µs";
    if (size < 1e6) return digits(us / 1000) + " ms";
    if (size < 6e7) return digits(us / 1e6) + " s";
    if (size < 3.6e9) return digits(us / 6e7) + " min";
    return size < 8.64e10 ? digits(us / 3.6e9) + " h" : digits(us / 8.64e10) + " d";
}

function bytesWord(bytes) {
    if (bytes < 1024) return bytes + " B";
    const power = Math.min(4, Math.floor(Math.log2(bytes) / 10));
    return Number((bytes / 1024 ** power).toPrecision(3)) + " " + ["", "KiB", "MiB", "GiB", "TiB"][power];
}

const countWord = (count) => count.toLocaleString("en");

// A time with as many digits as the step between two of them asks for.
function timeWord(us, step) {
    const [unit, word] = step >= 1e6 ? [1e6, " s"] : step >= 1000 ? [1000, " ms"] : [1, " µs"];
    const digits = Math.max(0, Math.ceil(-Math.log10(step / unit) - 1e-9));
    return (us / unit).toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits }) + word;
}

function stepFor(span, count) {
    const rough = span / count, power = 10 ** Math.floor(Math.log10(rough));
    return Math.max(1, power * [1, 2, 5, 10].find((factor) => power * factor >= rough * 0.999));
}

class Picture {
    constructor(data, layout, colours) {
        Object.assign(this, { data, layout, colours });
        this.canvas = document.getElementById("lanes");
        this.stage = document.getElementById("stage");
        this.map = document.getElementById("map");
        this.mask = null; // what the filters leave: 0 nothing, 1 faint, 2 plain
        this.from = data.begin;
        this.to = data.finish;
        this.hasFaint = this.isDrawn = false;
        this.chosen = this.over = -1;
        this.pending = false;
        this.fitAll();
        this.readColours();
    }

    // A little room at both ends.
    fitAll() {
        const room = (this.data.finish - this.data.begin) * 0.015;
        [this.from, this.to] = [this.data.begin - room, this.data.finish + room];
    }

    readColours() {
        const style = getComputedStyle(document.documentElement);
        const colour = (name) => style.getPropertyValue("--" + name).trim();
        this.paint = Object.fromEntries(["back", "card", "ink", "dim", "line", "soft", "accent", "error", "cancelled", "open", "mark", "gap", "label", "lane-other"].map((name) => [name, colour(name)]));
        this.methodPaint = Array.from({ length: COLOURS }, (_, i) => colour("c" + i));
        this.mapBase = null;
    }

    // One drawing a frame, however much has changed.
    redraw() {
        if (this.pending) return;
        this.pending = true;
        requestAnimationFrame(() => { this.pending = false; this.draw(); });
    }

    // The canvas has the size of its place, in the pixels of the screen.
    fit(canvas, width, height) {
        const ratio = window.devicePixelRatio || 1;
        if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
            canvas.width = Math.round(width * ratio);
            canvas.height = Math.round(height * ratio);
            if (canvas === this.canvas) { canvas.style.width = width + "px"; canvas.style.height = height + "px"; }
        }
        const brush = canvas.getContext("2d");
        brush.setTransform(ratio, 0, 0, ratio, 0, 0);
        return brush;
    }

    x(time) {
        return GUTTER + (time - this.from) / (this.to - this.from) * (this.width - GUTTER);
    }

    timeAt(x) {
        return this.from + (x - GUTTER) / (this.width - GUTTER) * (this.to - this.from);
    }

    draw() {
        this.width = Math.max(this.stage.clientWidth, GUTTER + 50);
        this.height = Math.max(this.stage.clientHeight, 60);
        document.getElementById("tall").style.height = Math.max(this.height, this.layout.height) + "px";
        const brush = this.brush = this.fit(this.canvas, this.width, this.height);
        this.scroll = this.stage.scrollTop;
        brush.clearRect(0, 0, this.width, this.height);
        brush.textBaseline = "middle";
        const talks = this.layout.talks.filter((talk) => talk.top - this.scroll < this.height && talk.top + talk.height - this.scroll > 0);
        talks.forEach((talk) => this.drawGround(talk));
        this.drawGrid();
        this.drawGaps();
        brush.save();
        brush.beginPath();
        brush.rect(GUTTER, AXIS, this.width - GUTTER, this.height - AXIS);
        brush.clip();
        if (this.hasFaint) talks.forEach((talk) => this.drawTalk(talk, true));
        talks.forEach((talk) => this.drawTalk(talk, false));
        this.drawChosen();
        brush.restore();
        talks.forEach((talk) => this.drawNames(talk));
        this.drawAxis();
        this.drawMap();
        if (!this.isDrawn) performance.mark("drawn");
        this.isDrawn = true;
    }

    drawGround(talk) {
        const { brush, paint } = this, top = talk.top - this.scroll;
        brush.fillStyle = paint.soft;
        brush.fillRect(0, top, this.width, HEAD - 4);
        talk.lanes.forEach((lane, i) => {
            if (i === 0) return;
            brush.fillStyle = paint["lane-other"];
            brush.fillRect(0, lane.top - this.scroll, this.width, lane.height);
        });
    }

    drawGrid() {
        const { brush, paint } = this;
        this.step = stepFor(this.to - this.from, Math.max(2, (this.width - GUTTER) / 120));
        brush.fillStyle = paint.line;
        for (let time = this.firstStep(); time <= this.to; time += this.step) brush.fillRect(Math.round(this.x(time)), AXIS - 6, 1, this.height);
    }

    firstStep() {
        return Math.ceil(this.from / this.step) * this.step || 0; // not -0
    }

    drawAxis() {
        const { brush, paint } = this;
        brush.fillStyle = paint.card;
        brush.fillRect(0, 0, this.width, AXIS);
        brush.fillStyle = paint.line;
        brush.fillRect(0, AXIS - 1, this.width, 1);
        brush.fillStyle = paint.dim;
        brush.font = "11px system-ui, sans-serif";
        for (let time = this.firstStep(); time <= this.to; time += this.step) {
            const x = this.x(time);
            if (x > this.width - 50 || x < GUTTER) continue;
            brush.fillText(timeWord(time, this.step), x + 4, AXIS / 2);
        }
        brush.fillText(durationWord(this.to - this.from) + " shown", 12, AXIS / 2);
    }

    // Where records are missing, nobody knows what was said.
    drawGaps() {
        const { brush, paint } = this;
        let last = -10;
        for (const gap of this.layout.gaps) {
            const from = Math.max(GUTTER, this.x(gap.from)), to = Math.min(this.width, Math.max(this.x(gap.to), this.x(gap.from) + 2));
            if (to < GUTTER || from > this.width || !this.mask[gap.item] || to - last < 1) continue;
            last = to;
            brush.fillStyle = paint.gap;
            brush.globalAlpha = 0.55;
            brush.fillRect(from, AXIS, to - from, this.height);
            brush.globalAlpha = 1;
            if (to - from > 8) this.hatch(from, AXIS, to - from, this.height - AXIS, paint.line);
        }
    }

    hatch(x, y, width, height, colour) {
        const { brush } = this;
        brush.save();
        brush.beginPath();
        brush.rect(x, y, width, height);
        brush.clip();
        brush.strokeStyle = colour;
        brush.beginPath();
        for (let at = x - height; at < x + width; at += 10) { brush.moveTo(at, y + height); brush.lineTo(at + height, y); }
        brush.stroke();
        brush.restore();
    }

    drawNames(talk) {
        const { brush, paint } = this, top = talk.top - this.scroll;
        brush.fillStyle = paint.card;
        brush.globalAlpha = 0.9;
        brush.fillRect(0, top + HEAD - 4, GUTTER - 1, talk.height - HEAD + 4);
        brush.globalAlpha = 1;
        brush.font = "600 12px system-ui, sans-serif";
        const label = clipped(brush, talk.lane.label, 400);
        brush.fillStyle = paint.soft;
        brush.fillRect(0, top, Math.max(GUTTER - 1, brush.measureText(label).width + 24), HEAD - 4);
        brush.fillStyle = paint.ink;
        brush.fillText(label, 12, top + (HEAD - 4) / 2);
        brush.font = "11px system-ui, sans-serif";
        brush.fillStyle = paint.dim;
        for (const lane of talk.lanes) {
            const at = lane.top - this.scroll + PAD + ROW / 2;
            if (lane.rows.length) brush.fillText(SIDE_WORDS[lane.side] + " requests", 24, at);
            if (lane.waiting.items.length) brush.fillText(SIDE_WORDS[lane.side] + " waiting", 24, at + lane.waitingTop);
            if (lane.ticks.items.length) brush.fillText(SIDE_WORDS[lane.side] + " notifications", 24, at + lane.ticksTop);
        }
        brush.fillStyle = paint.line;
        brush.fillRect(GUTTER - 1, top + HEAD - 4, 1, talk.height - HEAD + 4);
    }

    drawTalk(talk, faint) {
        for (const lane of talk.lanes) {
            const top = lane.top - this.scroll + PAD;
            if (top > this.height || top + lane.height < 0) continue;
            this.brush.globalAlpha = faint ? 0.16 : 1;
            lane.rows.forEach((row, i) => {
                this.drawBars(row, top + i * ROW, faint, false);
                this.drawBars(row, top + i * ROW, faint, true);
            });
            this.drawWaiting(lane.waiting, top + lane.waitingTop, faint);
            this.drawTicks(lane, top + lane.ticksTop, faint);
        }
        this.drawEvents(talk, faint);
        this.brush.globalAlpha = 1;
    }

    // Those that went wrong come second, so that none of the others hides them. Where many lie in one
    // pixel, one is drawn.
    drawBars({ items, reach }, y, faint, wrong) {
        const { brush, data, mask } = this, wanted = faint ? 1 : 2;
        const top = y + (ROW - BAR) / 2;
        let lastX = -10, lastStyle = "";
        brush.font = "11px system-ui, sans-serif";
        for (let i = lowerBound(reach, this.from); i < items.length; i++) {
            const item = items[i], fate = data.fate[item];
            if (data.time[item] > this.to) break;
            if (mask[item] !== wanted || (fate !== FINE) !== wrong) continue;
            const x = Math.max(this.x(data.time[item]), GUTTER - 8), end = Math.min(this.x(data.end[item]), this.width + 8);
            const width = Math.max(1.5, end - x);
            if (width < 3 && x - lastX < 1) continue;
            lastX = x;
            const style = this.styleOf(item, fate);
            if (style !== lastStyle) brush.fillStyle = lastStyle = style;
            // Many that are as thin as this would look like more than they are.
            if (width < 3 && wrong) { brush.fillRect(x, top + BAR / 2, width, BAR / 2); continue; }
            if (width < 5) { brush.fillRect(x, top, width, BAR); continue; }
            brush.beginPath();
            brush.roundRect(x, top, width, BAR, 3);
            brush.fill();
            if (fate === CANCELLED) this.hatch(x, top, width, BAR, this.paint.card);
            if (width > 34) this.drawLabel(item, x, top, width, fate);
            lastStyle = "";
        }
    }

    styleOf(item, fate) {
        if (fate === FAILED) return this.paint.error;
        if (fate === CANCELLED) return this.paint.cancelled;
        return this.methodPaint[this.colours[this.data.name[item] + 1]];
    }

    drawLabel(item, x, top, width, fate) {
        const { brush } = this, name = this.data.names[this.data.name[item]];
        if (!name) return;
        brush.fillStyle = fate === CANCELLED ? this.paint.ink : this.paint.label;
        const left = Math.max(x, GUTTER), room = x + width - left - 10;
        let text = clipped(brush, shown(name), room);
        // The end of "textDocument/hover" says more than its beginning.
        if (text.endsWith("…")) text = clipped(brush, shown(name.slice(name.lastIndexOf("/") + 1)), room);
        if (text.length > 2) brush.fillText(text, left + 5, top + BAR / 2 + 0.5);
    }

    // A head where it was asked, and a tail that fades away.
    drawWaiting({ items, reach }, y, faint) {
        const { brush, data, mask, paint } = this, wanted = faint ? 1 : 2, top = y + (ROW - BAR) / 2;
        let lastX = -10;
        for (let i = lowerBound(reach, this.timeAt(GUTTER - TAIL)); i < items.length; i++) {
            const item = items[i], x = this.x(data.time[item]);
            if (data.time[item] > this.to) break;
            if (mask[item] !== wanted || x - lastX < 2) continue;
            lastX = x;
            const fade = brush.createLinearGradient(x, 0, x + TAIL, 0);
            fade.addColorStop(0, paint.open);
            fade.addColorStop(1, "transparent");
            brush.fillStyle = fade;
            brush.fillRect(x, top, Math.min(TAIL, this.x(data.end[item]) - x), BAR);
            brush.fillStyle = paint.cancelled;
            brush.fillRect(x, top, 3, BAR);
        }
    }

    drawTicks({ ticks: { items, reach } }, y, faint) {
        const { brush, data, mask, paint } = this, wanted = faint ? 1 : 2;
        let lastX = -10, lastKind = 0;
        for (let i = lowerBound(reach, this.from); i < items.length; i++) {
            const item = items[i], kind = data.code[item] & 15;
            if (data.time[item] > this.to) break;
            if (mask[item] !== wanted) continue;
            const x = this.x(data.time[item]);
            if (x - lastX < 1 && kind === lastKind) continue;
            [lastX, lastKind] = [x, kind];
            if (kind === NOTIFICATION) {
                brush.fillStyle = this.methodPaint[COLOURS - 1];
                brush.fillRect(x - 0.75, y + 2, 1.5, STRIP - 5);
            } else {
                brush.fillStyle = kind === STDERR ? paint.dim : kind === STRAY ? paint.mark : paint.error;
                brush.beginPath();
                if (kind === STDERR) brush.rect(x - 2.5, y + 4, 5, 5);
                else { brush.moveTo(x, y + 1); brush.lineTo(x + 5, y + 6.5); brush.lineTo(x, y + 12); brush.lineTo(x - 5, y + 6.5); }
                brush.fill();
            }
        }
    }

    // Starts, ends and the like: a flag in the head, a line through the lanes.
    drawEvents({ events: { items, reach }, top, height }, faint) {
        const { brush, data, mask, paint } = this, wanted = faint ? 1 : 2;
        let lastX = -100;
        brush.font = "11px system-ui, sans-serif";
        for (let i = lowerBound(reach, this.from); i < items.length; i++) {
            const item = items[i];
            if (data.time[item] > this.to) break;
            const x = Math.round(this.x(data.time[item]));
            if (mask[item] !== wanted || x === lastX) continue;
            brush.fillStyle = paint.accent;
            brush.fillRect(x, top - this.scroll + 3, 1.5, height - 6);
            const name = clipped(brush, shown(data.names[data.name[item]] || ""), 90);
            const width = brush.measureText(name).width;
            // One at the end has its word before it.
            const at = x + width + 10 > this.width ? x - width - 5 : x + 5;
            if (x - lastX > 60) brush.fillText(name, at, top - this.scroll + (HEAD - 4) / 2);
            lastX = x;
        }
    }

    drawChosen() {
        const { brush, data, paint } = this;
        for (const [item, colour, line] of [[this.over, paint.dim, 1], [this.chosen, paint.ink, 2]]) {
            const place = item >= 0 ? this.placeOf(item) : null;
            if (!place) continue;
            const x = this.x(data.time[item]), end = data.fate[item] === OPEN ? x + TAIL : this.x(data.end[item]);
            const width = Math.max(4, Math.min(end, this.width + 20) - x);
            brush.strokeStyle = colour;
            brush.lineWidth = line;
            brush.beginPath();
            brush.roundRect(Math.max(x, GUTTER - 20) - 2, place.top - this.scroll, place.isBar ? Math.min(width + 4, this.width + 40) : 4, place.height, 3);
            brush.stroke();
        }
    }

    // { top, height, isBar } of an item, from the top of all lanes; null for one that is in none.
    placeOf(item) {
        const kind = this.data.code[item] & 15, talk = this.layout.talks[this.data.lane[item]];
        const lane = talk && talk.lanes.find((one) => one.side === ((this.data.code[item] >> 4) & 3));
        if (!talk || kind === DROPPED || kind === UNREAD) return null;
        if (!lane || kind === EVENT) return { top: talk.top, height: talk.height, isBar: false };
        if (kind !== REQUEST) return { top: lane.top + PAD + lane.ticksTop - 1, height: STRIP, isBar: false };
        if (this.data.fate[item] === OPEN) return { top: lane.top + PAD + lane.waitingTop, height: ROW, isBar: true };
        return { top: lane.top + PAD + this.layout.row[item] * ROW, height: ROW, isBar: true };
    }

    // The item at a place of the canvas; -1: none.
    itemAt(x, y) {
        if (x < GUTTER || y < AXIS) return -1;
        const at = y + this.scroll, talk = this.layout.talks.find(({ top, height }) => at >= top && at < top + height);
        const lane = talk && talk.lanes.find(({ top, height }) => at >= top && at < top + height);
        if (talk && !lane) return this.nearest(talk.events, x, 5);
        if (lane) {
            const y = at - lane.top - PAD, row = Math.max(0, Math.floor(y / ROW));
            const found = y < lane.waitingTop ? this.nearest(lane.rows[row], x, 4) : y < lane.ticksTop ? this.nearest(lane.waiting, x, TAIL) : this.nearest(lane.ticks, x, 5);
            if (found >= 0) return found;
        }
        const gap = this.layout.gaps.find(({ item, from, to }) => this.mask[item] && x >= this.x(from) - 1 && x <= Math.max(this.x(to), this.x(from) + 2) + 1);
        return gap ? gap.item : -1;
    }

    // That which is nearest, and at most so many pixels away; of those that are there, the last to begin.
    nearest({ items, reach }, x, pixels) {
        const { data } = this, isTail = pixels === TAIL;
        let best = -1, least = pixels + 1e-9;
        for (let i = lowerBound(reach, this.timeAt(x - pixels)); i < items.length; i++) {
            const item = items[i], from = this.x(data.time[item]), to = isTail ? from + TAIL : this.x(data.end[item]);
            if (from > x + (isTail ? 3 : pixels)) break;
            const away = x < from ? from - x : x > to ? x - to : 0;
            if (this.mask[item] === 2 && away <= least) [best, least] = [item, away];
        }
        return best;
    }

    // Another part of the time; not less than a few microseconds, nor much more than all.
    show(from, to) {
        const { begin, finish } = this.data, all = (finish - begin) * 1.2 + 10;
        const span = Math.min(Math.max(to - from, 5), all), middle = (from + to) / 2;
        const low = begin - span * 0.9, high = finish + span * 0.9;
        [from, to] = [middle - span / 2, middle + span / 2];
        if (from < low) [from, to] = [low, low + span];
        if (to > high) [from, to] = [high - span, high];
        [this.from, this.to] = [from, to];
        this.redraw();
    }

    zoom(factor, at = (this.from + this.to) / 2) {
        this.show(at - (at - this.from) * factor, at + (this.to - at) * factor);
    }

    move(share) {
        const by = (this.to - this.from) * share;
        this.show(this.from + by, this.to + by);
    }

    // Brings an item into the part that is shown.
    reveal(item) {
        const { data } = this, span = this.to - this.from, place = this.placeOf(item);
        if (data.end[item] < this.from || data.time[item] > this.to || this.x(data.time[item]) > this.width - 20) this.show(data.time[item] - span * 0.3, data.time[item] + span * 0.7);
        if (place && place.top < this.stage.scrollTop + AXIS) this.stage.scrollTop = place.top - AXIS - HEAD;
        else if (place && place.isBar && place.top + place.height > this.stage.scrollTop + this.stage.clientHeight) this.stage.scrollTop = place.top + place.height - this.stage.clientHeight + HEAD;
        this.redraw();
    }

    showItem(item) {
        const { data } = this, took = Math.max(data.end[item] - data.time[item], 20);
        this.show(data.time[item] - took * 0.6, data.time[item] + took * 1.6);
    }
}

// As much of a text as fits.
function clipped(brush, text, width) {
    if (text.length > 200) text = text.slice(0, 200);
    if (width <= 0) return "";
    if (brush.measureText(text).width <= width) return text;
    let low = 0, high = text.length;
    while (low < high) {
        const middle = (low + high + 1) >> 1;
        if (brush.measureText(text.slice(0, middle) + "…").width <= width) low = middle;
        else high = middle - 1;
    }
    return low ? text.slice(0, low) + "…" : "";
}
