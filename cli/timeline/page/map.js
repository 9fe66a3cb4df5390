// The map: how much was said when, and which part of it is shown below.

class Overview {
    constructor(picture) {
        this.picture = picture;
        this.canvas = picture.map;
        this.base = null;
        picture.drawMap = () => this.draw();
        this.listen();
    }

    // Columns of the whole time: messages of the host upwards, of the plugins downwards, what failed in red.
    count(width) {
        const { data, mask } = this.picture, span = data.finish - data.begin;
        const columns = { width, host: new Uint32Array(width), plugin: new Uint32Array(width), wrong: new Uint8Array(width), most: 1 };
        for (let i = 0; i < data.count; i++) {
            const item = isAnswered(data, i) ? data.partner[i] : i;
            if (mask[item] !== 2) continue;
            const at = Math.min(width - 1, Math.floor((data.time[i] - data.begin) / span * width));
            const side = (data.code[i] >> 4) & 3;
            if (side) columns.most = Math.max(columns.most, ++(side === HOST ? columns.host : columns.plugin)[at]);
            const kind = data.code[i] & 15;
            if (data.fate[i] === FAILED || kind === BROKEN || kind === JUNK) columns.wrong[at] = 1;
        }
        return columns;
    }

    forget() {
        this.base = null;
    }

    draw() {
        const { picture, canvas } = this, { paint, data } = picture;
        const width = Math.max(50, Math.floor(canvas.clientWidth)), height = canvas.clientHeight;
        const brush = picture.fit(canvas, width, height), half = height / 2;
        if (!this.base || this.base.width !== width) this.base = this.count(width);
        const tall = (count) => count ? Math.max(1, Math.sqrt(count / this.base.most) * (half - 4)) : 0;
        brush.clearRect(0, 0, width, height);
        for (let x = 0; x < width; x++) {
            brush.fillStyle = picture.methodPaint[0];
            brush.fillRect(x, half - tall(this.base.host[x]), 1, tall(this.base.host[x]));
            brush.fillStyle = picture.methodPaint[1];
            brush.fillRect(x, half, 1, tall(this.base.plugin[x]));
            if (this.base.wrong[x]) { brush.fillStyle = paint.error; brush.fillRect(x, height - 4, 1.5, 3); }
        }
        const span = data.finish - data.begin;
        const from = Math.max(0, (picture.from - data.begin) / span * width), to = Math.min(width, (picture.to - data.begin) / span * width);
        brush.fillStyle = paint.back;
        brush.globalAlpha = 0.65;
        brush.fillRect(0, 0, from, height);
        brush.fillRect(to, 0, width - to, height);
        brush.globalAlpha = 1;
        brush.strokeStyle = paint.accent;
        brush.lineWidth = 2;
        brush.strokeRect(from + 1, 1, Math.max(3, to - from - 2), height - 2);
        canvas.setAttribute("aria-valuenow", String(Math.round(((picture.from + picture.to) / 2 - data.begin) / span * 100)));
        canvas.setAttribute("aria-valuetext", `${durationWord(picture.from - data.begin)} to ${durationWord(picture.to - data.begin)}`);
    }

    timeAt(x) {
        const { data } = this.picture;
        return data.begin + x / this.canvas.clientWidth * (data.finish - data.begin);
    }

    // Within the part that is shown, dragging moves it; elsewhere it chooses another part.
    listen() {
        const { canvas, picture } = this;
        let start = null;
        canvas.addEventListener("pointerdown", (event) => {
            const time = this.timeAt(event.offsetX), { from, to, data } = picture;
            const isAll = to - from > (data.finish - data.begin) * 0.98;
            start = { x: event.offsetX, time, from, to, moves: time > from && time < to && !isAll };
            canvas.setPointerCapture(event.pointerId);
        });
        canvas.addEventListener("pointermove", (event) => {
            if (!start) return;
            const time = this.timeAt(event.offsetX);
            if (start.moves) picture.show(start.from + time - start.time, start.to + time - start.time);
            else if (Math.abs(event.offsetX - start.x) > 3) picture.show(Math.min(time, start.time), Math.max(time, start.time));
        });
        canvas.addEventListener("pointerup", (event) => {
            const span = picture.to - picture.from;
            if (start && !start.moves && Math.abs(event.offsetX - start.x) <= 3) picture.show(start.time - span / 2, start.time + span / 2);
            start = null;
        });
        canvas.addEventListener("dblclick", () => { picture.fitAll(); picture.redraw(); });
        canvas.addEventListener("wheel", (event) => {
            event.preventDefault();
            picture.zoom(Math.exp(event.deltaY / 400), this.timeAt(event.offsetX));
        }, { passive: false });
    }
}
