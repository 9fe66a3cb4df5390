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

// connect(NAME OF A KIND, ARGV, { answers }): `came` has what came by itself, `asked` what the server asked for;
// answers[METHOD](params) is what it is told.
export async function connect(name, [command, ...args], { answers = {}, env, cwd } = {}) {
    const kind = KINDS[name];
    const capabilities = {
        ...(answers["sampling/createMessage"] && { sampling: {} }),
        ...(answers["elicitation/create"] && { elicitation: { form: {}, url: {} } }),
        ...(answers["roots/list"] && { roots: { listChanged: !kind.modern } }),
    };
    const [Client, Transport] = kind.version === 1 ? [Client1, Transport1] : [Client2, Transport2];
    const versionNegotiation = kind.mode && { mode: kind.mode };
    const client = new Client(info, { capabilities, ...(versionNegotiation && { versionNegotiation }) });
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
    await client.connect(transport, { timeout: 10000 });
    return {
        ...kind,
        client,
        transport,
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
