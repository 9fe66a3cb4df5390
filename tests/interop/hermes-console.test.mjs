// The console of duplex hermes host with extensions that know nothing of it: what happens while they and a
// user are at work at the same time.
import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { running, until } from "./duplex.mjs";
import { Editor } from "./hermes/editor.mjs";
import {
    adt, came, changed, FLAGS, host, journal, labs, LABS, lines, names, NAMES, oru, place, relayed, UPPER, using,
    words,
} from "./hermes/peers.mjs";

test("a window that the user closes while a patch is under way", async (t) => {
    const { patient, usual, data } = place(t);
    const wire = relayed("editor/patchMessage>window/closed", names);
    const editor = new Editor(t, [...usual, "--debounce", "10s", ...using(wire), patient]);
    await editor.ready();
    editor.say("run names/window");
    const window = await editor.next({ event: "window", extension: NAMES });
    assert.deepEqual(
        [window.url, window.title, window.width, window.height, window.modal, window.resizable],
        ["http://127.0.0.1:9/navn?q=%C3%85", "Navn – 名前 😀", 640, 480, true, false],
    );
    await editor.next({ event: "log", text: `window ${window.id}` });
    await editor.do(`close ${window.id}`);
    await editor.next({ event: "log", text: "window closed by user while waiting for editor/patchMessage" });
    await editor.next({ event: "message", by: NAMES, text: /\|\|user\r/ });
    assert.equal(editor.all({ event: "message", by: NAMES }).length, 2);
    const result = join(data, "out.hl7");
    assert.ok((await editor.do(`save "${result}"`)).ok);
    assert.equal(await editor.quit(), 0, editor.err);
    const text = readFileSync(result, "utf8");
    assert.equal(text, changed(adt, ["19610615|M|", "19610615|O|"], ["^Åse\rPID", "^Åse||user\rPID"]));
});

test("undo takes back what an extension did, list by list", async (t) => {
    const { patient, usual } = place(t);
    const editor = new Editor(t, [...usual, ...using(names), patient]);
    await editor.ready();
    for (const command of ["names/upper", "names/kin"]) {
        await editor.do(`run ${command}`);
        await editor.next({ event: "message", by: NAMES });
    }
    assert.notEqual(editor.text, changed(adt, ...UPPER));
    assert.equal((await editor.do("undo")).ok, true);
    assert.equal(editor.text, changed(adt, ...UPPER));
    assert.equal((await editor.do("undo")).ok, true);
    assert.equal(editor.text, adt);
    assert.equal((await editor.do("undo")).ok, false);
    assert.equal(await editor.quit(), 1, editor.err);
});

test("message/changed comes once the message rests, with the content that was asked for", async (t) => {
    const { patient, usual, data } = place(t, "oru.hl7");
    const editor = new Editor(t, [...usual, "--debounce", "500ms", ...using(names, labs), patient]);
    await editor.ready(2);
    // Three edits in a row are one change, and so is one of an extension.
    for (const value of ["a", "b", "Å中😀"]) editor.say(`set NTE.3 ${value}`);
    await editor.next({ event: "log", extension: LABS, text: "changed: 10 segments as json" });
    await editor.do("wait");
    editor.say("run names/upper");
    await editor.next({ event: "log", extension: LABS, text: "changed: 10 segments as json" });
    await editor.do("wait");
    assert.equal(await editor.quit(), 0, editor.err);
    for (const name of ["names", "labs"]) {
        const told = came(data, name).filter(({ method }) => method === "message/changed");
        assert.equal(told.length, 2, name);
        assert.equal(told[0].params.hasFile, true);
        assert.equal(told[0].params.filePath, patient);
        assert.equal(told[0].params.format, name === "names" ? "hl7" : "json");
        assert.match(told[0].params.message, /Å中😀/);
        assert.match(told[1].params.message, /ØDEGÅRD/);
    }
});

test("an extension that edits when the message changes comes to rest", async (t) => {
    const { patient, usual } = place(t, "oru.hl7");
    const editor = new Editor(t, [...usual, "--debounce", "100ms", ...using(labs), patient]);
    await editor.ready();
    editor.say("run labs/watch");
    await editor.next({ event: "log", text: "watching" });
    await editor.do("set OBX[2].5 150");
    await editor.next({ event: "log", text: "patched 4 of 4" });
    await editor.next({ event: "log", text: "changed: 10 segments as json" });
    await editor.do("wait");
    assert.equal((await editor.do("get OBX[2].8")).text, "H");
    assert.equal(editor.all({ event: "log", text: /^patched/ }).length, 1);
    assert.equal(editor.all({ event: "message", by: LABS }).length, 1);
    assert.equal(await editor.quit(), 0, editor.err);
});

test("reload and disable end an extension with that reason, and reload starts it anew", async (t) => {
    const { patient, usual, data } = place(t);
    const editor = new Editor(t, [...usual, ...using(names, labs), patient]);
    await editor.ready(2);
    editor.say(`reload "${NAMES}"`);
    for (const state of ["shutting_down", "initializing", "running"]) await editor.next({ event: "state", extension: NAMES, state });
    await editor.do("run names/upper");
    await editor.next({ event: "message", by: NAMES, text: changed(adt, ...UPPER) });
    editor.say(`disable "${LABS}"`);
    await editor.next({ event: "state", extension: LABS, state: "stopped" });
    assert.equal((await editor.do("run labs/button")).ok, false);
    assert.equal(await editor.quit(), 1, editor.err);
    const shown = (name) =>
        came(data, name)
            .filter(({ id }) => id !== undefined)
            .map(({ id, method, params }) => [id, method, params.reason]);
    assert.deepEqual(shown("names"), [
        [1, "initialize", undefined],
        [2, "shutdown", "reload"],
        [1, "initialize", undefined],
        [2, "shutdown", "closing"],
    ]);
    assert.deepEqual(shown("labs"), [[1, "initialize", undefined], [2, "shutdown", "disabled"]]);
});

test("windows: a page that the extension serves, opened by a program of the user's, closed by the extension", async (t) => {
    const { path, patient, usual, data } = place(t, "oru.hl7");
    const opened = join(path, "opened");
    writeFileSync(
        join(path, "opener.mjs"),
        `import { writeFileSync, renameSync } from "node:fs";
        const url = process.argv.at(-1);
        const page = await (await fetch(url)).text();
        writeFileSync(${JSON.stringify(`${opened}.new`)}, JSON.stringify({ url, page, words: process.argv.length }));
        renameSync(${JSON.stringify(`${opened}.new`)}, ${JSON.stringify(opened)});`,
    );
    const opener = words([process.execPath, join(path, "opener.mjs"), "a b"]);
    const editor = new Editor(t, [...usual, "--opener", opener, ...using(labs), patient]);
    await editor.ready();
    editor.say("run labs/report");
    const window = await editor.next({ event: "window", extension: LABS });
    assert.deepEqual([window.title, window.width, window.height], ["Svar – 結果 😀", 800, 600]);
    const seen = await until(() => existsSync(opened) && JSON.parse(readFileSync(opened, "utf8")));
    assert.equal(seen.url, window.url);
    assert.equal(seen.words, 4);
    assert.match(seen.page, /^Svar – 結果 😀\nGlucose\nSodium\n/);
    assert.ok(!existsSync("y") && !readdirSync(path).includes("y"));
    await editor.next({ event: "log", text: `window ${window.id}` });
    editor.say("run labs/close");
    await editor.next({ event: "closed", id: window.id, reason: "extension" });
    await editor.next({ event: "log", text: 'close: {"success":true}' });
    editor.say("run labs/report");
    const second = await editor.next({ event: "window", extension: LABS });
    assert.notEqual(second.id, window.id);
    await editor.do("wait");
    assert.equal(await editor.quit(), 0, editor.err);
    assert.equal(editor.all({ event: "closed", id: second.id, reason: "shutdown" }).length, 1);
    const closed = came(data, "labs").filter(({ method }) => method === "window/closed");
    assert.deepEqual(
        closed.map(({ params }) => params),
        [{ windowId: window.id, reason: "extension" }, { windowId: second.id, reason: "shutdown" }],
    );
});

test("the revision exact: nothing is told of windows, and the input just ends", async (t) => {
    const { patient, usual, data } = place(t);
    const editor = new Editor(t, [...usual, "--revision", "exact", ...using(names), patient]);
    await editor.ready();
    editor.say("run names/window");
    const window = await editor.next({ event: "window" });
    assert.match(window.id, /^ext-window-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    await editor.next({ event: "message", by: NAMES });
    await editor.do(`close ${window.id}`);
    await editor.do("wait");
    assert.equal(await editor.quit(), 0, editor.err);
    const told = came(data, "names").map(({ method }) => method);
    assert.deepEqual(told.filter((method) => method !== "message/changed"), ["initialize", "command/execute"]);
    const got = journal(data, "names").find((line) => line.asked === "ui/openWindow");
    assert.equal(got.result.windowId, window.id);
});

test("an extension that crashes under the console: it is told, the console stays, reload brings it back", async (t) => {
    const { patient, usual } = place(t, "oru.hl7");
    const editor = new Editor(t, [...usual, ...using(labs), patient]);
    await editor.ready();
    editor.say("run labs/crash");
    const { reason } = await editor.next({ event: "state", state: "failed" });
    assert.match(reason, /3/);
    assert.equal((await editor.do("get PID.5.1")).text, "Ødegård");
    editor.say(`reload "${LABS}"`);
    await editor.ready();
    editor.say("run labs/flag");
    await editor.next({ event: "message", by: LABS, text: changed(oru, ...FLAGS) });
    assert.equal(await editor.quit(), 0, editor.err);
});

test("interrupted, or killed: the extensions leave", async (t) => {
    for (const [signal, code] of [["SIGINT", 130], ["SIGKILL", "SIGKILL"]]) {
        const { path, patient, usual } = place(t);
        const editor = new Editor(t, [...usual, ...using([...names, path], [...labs, path]), patient]);
        await editor.ready(2);
        const theirs = () => running(path).filter((pid) => Number(pid) !== editor.child.pid);
        assert.ok(theirs().length >= 2);
        editor.child.kill(signal);
        assert.equal(await editor.ended, code, editor.err);
        await until(() => running(path).length === 0);
    }
});

test("a script through the console: the first failure shows in the exit code", async (t) => {
    const { path, patient, usual } = place(t);
    const out = join(path, "ny Å.hl7");
    const script = ["run names/upper", "wait", "get PID.5.1", "set PID.8 F", "create ZXX", "set ZXX.1 å|b", "remove NK1[2]", "undo", `save "${out}"`];
    const ended = await host([...usual, ...using(names), patient], { input: `${script.join("\n")}\n` });
    assert.equal(ended.code, 0, ended.err);
    assert.match(ended.out, /ØDEGÅRD/);
    const wanted = changed(adt, ...UPPER, ["19610615|M|", "19610615|F|"]);
    assert.equal(readFileSync(out, "utf8"), `${wanted}ZXX|å\\F\\b\r`);
    const failing = await host([...usual, ...using(names), patient], { input: "get PID.5.1\nset NOPE 1\nget PID.8\n" });
    assert.equal(failing.code, 1, failing.err);
    assert.match(failing.out, /M/);
});


test("a script: run waits for an extension that is being reloaded", async (t) => {
    const { patient, usual } = place(t);
    const input = "reload\nrun names/upper\nwait\nsave\n";
    const ended = await host([...usual, ...using(names), patient], { input });
    assert.equal(ended.code, 0, ended.err);
    assert.equal(readFileSync(patient, "utf8"), changed(adt, ...UPPER));
});

test("files: extensions that asked for it hear of opening, saving and a new message", async (t) => {
    const { path, patient, data, usual } = place(t);
    const other = join(path, "annen Å中😀.hl7");
    writeFileSync(other, oru);
    const editor = new Editor(t, [...usual, "--debounce", "10s", ...using(labs), patient]);
    await editor.ready();
    await editor.do("set PID.8 F");
    assert.equal((await editor.do("save")).file, patient);
    assert.equal(readFileSync(patient, "utf8"), changed(adt, ["19610615|M|", "19610615|F|"]));
    await editor.do(`open "${other}"`);
    assert.equal(editor.text, oru);
    assert.equal((await editor.do("undo")).ok, false);
    await editor.do(`save "${join(path, "tredje.hl7")}"`);
    await editor.do("new");
    assert.equal(editor.text, "");
    await editor.do("wait");
    assert.equal(await editor.quit(), 1, editor.err);
    const told = came(data, "labs").filter(({ method }) => /opened|saved/.test(method));
    assert.deepEqual(
        told.map(({ method, params }) => [method, params]),
        [
            ["message/opened", { filePath: patient, isNew: false }],
            ["message/saved", { filePath: patient, saveAs: false }],
            ["message/opened", { filePath: other, isNew: false }],
            ["message/saved", { filePath: join(path, "tredje.hl7"), saveAs: true }],
            ["message/opened", { isNew: true }],
        ],
    );
});

test("list, windows, log and schema", async (t) => {
    const { patient, usual } = place(t);
    const editor = new Editor(t, [...usual, ...using(names, labs), patient]);
    await editor.ready(2);
    const { extensions } = await editor.do("list");
    assert.deepEqual(extensions.map(({ name, version, state }) => [name, version, state]), [
        [NAMES, "1.2.0", "running"],
        [LABS, "0.9.0", "running"],
    ]);
    assert.ok(extensions[0].commands.includes("names/kin"));
    assert.equal(extensions[1].buttons[0].label, "Knapp – ボタン");
    // What the second one says is laid over what the first one does.
    const { schema } = await editor.do("schema");
    const [field] = schema.segments.PID.fields;
    assert.deepEqual([field.name, field.values.F, field.note, field.required ?? null], ["Kjønn", "Kvinne", "性別", null]);
    editor.say("run names/window");
    await editor.next({ event: "log", text: "patched 1 of 1" });
    const { windows } = await editor.do("windows");
    assert.deepEqual(windows.map(({ title, extension }) => [title, extension]), [["Navn – 名前 😀", NAMES]]);
    const { lines } = await editor.do("log 1");
    assert.deepEqual(lines, [{ extension: NAMES, level: "info", text: "patched 1 of 1" }]);
    assert.equal((await editor.do(`close ${windows[0].id}`)).ok, true);
    assert.equal((await editor.do(`close ${windows[0].id}`)).ok, false);
    assert.deepEqual((await editor.do("windows")).windows, []);
    assert.equal(await editor.quit(), 1, editor.err);
});

for (const mode of ["bytes", "cut"]) {
    const how = mode === "bytes" ? "byte by byte" : "in pieces that end inside of characters";
    test(`both extensions ${how}`, async (t) => {
        const { patient, data, usual } = place(t, "oru.hl7");
        const extensions = using(relayed(mode, names), relayed(mode, labs));
        const editor = new Editor(t, [...usual, "--debounce", "30s", ...extensions, patient]);
        await editor.ready(2);
        for (const [command, by] of [["names/upper", NAMES], ["labs/flag", LABS], ["names/swap", NAMES]]) {
            editor.say(`run ${command}`);
            await editor.next({ event: "message", by });
        }
        const all = changed(oru, ["|Ødegård^Kåre^André||19610615|M", "|Å^中^😀||19610615|F"], ...FLAGS);
        assert.deepEqual(lines(editor.text), lines(all));
        assert.equal(await editor.quit(), 0, editor.err);
        assert.deepEqual(editor.all({ event: "violation" }), []);
        for (const name of ["names", "labs"]) assert.equal(came(data, name)[0].params.dataDirectory, data);
    });
}
