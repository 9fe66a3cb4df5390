"use strict";
// The data. Each block of the page has texts (t0, t1, …: a line an item) and columns (c0, c1, …):
//   time   microseconds, since the item before (the first: since the beginning)
//   code   kind, 4 bits; who sent it, 2 bits; what its text is, see below
//   lane   its conversation, in `lanes`, from 1; 0: none
//   name   its method or event, in `names`, from 1; 0: none (an answer has that of its question)
//   back   so many items before is the request that it answers or cancels; 0: none
//   bytes  on the wire
//   cut    [place, length] of texts that are not whole
// The columns are read at once, the texts when somebody looks at them.

// cli/timeline/item.h has the same numbers.
const REQUEST = 1, NOTIFICATION = 2, RESULT = 3, ERROR = 4, JUNK = 5, BROKEN = 6, STRAY = 7, STDERR = 8, EVENT = 9, DROPPED = 10, UNREAD = 11;
const HOST = 1, PLUGIN = 2;
const IS_JSON = 64, IS_BYTES = 128, IS_CUT = 256;
const KIND_WORDS = ["", "request", "notification", "response", "error", "not a message", "broken", "stray text", "stderr", "event", "gap", "unreadable line"];
const SIDE_WORDS = ["", "host", "plugin"];

// What became of a request.
const FINE = 0, FAILED = 1, CANCELLED = 2, OPEN = 3;
const FATE_WORDS = ["succeeded", "failed", "cancelled", "no response"];
const FATE_CLASSES = ["", "error", "cancelled", "open"];

// A text of somebody else in one line: what would be invisible, or turn the line around, is told.
function shown(text) {
    return text.replace(/[\u0000-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]/gu, (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));
}

function readJson(id) {
    return JSON.parse(document.getElementById(id).textContent);
}

// Numbers for things by their keys, in the order in which they come.
class Numbering {
    constructor() {
        this.places = new Map();
        this.all = [];
    }

    of(key, make) {
        let place = this.places.get(key);
        if (place === undefined) {
            place = this.all.length;
            this.places.set(key, place);
            this.all.push(make());
        }
        return place;
    }
}

function makeLane([trace, peer, run], number) {
    const name = shown(peer === null || peer === "" ? "plugin" : peer);
    return { number, trace, peer, run, label: name + (run === "0" ? "" : "/" + run) + (trace ? ` (trace ${trace + 1})` : "") };
}

// All columns as typed arrays, over all blocks.
function readData() {
    const facts = readJson("facts");
    const count = facts.items;
    const lanes = new Numbering(), names = new Numbering();
    const data = {
        facts, count, blocks: [], lanes: lanes.all, names: names.all,
        time: new Float64Array(count), end: new Float64Array(count), bytes: new Float64Array(count),
        code: new Uint16Array(count), lane: new Int32Array(count), name: new Int32Array(count),
        // Of a request its answer, of an answer its request, of what cancels the request; and who cancelled it.
        partner: new Int32Array(count).fill(-1), cancelled: new Int32Array(count).fill(-1),
        fate: new Uint8Array(count),
    };
    for (let number = 0, at = 0; number < facts.blocks; number++) {
        const block = readJson("c" + number);
        const laneOf = block.lanes.map((lane) => lanes.of(JSON.stringify(lane), () => makeLane(lane, lanes.all.length)));
        const nameOf = block.names.map((name) => names.of(name, () => name));
        let time = 0;
        data.blocks.push({ first: at, cut: new Map(block.cut) });
        for (let i = 0; i < block.time.length; i++, at++) {
            time += block.time[i];
            data.time[at] = data.end[at] = time;
            data.code[at] = block.code[i];
            data.bytes[at] = block.bytes[i];
            data.lane[at] = block.lane[i] ? laneOf[block.lane[i] - 1] : -1;
            data.name[at] = block.name[i] ? nameOf[block.name[i] - 1] : -1;
            if (block.back[i]) pair(data, at, at - block.back[i]);
        }
    }
    settle(data);
    return data;
}

function pair(data, at, request) {
    data.partner[at] = request;
    if ((data.code[at] & 15) === NOTIFICATION) {
        data.cancelled[request] = at;
    } else {
        data.partner[request] = at;
        data.name[at] = data.name[request];
    }
}

// When each request ended, and how; one without answer lasts until its plugin is gone, or to the end.
function settle(data) {
    const { count, time, end, code } = data;
    const exits = new Float64Array(data.lanes.length).fill(Infinity);
    const exit = data.names.indexOf("exit");
    data.begin = count ? Infinity : 0;
    data.finish = count ? -Infinity : 1;
    for (let i = 0; i < count; i++) {
        data.begin = Math.min(data.begin, time[i]);
        data.finish = Math.max(data.finish, time[i]);
        if (exit >= 0 && data.name[i] === exit && (code[i] & 15) === EVENT) exits[data.lane[i]] = time[i];
    }
    if (data.finish <= data.begin) data.finish = data.begin + 1;
    for (let i = 0; i < count; i++) {
        if ((code[i] & 15) !== REQUEST) continue;
        const answer = data.partner[i], exited = exits[data.lane[i]];
        if (answer >= 0) end[i] = Math.max(time[i], time[answer]);
        else end[i] = exited >= time[i] && exited < Infinity ? exited : data.finish;
        data.fate[i] = data.cancelled[i] >= 0 ? CANCELLED : answer < 0 ? OPEN : (code[answer] & 15) === ERROR ? FAILED : FINE;
    }
    data.items = inOrder(data);
}

const isAnswered = (data, i) => ((data.code[i] & 15) === RESULT || (data.code[i] & 15) === ERROR) && data.partner[i] >= 0;

// What is shown: all but the answers that stand with their questions, by time.
function inOrder({ count, time, ...data }) {
    const items = new Uint32Array(count);
    let used = 0, sorted = true, last = -Infinity;
    for (let i = 0; i < count; i++) {
        if (isAnswered(data, i)) continue;
        sorted = sorted && time[i] >= last;
        last = time[i];
        items[used++] = i;
    }
    const all = items.slice(0, used);
    return sorted ? all : all.sort((one, two) => time[one] - time[two] || one - two);
}

// Counts, and how long the requests of each method took.
function summarize(data) {
    const sum = { requests: 0, notifications: 0, failed: 0, cancelled: 0, open: 0, marks: 0, dropped: 0, bytes: 0, methods: [] };
    const methods = new Map();
    for (let i = 0; i < data.count; i++) {
        const kind = data.code[i] & 15;
        sum.bytes += kind < EVENT ? data.bytes[i] : 0;
        if (kind === JUNK || kind === BROKEN || kind === STRAY || kind === UNREAD || ((kind === RESULT || kind === ERROR) && data.partner[i] < 0)) sum.marks++;
        if (kind === DROPPED) sum.dropped++;
        if (kind !== REQUEST && kind !== NOTIFICATION) continue;
        let method = methods.get(data.name[i]);
        if (!method) methods.set(data.name[i], method = { name: data.name[i], count: 0, requests: 0, failed: 0, cancelled: 0, open: 0, took: [] });
        method.count++;
        if (kind === NOTIFICATION) { sum.notifications++; continue; }
        sum.requests++;
        method.requests++;
        const word = ["", "failed", "cancelled", "open"][data.fate[i]];
        if (word) { sum[word]++; method[word]++; }
        if (data.partner[i] >= 0) method.took.push(data.end[i] - data.time[i]);
    }
    for (const method of methods.values()) {
        const took = Float64Array.from(method.took).sort();
        const part = (share) => took.length ? took[Math.min(took.length - 1, Math.ceil(took.length * share) - 1)] : NaN;
        Object.assign(method, { p50: part(0.5), p95: part(0.95), max: part(1), took: null });
        sum.methods.push(method);
    }
    sum.methods.sort((one, two) => two.count - one.count || one.name - two.name);
    return sum;
}
