// duplex hermes host --run with extensions that know nothing of it: one in Python, one in Node, one of an
// older time, each written from the document of the protocol and from what is known of the real program.
import assert from "node:assert/strict";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { clean, results } from "./duplex.mjs";
import {
    adt, came, changed, FLAGS, host, journal, labs, LABS, lines, logged, names, NAMES, old, oru, place, relayed,
    runs, UPPER, using, words,
} from "./hermes/peers.mjs";

function good(ended) {
    assert.equal(ended.code, 0, ended.err + ended.out);
    return ended.out;
}

// Most of the time goes into waiting until an extension is quiet, so several are tested at once.
describe("duplex hermes host --run", { concurrency: 6 }, () => {
    test("Python: several patches change what they name and no other byte", async (t) => {
        const { patient, usual } = place(t);
        const out = good(await host([...usual, ...using(names), ...runs("names/upper"), patient]));
        assert.equal(out, changed(adt, ...UPPER));
        assert.equal(readFileSync(patient, "utf8"), adt);
    });

    test("Python: a created segment can be set at once, and values are escaped", async (t) => {
        const { patient, usual } = place(t);
        const out = good(await host([...usual, ...using(names), ...runs("names/kin"), patient]));
        const made = "NK1|3|Bjørk \\T\\ Sønn 中😀^a\\F\\b\\S\\c\\R\\d\\E\\e|EMC\r";
        assert.equal(out, changed(adt, ["PV1|", `${made}PV1|`]));
    });

    test("Python: a patch that fails does not stop the others", async (t) => {
        const { patient, usual } = place(t);
        const ended = await host([...usual, ...using(names), "--json", ...runs("names/partly"), "--write", patient, patient]);
        good(ended);
        const said = logged(results(ended), NAMES);
        assert.equal(said[0], "info: patched 2 of 4");
        assert.match(said[1], /^warn: patch 1 at ZZZ\.1: .*ZZZ/);
        assert.match(said[2], /^warn: patch 2 at PID\.5\.1xyz: .*/);
        const second = lines(adt).find((line) => line.startsWith("NK1|2"));
        assert.equal(readFileSync(patient, "utf8"), changed(adt, ["19610615|M|", "19610615|U|"], [`${second}\r`, ""]));
    });

    test("Python: the message as json, and another one back", async (t) => {
        const { patient, usual } = place(t);
        const ended = await host([...usual, ...using(names), ...runs("names/swap"), patient]);
        const person = lines(adt).find((line) => line.startsWith("PID")).split("|");
        person[5] = "Å^中^😀";
        person[8] = "F";
        assert.deepEqual(lines(good(ended)), lines(adt).map((line) => (line.startsWith("PID") ? person.join("|") : line)));
    });

    test("Python: a wholly new text, written as json, yaml and toml", async (t) => {
        const { patient, usual } = place(t);
        const [hl7, json, yaml, toml] = await Promise.all(
            ["hl7", "json", "yaml", "toml"].map((format) =>
                host([...usual, ...using(names), ...runs("names/fresh"), "--format", format, patient]),
            ),
        );
        assert.deepEqual(lines(good(hl7)).at(-1), "PID|1||99^^^X^MR||Ny^Åse 😀");
        const { segments } = JSON.parse(good(json));
        assert.deepEqual(segments.map(({ segment }) => segment), ["MSH", "EVN", "PID"]);
        assert.deepEqual(segments[2].fields, { 1: "1", 3: { 1: "99", 4: "X", 5: "MR" }, 5: { 1: "Ny", 2: "Åse 😀" } });
        assert.match(good(yaml), /"Åse /);
        assert.match(good(toml), /Åse 😀/);
    });

    test("Python: what the editor refuses, and that it changes nothing", async (t) => {
        const { patient, usual } = place(t);
        const ended = await host([...usual, ...using(names), "--json", ...runs("names/wrong"), "--write", patient, patient]);
        good(ended);
        const said = logged(results(ended), NAMES);
        const wanted = [
            /^info: editor\/setMessage: \{"error": ".+", "success": false\}$/,
            /^warn: editor\/setMessage: -32004 /,
            /^warn: editor\/getMessage: -32602 /,
            /^warn: editor\/getMessage: -32602 /,
            /^warn: editor\/patchMessage: -32602 /,
            /^warn: editor\/noSuch: -32601 /,
            /^warn: ui\/openWindow: -32007 /,
            /^warn: ui\/openWindow: -32007 /,
            /^info: ui\/closeWindow: \{"success": true\}$/,
        ];
        wanted.forEach((line, index) => assert.match(said[index], line));
        assert.equal(results(ended).some(({ event, by }) => event === "window" || (event === "message" && by)), false);
        assert.equal(readFileSync(patient, "utf8"), adt);
    });

    test("Node: questions side by side, then several patches", async (t) => {
        const { patient, usual } = place(t, "oru.hl7");
        const out = good(await host([...usual, ...using(labs), ...runs("labs/flag"), patient]));
        assert.equal(out, changed(oru, ...FLAGS));
    });

    test("Node: two lists of patches at once are done one after the other", async (t) => {
        const { path, patient, usual } = place(t, "oru.hl7");
        const result = join(path, "out.hl7");
        const ended = await host([...usual, ...using(labs), "--json", ...runs("labs/twice"), "--write", result, patient]);
        good(ended);
        const said = logged(results(ended), LABS);
        assert.deepEqual(said.slice(0, 2), ["info: patched 2 of 2", "info: patched 2 of 3"]);
        assert.match(said[2], /^warn: patch 2 at OBX\[99\]\.5: /);
        const first = "OBX|1|NM|2345-7^Glucose^LN||182|mg/dL|70-99||||";
        const made = "NTE|2||Å\\X0D\\\\X0A\\中 \\T\\ 😀";
        assert.equal(readFileSync(result, "utf8"), `${changed(oru, [`${first}F`, `${first}C`])}${made}\n`);
    });

    test("Node: a hundred questions at once are answered in order", async (t) => {
        const { patient, usual } = place(t, "oru.hl7");
        const ended = await host([...usual, ...using(labs), "--json", ...runs("labs/many"), patient]);
        good(ended);
        assert.deepEqual(logged(results(ended), LABS), ["info: 100 the same, in order"]);
    });

    test("Node: json, yaml and toml and back give the same message", async (t) => {
        for (const message of ["oru.hl7", "adt.hl7"]) {
            const { patient, usual } = place(t, message);
            const ended = await host([...usual, ...using(labs), "--json", ...runs("labs/formats"), patient]);
            good(ended);
            const said = logged(results(ended), LABS).filter((line) => !line.includes("changed:"));
            assert.deepEqual(said, ["json", "yaml", "toml"].map((format) => `info: ${format}: true, the same`));
        }
    });

    test("Node: a command that only a button has", async (t) => {
        const { patient, usual } = place(t, "oru.hl7");
        const out = good(await host([...usual, ...using(labs), ...runs("labs/button"), patient]));
        assert.match(out, /\|\|\|\|knapp Å\|/);
    });

    test("both at once: each has its own ids, and the first one that has a command gets it", async (t) => {
        const { path, patient, usual } = place(t, "oru.hl7");
        const trace = join(path, "trace.jsonl");
        const [one, other] = await Promise.all([
            host([...usual, "--record", trace, ...using(names, labs), ...runs("names/upper", "labs/flag", "both/stamp"), patient]),
            host([...usual, ...using(labs, names), ...runs("both/stamp"), patient]),
        ]);
        const stamped = (text, word) => changed(text, ["+0100||ORU", `+0100|${word}|ORU`]);
        assert.equal(good(one), stamped(changed(oru, ["|Ødegård^", "|ØDEGÅRD^"], ...FLAGS), "names"));
        assert.equal(good(other), stamped(oru, "labs"));
        const messages = readFileSync(trace, "utf8").split("\n").slice(1, -1).map((line) => JSON.parse(line));
        for (const from of ["host", "plugin"]) {
            const first = messages.filter((record) => record.from === from && record.message?.id === 1 && record.message.method);
            assert.equal(first.length, 2, `${from} uses id 1 with both`);
        }
        const commands = messages.filter(({ message }) => message?.method === "command/execute");
        assert.equal(commands.length, 3);
        assert.ok(commands.every(({ message }) => !("id" in message)));
        await clean("hermes", trace);
    });

    test("what initialize tells, and that a folder for data is there", async (t) => {
        const { patient, usual, data } = place(t);
        good(await host([...usual, ...using(names, labs), ...runs("names/empty"), patient]));
        assert.equal(statSync(data).mode & 0o777, 0o700);
        assert.deepEqual(journal(data, "names")[0].environment, {
            HERMES_API_VERSION: "1.0",
            HERMES_DATA_DIR: data,
            HERMES_VERSION: "0.1.0",
        });
        const initialize = { apiVersion: "1.0", dataDirectory: data, hermesVersion: "0.1.0" };
        const closing = { reason: "closing" };
        assert.deepEqual(came(data, "names"), [
            { jsonrpc: "2.0", id: 1, method: "initialize", params: initialize },
            { jsonrpc: "2.0", method: "command/execute", params: { command: "names/empty" } },
            { jsonrpc: "2.0", id: 2, method: "shutdown", params: closing },
        ]);
        const opened = { filePath: patient, isNew: false };
        assert.deepEqual(came(data, "labs").map(({ params }) => params), [initialize, opened, closing]);
    });

    test("dialogs are answered as the words say, and without words as if nobody were there", async (t) => {
        const { path, patient, usual } = place(t, "oru.hl7");
        const answers = {
            showMessage: "ok",
            showConfirm: "yes",
            openFile: join(path, "å b.hl7"),
            openFiles: `${join(path, "1")}:${join(path, "中")}`,
            saveFile: join(path, "😀"),
            selectDirectory: path,
        };
        const given = Object.entries(answers).flatMap(([dialog, answer]) => ["--answer", `${dialog}=${answer}`]);
        const [told, untold] = await Promise.all(
            [given, []].map((more) => host([...usual, ...more, "--json", ...using(labs), ...runs("labs/questions"), patient])),
        );
        good(told);
        good(untold);
        const texts = (ended) => logged(results(ended), LABS).map((line) => JSON.parse(line.replace(/^info: \w+: /, "")));
        assert.deepEqual(texts(told), [
            { acknowledged: true },
            { confirmed: true },
            { path: answers.openFile },
            { paths: [join(path, "1"), join(path, "中")] },
            { path: answers.saveFile },
            { path },
        ]);
        assert.deepEqual(texts(untold), [
            { acknowledged: true },
            { confirmed: false },
            { path: null },
            { paths: null },
            { path: null },
            { path: null },
        ]);
        const dialogs = results(told).filter(({ event }) => event === "dialog");
        assert.deepEqual(
            dialogs.map(({ method }) => method),
            ["showMessage", "showConfirm", "openFile", "openFiles", "saveFile", "selectDirectory"].map((name) => `ui/${name}`),
        );
        assert.equal(dialogs[0].params.message, "Ferdig Å中😀");
    });

    test("the revision 2025-11-24: a command is a request, and done when it is answered", async (t) => {
        const { path, patient, usual } = place(t);
        const trace = join(path, "trace.jsonl");
        const options = [...usual, "--revision", "2025-11-24", ...using(old)];
        const sex = (value) => changed(adt, ["19610615|M|", `19610615|${value}|`]);
        assert.equal(good(await host([...options, "--record", trace, ...runs("old/set"), patient])), sex("A"));
        await clean("hermes@2025-11-24", trace);
        const messages = readFileSync(trace, "utf8").split("\n").slice(1, -1).map((line) => JSON.parse(line).message).filter(Boolean);
        const sent = messages.find(({ method }) => method === "command/execute");
        assert.equal(sent.id, 2);
        assert.match(messages.find(({ id, result }) => id === 2 && result?.message).result.message, /^Å: \d+ separators$/);
        const [early, keys, fails, refuses, dies] = await Promise.all([
            host([...options, ...runs("old/early"), patient]),
            host([...options, ...runs("old/keys"), patient]),
            host([...options, ...runs("old/fails"), patient]),
            host([...options, ...runs("old/refuses"), patient]),
            host([...options, ...runs("old/dies"), patient]),
        ]);
        assert.equal(good(early), sex("N"));
        assert.deepEqual(lines(good(keys)), ["MSH|^~\\&|||||||ADT^A08", "PID|1||||Åse"]);
        assert.match(fails.err, /error: the command failed: ikke nå Å中😀$/m);
        assert.match(refuses.err, /error: the command failed: .*not that one/);
        assert.equal(dies.code, 4, dies.err);
    });

    test("the revision exact: the defects of the real editor", async (t) => {
        const { path, patient, usual } = place(t);
        const exact = [...usual, "--revision", "exact", "--json", ...using(names)];
        const result = (name) => join(path, name);
        const [partly, kin] = await Promise.all(
            ["partly", "kin"].map((name) => host([...exact, ...runs(`names/${name}`), "--write", result(name), patient])),
        );
        good(partly);
        good(kin);
        // Anything behind a path is cut off, the index of a removal is not looked at, escapes are escaped
        // again by each of three patches, and the line end at the end is gone.
        assert.deepEqual(logged(results(partly), NAMES)[0], "info: patched 3 of 4");
        const first = lines(adt).find((line) => line.startsWith("NK1|1"));
        const again = (text) => text.replaceAll("\\", "\\E\\");
        const edited = changed(
            adt,
            ["19610615|M|", "19610615|U|"],
            ["|ødegård^", "|nothing^"],
            [`${first}\r`, ""],
            ["Bok\\T\\Papir", again(again(again("Bok\\T\\Papir")))],
        );
        assert.equal(readFileSync(result("partly"), "utf8"), edited.slice(0, -1));
        // A created segment cannot be read.
        const said = logged(results(kin), NAMES);
        assert.match(said[0], /^info: patched 1 of 5$/);
        assert.match(said[1], /^warn: patch 1 at NK1\[3\]\.1: Segment NK1 not found$/);
    });

    test("standard error: levels by prefix, bytes that are no UTF-8, a line without end", async (t) => {
        const { patient, usual } = place(t);
        const ended = await host([...usual, "--json", ...using(names), ...runs("names/speak", "names/upper"), "--write", "-", patient]);
        const said = logged(
            ended.out.split("\n").filter((line) => line.startsWith("{")).map((line) => JSON.parse(line)),
            NAMES,
        );
        assert.equal(ended.code, 0, ended.err);
        assert.deepEqual(said.slice(0, 8), [
            "info: plain",
            "info: info",
            "warn: warn",
            "warn: warning",
            "error: error",
            "error: colon",
            "warn: low",
            "info: low Å中😀",
        ]);
        assert.match(said[8], /^warn: not .* UTF-8$/);
        assert.ok(said.includes("info: last"));
        assert.ok(said.includes("info: patched 2 of 2"));
    });

    test("settings.json of the real program", async (t) => {
        const { path, patient, data, usual } = place(t);
        const settings = join(path, "settings.json");
        const [program, ...args] = names;
        const extensions = [
            { path: words(labs), enabled: false },
            { path: program, args, env: { HERMES_EXTRA: "Å" }, enabled: true },
            { path: words(labs) },
        ];
        writeFileSync(settings, JSON.stringify({ theme: "dark", extensions }));
        const ended = await host([...usual, "--json", "--settings", settings, ...runs("both/stamp"), patient]);
        good(ended);
        const states = results(ended).filter(({ event, state }) => event === "state" && state === "running");
        assert.deepEqual(states.map(({ extension }) => extension).sort(), [LABS, NAMES]);
        assert.equal(results(ended).findLast(({ event }) => event === "message").by, NAMES);
        assert.equal(journal(data, "names")[0].environment.HERMES_EXTRA, "Å");
    });

    test("exit codes", async (t) => {
        const { path, patient, usual } = place(t);
        const silent = using(["sleep", "30"]);
        writeFileSync(join(path, "none.hl7"), "no message\n");
        const tried = {
            "a command that nobody has": [1, [...using(names), ...runs("no/such"), patient]],
            "no such option": [2, ["--no-such"]],
            "a format that is none": [2, ["--format", "xml", patient]],
            "nothing to start": [3, [...using([join(path, "nobody")]), ...runs("x/y"), patient]],
            "it crashes": [4, [...using(labs), ...runs("labs/crash"), patient]],
            "it says nothing": [5, [...silent, "--start-timeout", "300ms", ...runs("x/y"), patient]],
            "one of two says nothing": [5, [...silent, ...using(names), "--start-timeout", "8s", ...runs("names/empty"), patient]],
            "no message": [7, [...using(names), ...runs("names/empty"), "--format", "json", join(path, "none.hl7")]],
            "no file": [2, [...using(names), ...runs("names/empty"), join(path, "nothing.hl7")]],
        };
        await Promise.all(
            Object.entries(tried).map(async ([what, [code, options]]) => {
                const ended = await host([...usual, ...options]);
                assert.equal(ended.code, code, `${what}: ${ended.err}`);
                assert.ok(ended.err, what);
                assert.ok(ended.ms < 100000, `${what}: ${ended.ms} ms`);
            }),
        );
    });

    test("without an extension and without a message", async (t) => {
        const { usual } = place(t);
        const ended = await host(usual, { input: "list\nget PID.5\n" });
        assert.equal(ended.code, 1, ended.err);
        const empty = await host([...usual, "--json", ...using(names), ...runs("names/upper")]);
        assert.equal(empty.code, 0, empty.err);
        assert.deepEqual(logged(results(empty), NAMES)[0], "warn: nobody is in this message");
    });

    test("a large message: a command is not done while messages are on their way", async (t) => {
        const { path, data } = place(t);
        const [big, out] = [join(path, "big.hl7"), join(path, "out.hl7")];
        const results = oru.split("\n").filter((line) => line.startsWith("OBX"));
        writeFileSync(big, oru.replace("NTE|", () => `${Array(8000).fill(results.join("\n")).join("\n")}\nNTE|`));
        /* On a busy machine the extension may get no processor for longer than the usual time. */
        const ended = await host(["--data", data, "--settle", "3s", ...using(names), ...runs("names/swap"), "--write", out, big]);
        assert.equal(ended.code, 0, ended.err);
        assert.ok(/\|Å\^中\^😀\|\|19610615\|F/.test(readFileSync(out, "utf8")), "the old text was written");
    });

    test("a change that comes after shutdown was sent is in the output", async (t) => {
        const { patient, usual } = place(t);
        const late = relayed("editor/patchMessage>shutdown", names);
        const ended = await host([...usual, "--settle", "300ms", ...using(late), ...runs("names/kin"), patient]);
        const made = "NK1|3|Bjørk \\T\\ Sønn 中😀^a\\F\\b\\S\\c\\R\\d\\E\\e|EMC\r";
        assert.equal(good(ended), changed(adt, ["PV1|", `${made}PV1|`]));
    });

    test("the revision 2025-11-24: a command that is answered with a failure has failed", async (t) => {
        const { patient, usual } = place(t);
        for (const command of ["old/fails", "old/refuses"]) {
            const ended = await host([...usual, "--revision", "2025-11-24", ...using(old), ...runs(command), patient]);
            assert.equal(ended.code, 1, `${command}: ${ended.err}`);
        }
    });
});
