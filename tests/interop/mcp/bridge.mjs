// A stdio server behind HTTP, for the official suite, which speaks nothing else. It forwards what is posted byte
// for byte, and each line of the server as it came; only where a message goes is decided here. As a server of the
// legacy era it has one child per session; requests of the modern era share a child, as nothing may be inferred
// from the pipe, unless their ids would collide.
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { createInterface } from "node:readline";

const VERSION = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES = "io.modelcontextprotocol/clientCapabilities";
const SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId";
const MODERN = "2026-07-28";
// Errors that say that a request was no good as such have a status of their own in the modern shape.
const STATUS = { "-32700": 400, "-32600": 400, "-32601": 404, "-32020": 400, "-32021": 400, "-32022": 400 };

const key = (id) => `${typeof id} ${id}`;

// The answer to one POST: plain JSON if nothing comes before it, else a stream of events.
class Exchange {
    constructor(request, response, modern) {
        Object.assign(this, { request, response, modern, token: request.params?._meta?.progressToken });
    }
    push(line) {
        if (!this.response.headersSent) {
            this.response.writeHead(200, { ...this.headers, "content-type": "text/event-stream", "cache-control": "no-cache" });
        }
        this.response.write(`event: message\ndata: ${line}\n\n`);
    }
    end(line, { error }) {
        if (this.response.headersSent) {
            this.push(line);
            this.response.end();
            return;
        }
        let status = (this.modern && error && STATUS[error.code]) || 200;
        const { [VERSION]: version, [CAPABILITIES]: capabilities } = this.request.params?._meta ?? {};
        if (this.modern && error?.code === -32602 && !(version && capabilities)) status = 400;
        this.response.writeHead(status, { ...this.headers, "content-type": "application/json" });
        this.response.end(line);
    }
}

// One running server.
class Child {
    constructor([command, ...words], log) {
        this.exchanges = new Map();
        this.waiting = []; // for a stream that it can go to
        this.stream = null;
        this.process = spawn(command, words, { stdio: ["pipe", "pipe", log ? "inherit" : "ignore"] });
        this.process.stdin.on("error", () => {});
        createInterface({ input: this.process.stdout, crlfDelay: Infinity }).on("line", (line) => this.came(line));
        this.gone = new Promise((resolve) => this.process.on("close", resolve));
        this.gone.then(() => {
            this.isGone = true;
            for (const { response } of this.exchanges.values()) response.destroy();
            this.stream?.end();
        });
    }
    send(bytes) {
        this.process.stdin.write(bytes);
        this.process.stdin.write("\n");
    }
    ask(bytes, exchange) {
        const { id } = exchange.request;
        this.exchanges.set(key(id), exchange);
        exchange.response.on("close", () => {
            if (this.exchanges.get(key(id)) !== exchange) return;
            this.exchanges.delete(key(id));
            // In the modern shape that is how a client cancels.
            const params = { requestId: id, _meta: exchange.request.params?._meta };
            if (exchange.modern) this.send(JSON.stringify({ jsonrpc: "2.0", method: "notifications/cancelled", params }));
        });
        this.send(bytes);
    }
    // The first message decides the era of a pipe, but here a header says it, whatever the body is.
    makeModern() {
        const _meta = { [VERSION]: MODERN, [CAPABILITIES]: {} };
        this.send(JSON.stringify({ jsonrpc: "2.0", id: "bridge", method: "tools/list", params: { _meta } }));
    }
    came(line) {
        const message = JSON.parse(line);
        if (!message.method) {
            const exchange = this.exchanges.get(key(message.id));
            this.exchanges.delete(key(message.id));
            exchange?.end(line, message);
            return;
        }
        const to = this.where(message);
        if (to) to.push(line);
        else this.waiting.push(line);
    }
    // A pipe does not tell which request a message belongs to, unless it says so itself; else to the newest one.
    where({ method, params }) {
        const open = [...this.exchanges.values()];
        const subscription = params?._meta?.[SUBSCRIPTION];
        if (subscription !== undefined) return this.exchanges.get(key(subscription));
        if (method === "notifications/progress") return open.find(({ token }) => token === params.progressToken);
        if (/list_changed$|updated$/.test(method) && this.stream) return this;
        return open.findLast(({ request }) => request.method !== "subscriptions/listen") ?? (this.stream ? this : null);
    }
    push(line) {
        this.stream.write(`event: message\ndata: ${line}\n\n`);
    }
    listen(response) {
        this.stream = response;
        response.on("close", () => this.stream === response && (this.stream = null));
        this.waiting.splice(0).forEach((line) => this.push(line));
    }
    close() {
        this.process.stdin.end();
        setTimeout(() => this.isGone || this.process.kill("SIGKILL"), 2000).unref();
        return this.gone;
    }
}

function refuse(response, status, code, message, id = null) {
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify({ jsonrpc: "2.0", error: { code, message }, id }));
}

// A page of anywhere must not reach it through a browser that runs here.
function isLocal({ headers: { host, origin } }) {
    const local = /^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/;
    return local.test(host ?? "") && (!origin || local.test(origin.replace(/^https?:\/\//, "")));
}

async function body(request) {
    const pieces = [];
    for await (const piece of request) pieces.push(piece);
    return Buffer.concat(pieces);
}

// bridge(ARGV): { url, close() }. On the loopback, at a port that is free.
export async function bridge(argv, { log = false } = {}) {
    const sessions = new Map();
    const shared = [];
    const all = new Set();

    function child() {
        const made = new Child(argv, log);
        all.add(made);
        made.gone.then(() => all.delete(made));
        return made;
    }

    function forModern(message) {
        const free = shared.find((one) => !one.isGone && !one.exchanges.has(key(message.id)));
        if (free) return free;
        const made = child();
        shared.push(made);
        made.makeModern();
        return made;
    }

    async function post(request, response) {
        const bytes = await body(request);
        if (bytes.includes(10)) return refuse(response, 400, -32700, "a line end would end the message");
        let message;
        try {
            message = JSON.parse(bytes);
        } catch {
            return refuse(response, 400, -32700, "not JSON");
        }
        const isRequest = "method" in message && "id" in message;
        const id = request.headers["mcp-session-id"];
        const session = sessions.get(id);
        const version = message.params?._meta?.[VERSION];
        const modern = !session && (version !== undefined || request.headers["mcp-protocol-version"] === MODERN);
        if (id && !session && !modern) return refuse(response, 404, -32001, "no such session");
        if (modern && version !== undefined && version !== request.headers["mcp-protocol-version"]) {
            return refuse(response, 400, -32020, "the header says another revision", message.id);
        }
        let to = session;
        const exchange = new Exchange(message, response, modern);
        if (modern) {
            to = forModern(message);
        } else if (!session) {
            if (message.method !== "initialize") return refuse(response, 400, -32000, "no session");
            const made = randomUUID();
            to = child();
            sessions.set(made, to);
            exchange.headers = { "mcp-session-id": made };
        }
        if (isRequest) return to.ask(bytes, exchange);
        to.send(bytes);
        response.writeHead(202).end();
    }

    function handle(request, response) {
        const session = sessions.get(request.headers["mcp-session-id"]);
        if (!isLocal(request)) return refuse(response, 403, -32000, "not from here");
        if (request.method === "POST") return post(request, response);
        if (!session) return response.writeHead(405, { allow: "POST" }).end();
        if (request.method === "DELETE") {
            sessions.delete(request.headers["mcp-session-id"]);
            session.close();
            return response.writeHead(200).end();
        }
        response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
        response.flushHeaders();
        session.listen(response);
    }

    const server = createServer(handle);
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    return {
        url: `http://127.0.0.1:${server.address().port}/mcp`,
        async close() {
            server.close();
            server.closeAllConnections();
            await Promise.all([...all].map((one) => one.close()));
        },
    };
}
