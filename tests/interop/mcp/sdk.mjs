// The clients of the SDKs, which differ in how their handlers are set, behind one door.
import { Client as Client1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as Transport1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import * as schemas from "@modelcontextprotocol/sdk/types.js";
import { Client as Client2 } from "@modelcontextprotocol/client";
import { StdioClientTransport as Transport2 } from "@modelcontextprotocol/client/stdio";

const MODERN = "2026-07-28";
const info = { name: "duplex-interop", version: "1" };

export const KINDS = {
    "SDK 1.x": { version: 1, revision: "2025-11-25" },
    "SDK 2.x, legacy": { version: 2, revision: "2025-11-25", mode: "legacy" },
    "SDK 2.x, modern": { version: 2, revision: MODERN, mode: { pin: MODERN }, modern: true },
    "SDK 2.x, auto": { version: 2, revision: MODERN, mode: "auto", modern: true },
};

// What 1.x wants to have instead of the name of a method.
const SCHEMAS = {
    "sampling/createMessage": schemas.CreateMessageRequestSchema,
    "elicitation/create": schemas.ElicitRequestSchema,
    "roots/list": schemas.ListRootsRequestSchema,
    "notifications/message": schemas.LoggingMessageNotificationSchema,
    "notifications/resources/updated": schemas.ResourceUpdatedNotificationSchema,
    "notifications/tools/list_changed": schemas.ToolListChangedNotificationSchema,
    "notifications/resources/list_changed": schemas.ResourceListChangedNotificationSchema,
    "notifications/prompts/list_changed": schemas.PromptListChangedNotificationSchema,
};

const NOTIFICATIONS = Object.keys(SCHEMAS).filter((method) => method.startsWith("notifications/"));

// All that a transport sends and gets, for a trace.
function witness(transport) {
    const all = [];
    const begin = performance.now();
    const note = (from, message) =>
        all.push({ t: Math.round((performance.now() - begin) * 1000), from, text: JSON.stringify(message) });
    const { send } = transport;
    let handler;
    transport.send = (message, ...more) => {
        note("host", message);
        return send.call(transport, message, ...more);
    };
    Object.defineProperty(transport, "onmessage", {
        get: () => handler,
        set: (wanted) => {
            handler = wanted && ((message, ...more) => (note("plugin", message), wanted(message, ...more)));
        },
    });
    return all;
}

// connect(NAME OF A KIND, ARGV, { answers }): `came` has what came by itself, `asked` what the server asked for, `all` the traffic;
// answers[METHOD](params) is what it is told. Without `rounds`, who calls plays the rounds of input himself.
export async function connect(name, [command, ...args], { answers = {}, rounds = true, env, cwd } = {}) {
    const kind = KINDS[name];
    const capabilities = {
        ...(answers["sampling/createMessage"] && { sampling: {} }),
        ...(answers["elicitation/create"] && { elicitation: { form: {}, url: {} } }),
        ...(answers["roots/list"] && { roots: { listChanged: !kind.modern } }),
    };
    const [Client, Transport] = kind.version === 1 ? [Client1, Transport1] : [Client2, Transport2];
    const versionNegotiation = kind.mode && { mode: kind.mode };
    const inputRequired = { autoFulfill: rounds };
    const client = new Client(info, { capabilities, inputRequired, ...(versionNegotiation && { versionNegotiation }) });
    const key = (method) => (kind.version === 1 ? SCHEMAS[method] : method);
    const came = [];
    const asked = [];
    const errors = [];
    for (const [method, answer] of Object.entries(answers)) {
        client.setRequestHandler(key(method), (request) => {
            asked.push(request);
            return answer(request.params);
        });
    }
    for (const method of NOTIFICATIONS) client.setNotificationHandler(key(method), (one) => void came.push(one));
    client.onerror = (error) => errors.push(error);
    const transport = new Transport({ command, args, env, cwd, stderr: "pipe" });
    transport.stderr.resume();
    const texts = [];
    transport.stderr.on("data", (bytes) => texts.push(bytes));
    const all = witness(transport);
    await client.connect(transport, { timeout: 20000 });
    return {
        ...kind,
        client,
        all,
        came,
        asked,
        errors,
        stderr: () => Buffer.concat(texts).toString(),
        of: (method) => came.filter((one) => one.method === method),
        // A request of any method, with a schema that any result fits.
        ask: (method, params, options) => client.request({ method, params }, schemas.ResultSchema, options),
        async close() {
            const begin = performance.now();
            await client.close();
            return performance.now() - begin;
        },
    };
}
