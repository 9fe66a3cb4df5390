import { connect } from "node:net";

// A client of `duplex finecode serve`.
export class Client {
    constructor(port) {
        this.socket = connect(port, "127.0.0.1");
        this.bytes = Buffer.alloc(0);
        this.waiting = new Map();
        this.parts = new Map();
        this.edits = [];
        this.last = 0;
        this.socket.on("error", () => {});
        this.socket.on("data", (data) => {
            this.bytes = Buffer.concat([this.bytes, data]);
            for (let at; (at = this.bytes.indexOf("\r\n\r\n")) >= 0; ) {
                const size = Number(/^Content-Length: (\d+)$/.exec(this.bytes.subarray(0, at).toString())[1]);
                if (this.bytes.length < at + 4 + size) return;
                this.take(JSON.parse(this.bytes.subarray(at + 4, at + 4 + size)));
                this.bytes = this.bytes.subarray(at + 4 + size);
            }
        });
    }
    take(message) {
        if (message.method === "workspace/applyEdit") {
            this.edits.push(message.params);
            this.send({ id: message.id, result: { applied: true } });
            return;
        }
        if (message.method === "actions/partialResult") this.parts.get(message.params.token)?.push(message.params.value.resultByFormat);
        if (!message.method) this.waiting.get(message.id)?.(message);
    }
    send(message) {
        const body = Buffer.from(JSON.stringify({ jsonrpc: "2.0", ...message }));
        this.socket.write(Buffer.concat([Buffer.from(`Content-Length: ${body.length}\r\n\r\n`), body]));
    }
    ask(method, params, started = () => {}) {
        const id = ++this.last;
        const answer = new Promise((resolve) => this.waiting.set(id, resolve));
        this.send({ id, method, params });
        started(id);
        return answer;
    }
}
