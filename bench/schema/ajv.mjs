// ajv.mjs SCHEMA POINTER INSTANCES PASSES COMPILES: the same as duplex.c, with Ajv.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(new URL("../../tests/interop/package.json", import.meta.url));
const Ajv2020 = require("ajv/dist/2020").default;

const [schemaPath, pointer, instancesPath, passes, compiles] = process.argv.slice(2);
const schema = JSON.parse(readFileSync(schemaPath, "utf8"));
const instances = JSON.parse(readFileSync(instancesPath, "utf8"));
const values = instances.map((entry) => entry.value);
const expected = instances.map((entry) => entry.valid);

const nowUs = () => Number(process.hrtime.bigint()) / 1e3;

function median(samples) {
    const sorted = [...samples].sort((a, b) => a - b);
    const middle = sorted.length >> 1;
    return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

// Formats are annotations for both; strict mode would refuse words of the schema that mean nothing. The schema is not held
// against its metaschema, which Duplex does not do either.
function compile() {
    const ajv = new Ajv2020({ strict: false, validateFormats: false, validateSchema: false });
    const start = nowUs();
    ajv.addSchema(schema, "mcp:schema");
    const validate = ajv.getSchema(`mcp:schema#${pointer}`);
    return [nowUs() - start, validate];
}

let validate;
const compileSamples = [];
for (let i = 0; i < Number(compiles); i++) {
    const [took, made] = compile();
    compileSamples.push(took);
    validate = made;
}

function pass() {
    let wrong = 0;
    const start = nowUs();
    for (let i = 0; i < values.length; i++) if (validate(values[i]) !== expected[i]) wrong++;
    const took = nowUs() - start;
    if (wrong) throw new Error("an instance was not judged as expected");
    return took;
}

// Enough for the code to be compiled to the last stage before the clock counts.
for (let i = 0; i < 100 + Number(passes) / 10; i++) pass();
const passSamples = Array.from({ length: Number(passes) }, pass);
console.log(JSON.stringify({ compile_us: median(compileSamples), pass_us: median(passSamples) }));
