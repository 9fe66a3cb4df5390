// Where things lie: each conversation has a head and two lanes, one a side; bars that overlap lie in rows.

const HEAD = 27, ROW = 17, BAR = 14, STRIP = 16, PAD = 5, AXIS = 26, GUTTER = 172;
// Rows of a lane; what does not fit lies in the last one.
const ROWS_MAX = 12;
// How long a request without answer is drawn, in pixels: it has no end.
const TAIL = 64;
// Conversations that have lanes; those beyond are in the table only.
const LANES_MAX = 2000;
const COLOURS = 7;

// The first place in `numbers` whose value is not below `least`.
function lowerBound(numbers, least) {
    let low = 0, high = numbers.length;
    while (low < high) {
        const middle = (low + high) >> 1;
        if (numbers[middle] < least) low = middle + 1;
        else high = middle;
    }
    return low;
}

// A row: its items by time, and how far each of them and all before it reach.
function makeRow(data, items, end = data.end) {
    const reach = new Float64Array(items.length);
    let furthest = -Infinity;
    items.forEach((item, i) => { reach[i] = furthest = Math.max(furthest, end[item]); });
    return { items: Uint32Array.from(items), reach };
}

class Lane {
    constructor(side) {
        this.side = side;
        this.free = []; // when each row is free again
        this.rows = [];
        this.waiting = [];
        this.ticks = [];
    }

    // Requests without answer would fill the rows up to the end: they have one of their own.
    place(data, item, rowOf) {
        if (data.fate[item] === OPEN) { this.waiting.push(item); return; }
        let row = 0;
        while (row < this.free.length && this.free[row] > data.time[item]) row++;
        if (row === ROWS_MAX) row--;
        if (row === this.rows.length) { this.rows.push([]); this.free.push(0); }
        this.rows[row].push(item);
        rowOf[item] = row;
        this.free[row] = Math.max(this.free[row], data.end[item]);
    }

    done(data) {
        this.rows = this.rows.map((items) => makeRow(data, items));
        this.waiting = makeRow(data, this.waiting, data.time);
        this.ticks = makeRow(data, this.ticks);
        this.waitingTop = this.rows.length * ROW;
        this.ticksTop = this.waitingTop + (this.waiting.items.length ? ROW : 0);
        this.height = this.ticksTop + (this.ticks.items.length ? STRIP : 0) + 2 * PAD;
    }
}

// { talks: [{ lane, top, height, lanes, events }], gaps, row (of each bar), height }
function makeLayout(data) {
    const talks = data.lanes.slice(0, LANES_MAX).map((lane) => ({ lane, lanes: [new Lane(HOST), new Lane(PLUGIN)], events: [] }));
    const gaps = [], rowOf = new Uint8Array(data.count);
    let last = data.begin;
    for (const item of data.items) {
        const kind = data.code[item] & 15, side = (data.code[item] >> 4) & 3, talk = talks[data.lane[item]];
        if (data.lane[item] < 0) gaps.push({ item, from: last, to: data.time[item] });
        else if (!talk) continue;
        else if (kind === EVENT || !side) talk.events.push(item);
        else if (kind === REQUEST) talk.lanes[side - 1].place(data, item, rowOf);
        else talk.lanes[side - 1].ticks.push(item);
        last = data.time[item];
    }
    let top = AXIS;
    for (const talk of talks) {
        talk.events = makeRow(data, talk.events);
        talk.top = top;
        top += HEAD;
        talk.lanes.forEach((lane) => lane.done(data));
        talk.lanes = talk.lanes.filter((lane) => lane.height > 2 * PAD);
        for (const lane of talk.lanes) {
            lane.top = top;
            top += lane.height;
        }
        talk.height = top - talk.top;
    }
    return { talks, gaps, row: rowOf, height: top + 8 };
}

// The methods that are called most have colours of their own.
function colourMethods(data, methods) {
    const colours = new Uint8Array(data.names.length + 1).fill(COLOURS - 1);
    const called = methods.filter((method) => method.requests).sort((one, two) => two.requests - one.requests);
    called.slice(0, COLOURS - 1).forEach((method, i) => { colours[method.name + 1] = i; });
    return colours; // by name + 1: there may be none
}
