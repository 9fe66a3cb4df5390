// The sample programs of the protocol document, as extensions of duplex hermes host.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { folder } from "./duplex.mjs";
import { host, names, runs, using } from "./hermes/peers.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const [python] = names;
const MESSAGE = "MSH|^~\\&|LAB|Ærø\rPID|1||7||åse 😀^Ny\rNTE|1||rødgrød med fløde\r";

for (const [language, command] of [
    ["Node, to the letter", [process.execPath, join(here, "hermes/sample.cjs")]],
    ["Python, with two corrections", [python, join(here, "hermes/sample.py")]],
])
    test(`the document's sample for ${language}, reads, writes and leaves`, async (t) => {
        const place = folder(t);
        const file = join(place, "å.hl7");
        writeFileSync(file, MESSAGE);
        const data = join(place, "dåta 😀");
        const ended = await host([...using(command), ...runs("sample/name"), "--data", data, "--write", "-", file]);
        assert.equal(ended.code, 0, ended.err);
        assert.equal(ended.out, MESSAGE.replace("åse", "ÅSE"));
        assert.doesNotMatch(ended.err, /violation|failed/);
    });
